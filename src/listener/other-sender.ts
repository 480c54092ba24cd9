import type { Scope } from '../metadata/scope.ts'
import { oneLine, shellWord } from '../support/text.ts'

/** Fields of the log line about an event subscription that is not ours and delivers here. */
interface OtherSender {
  /** Printable ASCII in lower case: Event Grid sends names in upper case, and case has no meaning. */
  readonly eventSubscription: string
  /** Absent where the name is not a valid one. */
  readonly remedy?: string
}

/**
 * The sender of a refused delivery, and the remedy. A renamed component leaves its former event subscription behind, at the same scope. A
 * stranger may have written the name, so a line to paste holds letters, digits and hyphens only.
 */
export function otherSender(name: string, scope: Scope): OtherSender {
  const eventSubscription = oneLine(name.toLowerCase(), 64)
  if (!/^[a-z0-9-]{3,64}$/.test(eventSubscription)) return { eventSubscription }
  const keep = eventSubscription.includes('-')
    ? ''
    : `; to go on with it in place of the present one, set eventSubscriptionName to ${eventSubscription}`
  const deletion = `az eventgrid event-subscription delete --name ${eventSubscription} --source-resource-id ${shellWord(scope.id)}`
  return { eventSubscription, remedy: `if the component was renamed, delete what it left behind: ${deletion}${keep}` }
}
