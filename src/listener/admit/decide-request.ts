/** The first decision on a request, by its method and headers: it is answered, or its body is read. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Answer, problemAnswer } from '../http/answer.ts'
import { declaredLength, refuseRepresentation } from '../http/representation.ts'
import type { LogEvent } from '../log-events.ts'
import type { CheckCredential } from './check-credential.ts'
import type { CredentialFault } from './credential-fault.ts'
import { allowedMethods, answerOptions, maxValidationBytes, type OptionsContext } from './handshake.ts'
import { type CredentialRefusal, type Evidence, refuseCredential } from './refuse-credential.ts'
import { soleValue } from './sole-value.ts'

/** A final answer, and what the operator should learn of it. */
export interface GateRefusal {
  readonly answer: Answer
  readonly logEvent?: LogEvent | undefined
  /** The request has not proven that it comes from our event subscription. */
  readonly unproven?: boolean
  /** It carries one of our key ids, with a wrong token. */
  readonly hasOurKeyId?: boolean
  /** Why its credential is not accepted, where that is the reason for the answer. */
  readonly fault?: CredentialFault
}

/** What the head decides: a final answer, or that the body is read, as what. */
export type GateDecision =
  | ({ readonly kind: 'answer' } & GateRefusal)
  | { readonly kind: 'read'; readonly as: 'validation' | 'delivery' }

/** What requests are decided by, before their bodies are read. */
export interface Gate extends OptionsContext {
  /** In lower case. */
  readonly eventSubscriptionName: string
  readonly maxRequestBytes: number
  readonly checkCredential: CheckCredential
  readonly handler: () => unknown
  /** When our own write of the event subscription succeeded (epoch milliseconds). Undefined: it has not yet. */
  readonly subscriptionWrittenAt: () => number | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Returns a promise only for an Entra token that was not seen before. */
export function decideByHead(
  gate: Gate,
  method: string,
  headers: IncomingHttpHeaders,
): GateDecision | Promise<GateDecision> {
  if (method === 'OPTIONS') {
    const { answer: answered, isRefused } = answerOptions(headers, gate)
    return answer(answered, isRefused ? 'otherOrigin' : undefined)
  }
  if (method !== 'POST')
    return answer(problemAnswer(405, 'Only POST and OPTIONS are allowed.', { allow: allowedMethods }), 'otherMethod')
  if (isValidation(headers)) return decideValidation(gate, headers)
  // The connection is closed too, so that the next try may reach another replica.
  if (gate.isDraining()) return answer(problemAnswer(503, 'The listener is shutting down.', { connection: 'close' }))
  const evidence = gate.checkCredential(headers)
  return evidence instanceof Promise
    ? evidence.then((settled) => decideDelivery(gate, headers, settled))
    : decideDelivery(gate, headers, evidence)
}

const readDelivery: GateDecision = { kind: 'read', as: 'delivery' }
const readValidation: GateDecision = { kind: 'read', as: 'validation' }

function decideDelivery(gate: Gate, headers: IncomingHttpHeaders, evidence: Evidence): GateDecision {
  if (evidence.kind !== 'proven') {
    const namesUs = namesOurs(gate, headers)
    const writtenAt = gate.subscriptionWrittenAt()
    const refusal = refuseCredential(evidence, { namesUs, writtenAt, now: gate.now() })
    const namesNoOther = namesUs || headers['aeg-subscription-name'] === undefined
    // RFC 9110 demands a challenge with every 401.
    const challenge = refusal.status === 401 ? { 'www-authenticate': 'Bearer' } : {}
    const problem = problemAnswer(refusal.status, refusal.detail, challenge)
    return {
      ...answer(problem, logEventOf(refusal, evidence, namesNoOther)),
      hasOurKeyId: evidence.kind === 'mismatch',
      fault: 'fault' in evidence ? evidence.fault : { problem: evidence.kind },
    }
  }
  // Not an event of the source but a notice about the event subscription: acknowledged, and not handed to the application.
  if (hasValue(headers['aeg-event-type'], 'subscriptiondeletion'))
    return answerProven({ status: 200, headers: {} }, 'subscriptionDeleted')
  const refusal = refuseBody(headers, gate.maxRequestBytes)
  if (refusal) return answerProven(refusal, 'unreadable')
  if (gate.handler() === undefined)
    return answerProven(problemAnswer(503, 'No application takes events at the moment.'), 'noHandler')
  return readDelivery
}

function decideValidation(gate: Gate, headers: IncomingHttpHeaders): GateDecision {
  if (!namesOurs(gate, headers))
    return answer(problemAnswer(403, 'The event subscription is not the one served here.'), 'otherSubscription')
  const refusal = refuseBody(headers, maxValidationBytes)
  return refusal ? answer(refusal, 'unreadable') : readValidation
}

/** Does a request name our event subscription, whose name is given in lower case? */
export function namesOurs(
  { eventSubscriptionName }: Pick<Gate, 'eventSubscriptionName'>,
  headers: IncomingHttpHeaders,
): boolean {
  return hasValue(headers['aeg-subscription-name'], eventSubscriptionName)
}

/** Is it a delivery, and not a handshake? */
export function isDelivery({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'POST' && !isValidation(headers)
}

/** Is a POST part of a handshake? All others are deliveries. */
function isValidation(headers: IncomingHttpHeaders): boolean {
  return hasValue(headers['aeg-event-type'], 'subscriptionvalidation')
}

function answer(answered: Answer, logEvent?: LogEvent) {
  return { kind: 'answer', answer: answered, logEvent, unproven: true } as const
}

function answerProven(answered: Answer, logEvent: LogEvent): GateDecision {
  return { kind: 'answer', answer: answered, logEvent }
}

function logEventOf({ status, foreign }: CredentialRefusal, evidence: Evidence, namesNoOther: boolean): LogEvent {
  if (foreign) return 'foreign'
  if (evidence.kind === 'unavailable') return 'unavailable'
  if (status === 503) return 'unaccepted'
  return namesNoOther ? 'unauthorized' : 'otherSender'
}

/** Does a header have this value, and no other? Compares without case; `text` is in lower case. */
function hasValue(value: string | readonly string[] | undefined, text: string): boolean {
  return soleValue(value)?.toLowerCase() === text
}

function refuseBody(headers: IncomingHttpHeaders, limit: number): Answer | undefined {
  const reason = refuseRepresentation(headers)
  if (reason !== undefined) return problemAnswer(415, reason)
  return (declaredLength(headers) ?? 0) > limit ? tooLarge(limit) : undefined
}

/** The answer to a body over `limit` bytes. */
export function tooLarge(limit: number): Answer {
  return problemAnswer(413, `The body is larger than ${limit} bytes.`)
}
