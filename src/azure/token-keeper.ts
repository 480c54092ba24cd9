/** Keeps one token for all callers: they share a request, use a valid token until the next one has arrived, and replace a refused token. */
import type { AccessToken, GetTokenOptions, TokenCredential } from '@azure/core-auth'

export interface RenewableCredential extends TokenCredential {
  getToken(scopes: string | string[], options?: GetTokenOptions): Promise<AccessToken>
  /**
   * To be called with a token that a service has refused (401). Drops the token, so that the next `getToken` fetches a new one. This is
   * done at most once a minute for each scope, because the cause may be permanent. Returns whether the next token will be a new one.
   */
  renew(refused: string): boolean
}

/** A token that expires sooner is renewed, in ms. Azure's libraries leave the same time. */
const renewalMs = 2 * 60_000

/** Shortest time between two renewals of refused tokens. */
const refusalPauseMs = 60_000

/** Shortest time between two failed attempts to renew a token that is still good. */
const attemptPauseMs = 5_000

interface Kept {
  token?: AccessToken
  /** The request for a token that is under way, and who waits for it. */
  request?: { readonly answer: Promise<AccessToken>; readonly abandon: AbortController; waiting: number }
  lastFailure: number
  /** When a refused token was last renewed here. */
  renewedAt: number
}

/** @param fetchToken gets a new token; its signal aborts when nobody waits for it any more */
export function createTokenKeeper(
  fetchToken: (scopes: string | string[], options: GetTokenOptions) => Promise<AccessToken>,
): RenewableCredential {
  const kept = new Map<string, Kept>()

  /** Starts a request for a token, or joins the one that is under way. */
  function request(entry: Kept, scopes: string | string[], options: GetTokenOptions) {
    if (entry.request) return entry.request
    const abandon = new AbortController()
    const fetching = async () => {
      try {
        entry.token = await fetchToken(scopes, { ...options, abortSignal: abandon.signal })
        return entry.token
      } catch (error) {
        entry.lastFailure = performance.now()
        throw error
      } finally {
        if (entry.request?.abandon === abandon) delete entry.request
      }
    }
    const started = { answer: fetching(), abandon, waiting: 0 }
    // A renewal in advance is not awaited. Its failure must not become an unhandled rejection, which would end the process.
    started.answer.catch(() => {})
    entry.request = started
    return started
  }

  return {
    async getToken(scopes, options = {}) {
      const { claims, tenantId = '', abortSignal } = options
      const key = [scopes, tenantId].flat().join(' ')
      const known = kept.get(key)
      const entry = known === undefined || claims ? emptyEntry(known?.renewedAt) : known
      kept.set(key, entry)
      const leftMs = (entry.token?.expiresOnTimestamp ?? 0) - Date.now()
      let token = leftMs > 0 ? entry.token : undefined
      if (token === undefined) token = await waitFor(entry, request(entry, scopes, options), abortSignal)
      else if (leftMs <= renewalMs && performance.now() - entry.lastFailure > attemptPauseMs) {
        request(entry, scopes, options).waiting++
      }
      // Report the token as expired, so that the SDK asks here before each request. Otherwise the SDK refreshes the token in the
      // background, and a failed refresh would be an unhandled rejection, which ends the process.
      return { ...token, expiresOnTimestamp: 0 }
    },
    renew(refused) {
      const found = [...kept].find(([, { token }]) => token?.token === refused)
      // Somebody else had it renewed meanwhile.
      if (!found) return true
      const [key, entry] = found
      if (performance.now() - entry.renewedAt < refusalPauseMs) return false
      // A new entry: a request under way still writes into the old one.
      kept.set(key, emptyEntry(performance.now()))
      return true
    },
  }
}

const emptyEntry = (renewedAt = Number.NEGATIVE_INFINITY): Kept => ({
  lastFailure: Number.NEGATIVE_INFINITY,
  renewedAt,
})

/** Waits until the answer comes or the signal aborts. The last who goes away abandons the request. */
async function waitFor(
  entry: Kept,
  request: NonNullable<Kept['request']>,
  signal: GetTokenOptions['abortSignal'],
): Promise<AccessToken> {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const abort = () => {
    // The last caller that waits ends the request, and hears from that request where no answer came in time.
    if (request.waiting === 1) request.abandon.abort(signal instanceof AbortSignal ? signal.reason : undefined)
    else reject(new DOMException('getting a token was aborted', 'AbortError'))
  }
  request.waiting++
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    return await Promise.race([request.answer, over])
  } finally {
    signal?.removeEventListener('abort', abort)
    if (--request.waiting === 0) {
      request.abandon.abort()
      // The cancelled request takes a moment to end. A new caller must not join it.
      if (entry.request === request) delete entry.request
    }
  }
}
