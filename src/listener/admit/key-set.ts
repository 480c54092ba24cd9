/** Fetches Entra's signing keys, keeps them, and checks signatures with them. */
import { compactVerify, createRemoteJWKSet, customFetch, errors } from 'jose'
import { createTrustPolicy } from '../../azure/http.ts'
import { certificateRemedy, silenceRemedy } from '../../azure/refusals/remedies.ts'
import { codeOf, nameOf } from '../../support/process/error-code.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { readJson } from '../../support/text/json-text.ts'
import { withLimit } from '../../support/time/clock.ts'

/** `unavailable`: the key is not in the set that we have, and the set cannot be fetched now. */
export type SignatureCheck = 'valid' | 'invalid' | 'unknownKey' | 'unavailable'

/** The signing keys of the tenant. */
export type KeySet = ReturnType<typeof createKeySet>

export interface KeySetOptions {
  /** https address of the key set. */
  readonly url: string
  /** Certificates (PEM) to trust beside Node's own. */
  readonly ca: string | undefined
  /** Longest wait for the whole answer, in milliseconds. @default 5_000 */
  readonly timeoutMs?: number | undefined
  /** Ends a fetch under way. */
  readonly closing: AbortSignal
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number
  /** Called for each failed fetch, with the reason: it holds no secret. */
  readonly onFailure: (reason: string) => void
}

/** Entra's set has a few kilobytes. */
const maxBytes = 262_144
/** Time between two fetches for unknown key ids, and after a failed fetch, so that strange tokens cause no storm. */
const cooldownMs = 30_000
/** A set that is older is fetched again before it is used. */
const maxAgeMs = 12 * 60 * 60_000

/** Fetches the keys with jose, which asks again for unknown key ids, and checks signatures with them. */
export function createKeySet(options: KeySetOptions) {
  const { url, timeoutMs = 5_000, closing, elapsed, onFailure } = options
  let connecting: ReturnType<typeof connect> | undefined
  let fetched = 0
  let failedAt = Number.NEGATIVE_INFINITY
  let failure: string | undefined

  async function fetchKeys(): Promise<Response> {
    // jose knows no cooldown after a failure.
    if (elapsed() - failedAt < cooldownMs) throw new Error('the last fetch failed less than 30 s ago')
    try {
      connecting ??= connect(options)
      const send = await connecting
      const { status, bodyAsText } = await withLimit({ ms: timeoutMs, signal: closing }, send)
      if (status !== 200) throw new KeySetError(`it was answered with ${status}`)
      const text = bodyAsText ?? ''
      if (!holdsKey(text))
        throw new KeySetError('the answer holds no usable key: something else than Entra may have answered')
      fetched++
      failure = undefined
      return new Response(text)
    } catch (error) {
      failedAt = elapsed()
      failure = whyNotFetched(error, url, timeoutMs)
      if (!closing.aborted) onFailure(failure)
      throw error
    }
  }

  const keys = createRemoteJWKSet(new URL(url), {
    cooldownDuration: cooldownMs,
    cacheMaxAge: maxAgeMs,
    [customFetch]: fetchKeys,
  })
  return {
    /** Why the last fetch failed; `undefined` where it did not. */
    failure: () => failure,
    /** Checks the RS256 signature of a token. */
    async verify(token: string): Promise<SignatureCheck> {
      const before = fetched
      try {
        await compactVerify(token, keys, { algorithms: ['RS256'] })
        return 'valid'
      } catch (error) {
        if (faultsOfToken.has(codeOf(error))) return 'invalid'
        // The key may be newer than our set: it is unknown only if the set was fetched after the token came.
        return error instanceof errors.JWKSNoMatchingKey && fetched > before ? 'unknownKey' : 'unavailable'
      }
    },
  }
}

/** All other errors are about the keys. */
const faultsOfToken: ReadonlySet<string | undefined> = new Set([
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWS_INVALID',
  'ERR_JOSE_NOT_SUPPORTED',
  'ERR_JOSE_ALG_NOT_ALLOWED',
])

/** An answer came, and it is not a set of keys. */
class KeySetError extends Error {
  override readonly name = 'KeySetError'
}

/** Why a fetch failed, and what to do: of a foreign error its code, since its message may hold anything. */
function whyNotFetched(error: unknown, url: string, timeoutMs: number): string {
  if (error instanceof KeySetError) return error.message
  const name = nameOf(error)
  if (name === 'TimeoutError' || name === 'AbortError') return `no answer came in ${timeoutMs / 1_000} s`
  const code = codeOf(error)
  const remedy = certificateRemedy(code, url) ?? silenceRemedy(code, url)
  return `${code ?? name}${remedy === undefined ? '' : `: ${remedy}`}`
}

/** Is there a key that could sign? A set without one is an answer of something else than Entra. */
function holdsKey(text: string): boolean {
  const set = readJson(text)
  const keys: readonly unknown[] = isRecord(set) && Array.isArray(set.keys) ? set.keys : []
  return keys.some((key) => isRecord(key) && typeof key.n === 'string')
}

/** Sends as the Azure SDKs do: through the proxy of the environment, and trusting the same certificates. */
async function connect({ url, ca }: KeySetOptions) {
  // Loaded with the first fetch, so that the start does not wait for them.
  const { createPipelineRequest } = await import('@azure/core-rest-pipeline')
  const { createSendOnce } = await import('../../azure/http.ts')
  const trust = createTrustPolicy(ca === undefined ? {} : { ca })
  const send = createSendOnce({ connect: trust, answerLimit: { maxBytes, longer: 'fail' } })
  return (abortSignal: AbortSignal) => send(createPipelineRequest({ url, abortSignal, disableKeepAlive: true }))
}
