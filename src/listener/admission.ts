/** Whether a request is let in: decided by its method, its headers and its credential, before a byte of its body is read. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import {
  type DeliveryCredential,
  deliveryTokenHeader,
  deriveDeliveryCredentials,
  keyIdOf,
  splitDeliveryCredentials,
} from '../core/delivery-credential.ts'
import type { Endpoints } from '../core/endpoints.ts'
import type { CurrentHandler } from '../dispatch/handler.ts'
import type { PushMetadata } from '../metadata/typed/metadata.ts'
import { isSameText } from '../support/text/text.ts'
import type { SteadyClock } from '../support/time/clock.ts'
import { allowedMethods, answerOptions, maxValidationBytes, type OptionsContext } from './handshake.ts'
import type { CredentialFault, Evidence, LogEvent } from './log-events.ts'
import { type Answer, declaredLength, problemAnswer, refuseRepresentation, soleValue } from './request.ts'

/** A final answer, and the facts for the operator. */
export interface GateRefusal {
  readonly answer: Answer
  readonly logEvent?: LogEvent | undefined
  /** The request has not proven that it comes from our event subscription. */
  readonly unproven?: boolean
  /** Why the credential of the request is not accepted, where the answer is given for this reason. */
  readonly fault?: CredentialFault
  /** Unproven, yet no stranger's: a wrong token with one of our key ids, or a token that cannot be judged. */
  readonly mayBeOurs?: boolean
}

/** The decision by the head of a request: a final answer, or as what the body is read. */
export type GateDecision = ({ readonly kind: 'answer' } & GateRefusal) | { readonly kind: 'validation' | 'delivery' }

/** The state of the listener by which requests are decided, before their bodies are read. */
export interface Gate extends OptionsContext {
  /** In lower case. */
  readonly eventSubscriptionName: string
  readonly maxRequestBytes: number
  /** Does this process write the event subscription? */
  readonly manages: boolean
  readonly checkCredential: CheckCredential
  /** Does a delivery name a former event subscription whose deliveries are taken as well? */
  readonly namesFormer: (headers: IncomingHttpHeaders) => boolean
  readonly handler: CurrentHandler
  /** When our own write of the event subscription succeeded, by `elapsed` of the clock. Undefined: no write has succeeded yet. */
  readonly subscriptionWrittenAt: () => number | undefined
  readonly clock: Pick<SteadyClock, 'elapsed'>
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
  if (gate.isDraining) return answer(problemAnswer(503, 'The listener is shutting down.', { connection: 'close' }))
  const evidence = gate.checkCredential(headers)
  return evidence instanceof Promise
    ? evidence.then((settled) => decideDelivery(gate, headers, settled))
    : decideDelivery(gate, headers, evidence)
}

function decideDelivery(gate: Gate, headers: IncomingHttpHeaders, evidence: Evidence): GateDecision {
  if (evidence.kind !== 'proven') return refuseUnproven(gate, headers, evidence)
  // Not an event of the source but a notice about the event subscription: acknowledged, and not handed to the application.
  if (hasValue(headers['aeg-event-type'], 'subscriptiondeletion')) {
    // Former credentials are proven too, and a former event subscription may go.
    const namesOther = headers['aeg-subscription-name'] !== undefined && !namesOurs(headers, gate.eventSubscriptionName)
    return answerProven(
      { status: 200, headers: {} },
      namesOther || evidence.isFormer ? undefined : 'subscriptionDeleted',
    )
  }
  const refusal = refuseBody(headers, gate.maxRequestBytes)
  if (refusal) return answerProven(refusal, 'unreadable')
  if (gate.handler.current === undefined)
    return answerProven(problemAnswer(503, 'No application takes events at the moment.'), 'noHandler')
  return { kind: 'delivery' }
}

/** How long Event Grid may use the old settings after a write of the event subscription. */
export const settlingMs = 10 * 60_000

/**
 * The answer to a delivery without proof. 401 makes Event Grid drop the event, so 401 is given only where the event is certainly not ours.
 * 503 makes Event Grid send the event again.
 */
function refuseUnproven(
  gate: Gate,
  headers: IncomingHttpHeaders,
  evidence: Exclude<Evidence, { kind: 'proven' }>,
): GateDecision {
  const namesUs = namesOurs(headers, gate.eventSubscriptionName)
  const namesOther = !namesUs && headers['aeg-subscription-name'] !== undefined
  const decided = (answered: Answer, logEvent: LogEvent) => ({
    ...answer(answered, logEvent),
    fault: 'fault' in evidence ? evidence.fault : { reason: reasons[evidence.kind] },
    mayBeOurs: evidence.kind === 'mismatch' || evidence.kind === 'unavailable',
  })
  // RFC 9110 demands a challenge with every 401.
  const refused = (detail: string) =>
    decided(problemAnswer(401, detail, { 'www-authenticate': 'Bearer' }), namesOther ? 'otherSender' : 'unauthorized')
  const putOff = (detail: string, logEvent: LogEvent) => decided(problemAnswer(503, detail), logEvent)
  switch (evidence.kind) {
    case 'mismatch':
      return refused('The delivery token is wrong.')
    case 'absent':
      if (namesUs) return gate.manages ? putOff(beingChecked, 'foreign') : putOff(unknownCredential, 'foreignUnmanaged')
      if (gate.namesFormer(headers)) return putOff(unknownCredential, 'formerUnknown')
      return refused('A credential is required.')
    case 'failing': {
      const writtenAt = gate.subscriptionWrittenAt()
      const isSettling = writtenAt === undefined || gate.clock.elapsed() - writtenAt < settlingMs
      return isSettling ? putOff(mayBeChanging, 'unaccepted') : refused('The token is not accepted.')
    }
    case 'unavailable':
      return putOff('The keys to check the token with are not available.', 'unavailable')
  }
}

const reasons = { absent: 'it has no credential that is known here', mismatch: 'its delivery token is wrong' } as const
const beingChecked = 'The delivery carries no credential that is known here; the event subscription is being checked.'
const unknownCredential = 'The delivery carries no credential that is known here.'
const mayBeChanging = 'The token is not accepted; the event subscription may still be changing.'

function decideValidation(gate: Gate, headers: IncomingHttpHeaders): GateDecision {
  if (!namesOurs(headers, gate.eventSubscriptionName))
    return answer(problemAnswer(403, 'The event subscription is not the one served here.'), 'otherSubscription')
  const refusal = refuseBody(headers, maxValidationBytes)
  return refusal ? answer(refusal, 'unreadable') : { kind: 'validation' }
}

/** Does a request name our event subscription, whose name is given in lower case? */
export function namesOurs(headers: IncomingHttpHeaders, eventSubscriptionName: string): boolean {
  return hasValue(headers['aeg-subscription-name'], eventSubscriptionName)
}

/** Is a request a delivery, and not a part of a handshake? */
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

function answerProven(answered: Answer, logEvent?: LogEvent): GateDecision {
  return { kind: 'answer', answer: answered, logEvent }
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

/** Checks the credential of a delivery; without a promise where nothing has to be fetched. */
export type CheckCredential = (headers: IncomingHttpHeaders) => Evidence | Promise<Evidence>

export interface CheckCredentialOptions {
  readonly input: PushMetadata
  /** `authorityHost` is where Entra's signing keys are fetched, `ca` what is trusted for that. */
  readonly endpoints: Endpoints
  /** Longest wait for Entra's signing keys, in milliseconds. @default 5_000 */
  readonly keySetTimeoutMs?: number
  /** Ends a fetch of keys. */
  readonly closing: AbortSignal
  readonly clock: SteadyClock
}

export async function createCredentialCheck(options: CheckCredentialOptions): Promise<CheckCredential> {
  const { deliveryAuthentication: delivery } = options.input
  switch (delivery.kind) {
    case 'none':
      return () => proven
    case 'secret':
      return createSharedTokenCheck(deriveDeliveryCredentials(options.input))
    case 'entra':
      return createTokenCheck(delivery, options)
  }
}

const headerName = deliveryTokenHeader.toLowerCase()
const proven: Evidence = { kind: 'proven' }
const absent: Evidence = { kind: 'absent' }
const mismatch: Evidence = { kind: 'mismatch' }

/**
 * Reads the header `X-EventGrid-Binding-Token` into evidence. Node joins a repeated header with a comma, which makes it a list like any
 * other. A delivery is proven if any of its credentials is one of ours. Compares in constant time.
 */
function createSharedTokenCheck(accepted: readonly DeliveryCredential[]): CheckCredential {
  const keyIds = new Set(accepted.map(({ keyId }) => keyId))
  const values = accepted.map(({ value }) => value.reveal())
  const isOurs = (text: string) => values.some((value) => isSameText(text, value))
  return ({ [headerName]: presented }) => {
    if (typeof presented !== 'string') return absent
    // The header usually has one credential.
    if (isOurs(presented)) return proven
    const credentials = splitDeliveryCredentials(presented)
    if (credentials.some(isOurs)) return proven
    return credentials.some((credential) => keyIds.has(keyIdOf(credential))) ? mismatch : absent
  }
}

/** Checks Entra's tokens with the signing keys of the tenant. */
async function createTokenCheck(
  delivery: PushMetadata['deliveryAuthentication'] & { readonly kind: 'entra' },
  { input, endpoints, keySetTimeoutMs: timeoutMs, closing, clock }: CheckCredentialOptions,
): Promise<CheckCredential> {
  // Loads jose only where tokens are checked.
  const { createEntraCheck, createKeySet } = await import('./entra.ts')
  const { environment, subscriberEndpoint } = input
  const authorityHost = (endpoints.authorityHost ?? environment.authorityHost).replace(/\/$/, '')
  const url = `${authorityHost}/${encodeURIComponent(delivery.tenantId)}/discovery/v2.0/keys`
  const check = createEntraCheck({
    expected: {
      ...delivery,
      subscriberEndpoint,
      issuerHostV1: environment.tokenIssuerHostV1,
      authorityHosts: [authorityHost, environment.authorityHost],
    },
    keys: createKeySet({ url, ca: endpoints.ca, timeoutMs, closing, clock }),
    clock,
  })
  return (headers) => check(headers.authorization)
}
