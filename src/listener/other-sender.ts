import { printable } from '../core/quiet-log.ts'
import type { Scope } from '../metadata/scope.ts'
import { shellWord } from '../support/text.ts'

/** What a line of the log says of an event subscription that is not ours and delivers here. */
interface OtherSender {
  /** As far as it is printable; in lower case, since Event Grid sends names in upper case and they mean the same in any. */
  readonly eventSubscription: string
  /** Absent where the name could not be one. */
  readonly remedy?: string
}

/**
 * Whom a refused delivery comes from, and what to do. A component that was renamed leaves its former event subscription behind, under its
 * former name and at the same scope. The name is a stranger's text: a line to paste is made of letters, digits and hyphens only.
 */
export function otherSender(name: string, scope: Scope): OtherSender {
  const eventSubscription = printable(name.toLowerCase(), 64)
  if (!/^[a-z0-9-]{3,64}$/.test(eventSubscription)) return { eventSubscription }
  const keep = eventSubscription.includes('-')
    ? ''
    : `; to go on with it in place of the present one, set eventSubscriptionName to ${eventSubscription}`
  return {
    eventSubscription,
    remedy: `if the component was renamed, delete what it left behind: az eventgrid event-subscription delete --name ${eventSubscription} --source-resource-id ${shellWord(scope.id)}${keep}`,
  }
}
