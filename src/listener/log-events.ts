/** The lines of the log about requests: their texts, levels and fields. */
import type { IncomingHttpHeaders } from 'node:http'
import type { LogFields } from '../core/logger.ts'
import type { Scope } from '../metadata/fields/scope.ts'
import { oneLine } from '../support/text/text.ts'
import { type CredentialFault, faultFields } from './admit/credential-fault.ts'
import { otherSender } from './other-sender.ts'

/** The lines of the log about requests, with their levels. `info`: any scanner or probe may cause it. */
export const logEvents = {
  /** Our event subscription seems to carry another credential. */
  foreign: {
    level: 'warn',
    message:
      'put off a delivery: it names our event subscription but carries no known credential; reading the event subscription again',
  },
  unauthorized: { level: 'warn', message: 'refused a delivery: its credential is missing or wrong' },
  otherSender: {
    level: 'warn',
    message:
      'refused events of another event subscription, which delivers here with no known credential: Event Grid does not send them again',
  },
  unavailable: { level: 'warn', message: 'put off a delivery: the keys to check its token with are not there' },
  /** Entra: our own write of the event subscription may not have reached Event Grid yet. */
  unaccepted: { level: 'warn', message: 'put off a delivery: its Entra token is not accepted' },
  otherSubscription: { level: 'warn', message: 'refused a validation request for another event subscription' },
  otherOrigin: {
    level: 'warn',
    message: 'did not consent to a handshake: its origin is not Event Grid of the configured cloud',
  },
  otherPath: {
    level: 'info',
    message: 'refused a request: its path is neither /api/events nor the path of subscriberEndpoint',
  },
  otherMethod: { level: 'info', message: 'refused a request: its method is neither POST nor OPTIONS' },
  unreadable: { level: 'warn', message: 'refused a request: its body cannot be read' },
  noHandler: { level: 'warn', message: 'put off a delivery: no application takes events at the moment' },
  replaced: {
    level: 'warn',
    message: 'put off a request: a hook of the host replaced its body by something that is neither bytes nor text',
  },
  noRoom: { level: 'warn', message: 'put off a request: too many bodies are arriving at once' },
  subscriptionDeleted: {
    level: 'warn',
    message: 'Event Grid says that the event subscription was deleted: no events come until it is created again',
  },
} as const satisfies Readonly<Record<string, { readonly level: 'warn' | 'info'; readonly message: string }>>

/** What the operator should learn from the log about a request. */
export type LogEvent = keyof typeof logEvents

interface Refused {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly scope: Scope
  readonly fault?: CredentialFault | undefined
}

/** The lines that tell why a credential is not accepted. */
const tellsFault: ReadonlySet<LogEvent> = new Set(['unauthorized', 'unavailable', 'unaccepted'])

/** The fields of a line, and what it is about where each subject has a line of its own. */
export function fieldsOf(
  logEvent: LogEvent,
  { status, headers, scope, fault }: Refused,
): { readonly fields: LogFields; readonly about?: string | undefined } {
  if (fault && tellsFault.has(logEvent)) return { fields: { status, ...faultFields(fault) }, about: fault.problem }
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
  return { fields, about: other?.eventSubscription }
}
