/** The answers to OPTIONS, which are the handshake or the health, and to a validation request. */
import type { IncomingHttpHeaders } from 'node:http'
import { notReadyHeader } from '../provision/handshake.ts'
import { isRecord, readJson } from '../support/text/json-text.ts'
import { type Answer, jsonAnswer, problemAnswer, soleValue } from './request.ts'

/** The methods that the listener's paths accept. */
export const allowedMethods = 'POST, OPTIONS'

/** Longest body of a validation request. The sender has proven nothing, and Event Grid's body has about a kilobyte. */
export const maxValidationBytes = 16_384

/** What the answer to OPTIONS depends on. */
export interface OptionsContext {
  /** The one `WebHook-Request-Origin` that may deliver here: Event Grid's in the configured cloud. */
  readonly allowedOrigin: string
  /** New deliveries are answered 503. */
  isDraining: boolean
  /**
   * Whether this replica is ready for deliveries. The consent of a replica that is not ready has a header that says so, for other replicas
   * that ask who serves.
   */
  readonly isReady: () => boolean
  /** The body of the answer to OPTIONS without origin. Anybody may read this body: it must hold nothing secret. */
  readonly health: () => unknown
}

/**
 * OPTIONS with an origin is the handshake of CloudEvents' web hooks (section 4). Headers give the consent, so another origin is answered
 * 200 without them: `isRefused`. OPTIONS without an origin asks for the listener's health.
 */
export function answerOptions(headers: IncomingHttpHeaders, context: OptionsContext) {
  const { allowedOrigin, isDraining, isReady, health } = context
  const requested = headers['webhook-request-origin']
  if (typeof requested !== 'string' || requested.trim() === '')
    return { answer: answerHealth(isDraining, health), isRefused: false }
  const origin = soleValue(requested)
  if (origin === undefined || origin.toLowerCase() !== allowedOrigin.toLowerCase())
    return { answer: { status: 200, headers: { allow: allowedMethods } }, isRefused: true }
  const consent = {
    'webhook-allowed-origin': origin,
    'webhook-allowed-rate': '*',
    ...readiness(isReady()),
  }
  return { answer: { status: 200, headers: { allow: allowedMethods, ...consent } }, isRefused: false }
}

const readiness = (isReady: boolean) => (isReady ? {} : { [notReadyHeader]: 'true' })

function answerHealth(draining: boolean, health: () => unknown): Answer {
  if (draining) return problemAnswer(503, 'The listener is shutting down.', { allow: allowedMethods })
  return jsonAnswer(200, { allow: allowedMethods, 'cache-control': 'no-store' }, health())
}

/**
 * Answers the body of a SubscriptionValidation request: an array of one Event Grid event, or one CloudEvent whose data may be JSON in a
 * string. The `validationUrl` beside the code is never called, because a stranger may have written it.
 */
export function answerValidation(body: Buffer, { isReady }: { readonly isReady: boolean }): Answer {
  const code = readValidationCode(body)
  if (code === undefined) return problemAnswer(400, 'The body holds no validation code.')
  return jsonAnswer(200, readiness(isReady), { validationResponse: code })
}

function readValidationCode(body: Buffer): string | undefined {
  const parsed = readJson(body.toString())
  const event = Array.isArray(parsed) && parsed.length === 1 ? parsed[0] : parsed
  if (!isRecord(event)) return undefined
  const data = typeof event.data === 'string' ? readJson(event.data) : event.data
  const code = isRecord(data) ? data.validationCode : undefined
  return typeof code === 'string' && code !== '' && code.length <= 1_024 ? code : undefined
}
