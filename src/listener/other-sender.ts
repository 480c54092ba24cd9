/** What the log says of a delivery of another event subscription, and how to delete one that a renaming left behind. */
import type { Scope } from '../metadata/fields/scope.ts'
import { oneLine, shellWord } from '../support/text/text.ts'

/**
 * Fields of the line `otherSender`: the event subscription, and the remedy if its name is valid. A renamed component leaves its former
 * event subscription behind, at the same scope. A stranger may have written the name, so a line to paste holds letters, digits and
 * hyphens only.
 */
export function otherSender(name: string, scope: Scope) {
  // Event Grid sends names in upper case, and case has no meaning.
  const eventSubscription = oneLine(name.toLowerCase(), 64)
  if (!/^[a-z0-9-]{3,64}$/.test(eventSubscription)) return { eventSubscription }
  const keep = eventSubscription.includes('-')
    ? ''
    : `; to go on with it in place of the present one, set eventSubscriptionName to ${eventSubscription}`
  const deletion = `az eventgrid event-subscription delete --name ${eventSubscription} --source-resource-id ${shellWord(scope.id)}`
  return { eventSubscription, remedy: `if the component was renamed, delete what it left behind: ${deletion}${keep}` }
}
