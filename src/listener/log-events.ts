/** The lines of the log about requests: their texts, levels and fields. */
import type { IncomingHttpHeaders } from 'node:http'
import type { QuietLog } from '../core/logger.ts'
import type { Scope } from '../metadata/fields/scope.ts'
import { oneLine, shellWord } from '../support/text/text.ts'
import { type CredentialFault, faultFields } from './credential-fault.ts'

/** The lines, in the order of the table in docs/observability.md. */
export const logEvents = {
  /** Our event subscription seems to carry another credential. */
  foreign:
    'put off a delivery: it names our event subscription but carries no known credential; reading the event subscription again',
  unauthorized: 'refused a delivery: its credential is missing or wrong',
  otherSender:
    'refused events of another event subscription, which delivers here with no known credential: Event Grid does not send them again',
  unavailable: 'put off a delivery: the keys to check its token with are not there',
  /** Entra: our own write of the event subscription may not have reached Event Grid yet. */
  unaccepted: 'put off a delivery: its Entra token is not accepted',
  otherSubscription: 'refused a validation request for another event subscription',
  otherOrigin: 'did not consent to a handshake: its origin is not Event Grid of the configured cloud',
  otherPath: 'refused a request: its path is neither /api/events nor the path of subscriberEndpoint',
  otherMethod: 'refused a request: its method is neither POST nor OPTIONS',
  formerUnknown: 'put off a delivery of a former event subscription: it carries no known credential',
  unreadable: 'refused a request: its body cannot be read',
  noHandler: 'put off a delivery: no application takes events at the moment',
  replaced: 'put off a request: a hook of the host replaced its body by something that is neither bytes nor text',
  noRoom: 'put off a request: too many bytes of events are under way',
  subscriptionDeleted:
    'Event Grid says that the event subscription was deleted: no events come until it is created again',
} as const

/** What the operator should learn from the log about a request. */
export type LogEvent = keyof typeof logEvents

/** The lines that any scanner or probe may cause. */
const infos: ReadonlySet<LogEvent> = new Set(['otherPath', 'otherMethod'])

interface Refused {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly scope: Scope
  readonly fault?: CredentialFault | undefined
}

/** The lines that tell why a credential is not accepted. */
const tellsFault: ReadonlySet<LogEvent> = new Set(['unauthorized', 'unavailable', 'unaccepted'])

/** Writes a line at its level. A fault and another event subscription have a line each. */
export function writeLine(log: QuietLog, logEvent: LogEvent, { status, headers, scope, fault }: Refused): void {
  const write = infos.has(logEvent) ? log.info : log.warn
  const message = logEvents[logEvent]
  if (fault && tellsFault.has(logEvent)) {
    write(message, { status, ...faultFields(fault) }, fault.problem)
    return
  }
  const other = logEvent === 'otherSender' ? otherSender(String(headers['aeg-subscription-name']), scope) : undefined
  const { 'webhook-request-origin': origin, 'content-type': contentType, 'content-encoding': contentEncoding } = headers
  const fields = {
    status,
    ...(logEvent === 'otherOrigin' && typeof origin === 'string' && { origin: oneLine(origin, 120) }),
    ...(status === 415 && {
      contentType: oneLine(contentType ?? '', 120),
      contentEncoding: oneLine(contentEncoding ?? '', 120),
    }),
    ...other,
  }
  write(message, fields, other?.eventSubscription)
}

/**
 * Fields of the line `otherSender`: the event subscription, and the remedy if its name is valid. A renamed component leaves its former
 * event subscription behind, at the same scope. A stranger may have written the name, so a line to paste holds letters, digits and
 * hyphens only.
 */
function otherSender(name: string, scope: Scope) {
  // Event Grid sends names in upper case, and case has no meaning.
  const eventSubscription = oneLine(name.toLowerCase(), 64)
  if (!/^[a-z0-9-]{3,64}$/.test(eventSubscription)) return { eventSubscription }
  const keep = eventSubscription.includes('-')
    ? ''
    : `; to go on with it in place of the present one, set eventSubscriptionName to ${eventSubscription}`
  const deletion = deletionLine(eventSubscription, scope)
  return { eventSubscription, remedy: `if the component was renamed, delete what it left behind: ${deletion}${keep}` }
}

/** The line to paste that deletes an event subscription, whose name must be valid. */
export const deletionLine = (eventSubscription: string, scope: Scope): string =>
  `az eventgrid event-subscription delete --name ${eventSubscription} --source-resource-id ${shellWord(scope.id)}`
