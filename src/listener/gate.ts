import type { IncomingHttpHeaders } from 'node:http'
import type { Concern } from './concerns.ts'
import { type CredentialRefusal, type Evidence, refuseCredential } from './credential.ts'
import { allowedMethods, answerOptions, isRefusedHandshake, maxValidationBytes } from './handshake.ts'
import type { PathCheck } from './paths.ts'
import { type Answer, answerWith, problemAnswer } from './problem.ts'
import { declaredLength, refuseRepresentation } from './representation.ts'

/** A request as far as its head tells. */
interface RequestHead {
  readonly method: string
  /** 1 for HTTP/1.0 and HTTP/1.1. */
  readonly version: number
  /** The request target, query included. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
}

/** What the head alone decides: a final answer, or that the body is to be read, as what and up to how many bytes. */
export type GateDecision =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly concern?: Concern }
  | { readonly kind: 'read'; readonly as: 'validation' | 'delivery'; readonly limit: number }

export interface GateOptions {
  readonly isOurPath: PathCheck
  /** Event Grid's origin in the configured cloud. */
  readonly allowedOrigin: string
  readonly eventSubscriptionName: string
  readonly maxRequestBytes: number
  readonly examine: (headers: IncomingHttpHeaders) => Evidence | Promise<Evidence>
  readonly draining: () => boolean
  readonly hasHandler: () => boolean
  readonly health: () => unknown
  readonly subscriptionWrittenAt: () => number | undefined
  readonly now: () => number
}

/** Judges a request by its head, so that a stranger's body is never read. Only an Entra token that is new takes a promise. */
export type Gate = (head: RequestHead) => GateDecision | Promise<GateDecision>

export function createGate(options: GateOptions): Gate {
  const {
    isOurPath,
    allowedOrigin,
    maxRequestBytes,
    examine,
    draining,
    hasHandler,
    health,
    subscriptionWrittenAt,
    now,
  } = options
  const ourName = options.eventSubscriptionName.toLowerCase()
  const readDelivery: GateDecision = { kind: 'read', as: 'delivery', limit: maxRequestBytes }

  function decideDelivery(headers: IncomingHttpHeaders, evidence: Evidence, namesUs: boolean): GateDecision {
    if (evidence.kind !== 'proven') {
      const refusal = refuseCredential(evidence, { namesUs, writtenAt: subscriptionWrittenAt(), now: now() })
      return answer(
        problemAnswer(refusal.status, refusal.detail, challenge(refusal.status)),
        concernOf(refusal, evidence, namesUs || headers['aeg-subscription-name'] === undefined),
      )
    }
    // It is about the subscription and no event of its source, so it is acknowledged and not handed on.
    if (sameText(headers['aeg-event-type'], 'subscriptiondeletion'))
      return answer(answerWith(200, {}), 'subscriptionDeleted')
    const refusal = refuseBody(headers, maxRequestBytes)
    if (refusal) return answer(refusal, 'unreadable')
    if (!hasHandler()) return answer(problemAnswer(503, 'No application is there to handle events yet.'), 'noHandler')
    return readDelivery
  }

  function decideValidation(headers: IncomingHttpHeaders, namesUs: boolean): GateDecision {
    if (!namesUs)
      return answer(problemAnswer(403, 'The event subscription is not the one served here.'), 'otherSubscription')
    const refusal = refuseBody(headers, maxValidationBytes)
    return refusal ? answer(refusal, 'unreadable') : { kind: 'read', as: 'validation', limit: maxValidationBytes }
  }

  return ({ method, version, target, headers }) => {
    // Node's parser takes a line without a version for HTTP/0.9, which has no headers; a proxy in front may think otherwise.
    if (version !== 1) return answer(problemAnswer(505, 'Only HTTP/1.1 is spoken here.'), 'otherVersion')
    if (!isOurPath(target)) return answer(problemAnswer(404, nothingAt(target)), 'otherPath')
    if (method === 'OPTIONS') {
      const answered = answerOptions(headers, { allowedOrigin, draining: draining(), health })
      return answer(answered, isRefusedHandshake(headers, answered) ? 'otherOrigin' : undefined)
    }
    if (method !== 'POST')
      return answer(
        problemAnswer(405, 'Only POST and OPTIONS are known here.', { allow: allowedMethods }),
        'otherMethod',
      )
    const namesUs = sameText(headers['aeg-subscription-name'], ourName)
    if (isValidation(headers)) return decideValidation(headers, namesUs)
    // The connection goes too, so that the next try may reach another replica.
    if (draining()) return answer(problemAnswer(503, 'The listener is shutting down.', { connection: 'close' }))
    const evidence = examine(headers)
    return evidence instanceof Promise
      ? evidence.then((settled) => decideDelivery(headers, settled, namesUs))
      : decideDelivery(headers, evidence, namesUs)
  }
}

/** Names the path that arrived, for an ingress may have rewritten it. Its query may be secret. */
const nothingAt = (target: string) =>
  `There is nothing at ${JSON.stringify(target.replace(/\?.*$/s, '').slice(0, 256))}.`

/** Does a POST belong to a handshake? All others are deliveries, or would be. */
export function isValidation(headers: IncomingHttpHeaders): boolean {
  return sameText(headers['aeg-event-type'], 'subscriptionvalidation')
}

function answer(answered: Answer, concern?: Concern): GateDecision {
  return concern === undefined ? { kind: 'answer', answer: answered } : { kind: 'answer', answer: answered, concern }
}

function concernOf({ status, foreign }: CredentialRefusal, evidence: Evidence, namesNoOther: boolean): Concern {
  if (foreign) return 'foreign'
  if (evidence.kind === 'unavailable') return 'unavailable'
  return status === 401 && !namesNoOther ? 'otherSender' : 'unauthorized'
}

/** RFC 9110 asks for a challenge with every 401. */
function challenge(status: number): Readonly<Record<string, string>> {
  return status === 401 ? { 'www-authenticate': 'Bearer' } : {}
}

/** Is a header's value this text, which is in lower case, in any case? */
function sameText(value: string | readonly string[] | undefined, text: string): boolean {
  return typeof value === 'string' && value.length === text.length && value.toLowerCase() === text
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
