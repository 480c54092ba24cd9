// When a token that Azure refuses is replaced by a new one: at once, then at most once a minute.

/** The cause of a refusal may be another one that lasts: then a new token for each request would help nobody. */
const pauseMs = 60_000

/** Renews the token of a credential for those who use it together. */
export function createTokenRenewal(credential: { renew?(): void } | undefined, elapsed: () => number) {
  let renewals = 0
  let renewedAt = Number.NEGATIVE_INFINITY
  return {
    /** To be kept when a request begins, and given to `renew` if it is refused. */
    count: () => renewals,
    /** After a 401: whether the next request goes with another token than the refused one, renewed now or since it was sent. */
    renew(countBefore: number): boolean {
      if (renewals > countBefore) return true
      if (!credential?.renew || elapsed() - renewedAt < pauseMs) return false
      credential.renew()
      renewals++
      renewedAt = elapsed()
      return true
    },
  }
}
