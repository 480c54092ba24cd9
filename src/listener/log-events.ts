/** What a credential proves, and the lines of the log about requests: their texts, levels and fields. */
import type { IncomingHttpHeaders } from 'node:http'
import type { QuietLog } from '../core/logger.ts'
import { oneLine } from '../support/text/text.ts'

/** Why the credential of a delivery is not accepted, as fields of a line of the log. Holds no secret: the texts are cleaned and short. */
export interface CredentialFault {
  readonly [name: string]: string
  readonly reason: string
}

/** What the credential of a delivery proves. */
export type Evidence =
  /** The delivery comes from our event subscription, or from a former one, of another name or scope. */
  | { readonly kind: 'proven'; readonly isFormer?: true }
  /** No credential, or unknown key ids only: the delivery may still be ours, from before or after a change of secret. */
  | { readonly kind: 'absent' }
  /** One of our key ids with a wrong token. */
  | { readonly kind: 'mismatch' }
  /** An Entra token that is not accepted. */
  | { readonly kind: 'failing'; readonly fault: CredentialFault }
  /** An Entra token that cannot be judged, because its key is not there: the keys cannot be fetched, or were fetched a moment ago. */
  | { readonly kind: 'unavailable'; readonly fault: CredentialFault }

/** The lines, in the order of the table in docs/observability.md. */
export const logEvents = {
  /** Our event subscription seems to carry another credential. */
  foreign:
    'put off a delivery: it names our event subscription but carries no known credential; reading the event subscription again',
  /** The same where nobody here writes the event subscription. */
  foreignUnmanaged: 'put off a delivery: it names our event subscription but carries no known credential',
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
  noRoom: 'put off a request: too many bytes of events are under way',
  subscriptionDeleted:
    'Event Grid says that the event subscription was deleted: no events come until it is created again',
} as const

/** What the operator should learn from the log about a request. */
export type LogEvent = keyof typeof logEvents

/** The lines that any scanner or probe may cause. */
const infos: ReadonlySet<LogEvent> = new Set(['otherPath', 'otherMethod'])

/** What to do where deliveries carry another credential than this process knows, and it does not write the event subscription. */
export const otherCredential =
  'run eventgrid-binding provision with the metadata and secrets of this process, or write its credential where the event ' +
  'subscription is made; until then a deliveryToken of the form new,old takes deliveries of both'

interface Refused {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly fault?: CredentialFault | undefined
}

/** Writes a line at its level. Each reason and each other event subscription has a line of its own. */
export function writeLine(log: QuietLog, logEvent: LogEvent, { status, headers, fault }: Refused): void {
  const write = infos.has(logEvent) ? log.info : log.warn
  const { 'webhook-request-origin': origin, 'content-type': contentType, 'content-encoding': contentEncoding } = headers
  // Event Grid sends names in upper case, and case has no meaning.
  const eventSubscription = oneLine(String(headers['aeg-subscription-name']).toLowerCase(), 64)
  const isOther = logEvent === 'otherSender'
  const fields = {
    status,
    ...fault,
    ...(isOther && { eventSubscription }),
    ...(logEvent === 'foreignUnmanaged' && { remedy: otherCredential }),
    ...(logEvent === 'otherOrigin' && { origin: oneLine(String(origin), 120) }),
    ...(status === 415 && {
      contentType: oneLine(contentType ?? '', 120),
      contentEncoding: oneLine(contentEncoding ?? '', 120),
    }),
  }
  write(logEvents[logEvent], fields, isOther ? eventSubscription : fault?.reason)
}
