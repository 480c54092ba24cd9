/** What a delivery shows of where it comes from. */
export type Evidence =
  /** It comes from our event subscription. */
  | { readonly kind: 'proven' }
  /** No credential, or one whose key id we don't know: perhaps ours, from before or after a change of secret. */
  | { readonly kind: 'absent' }
  /** A key id of ours with a token that is not. */
  | { readonly kind: 'mismatch' }
  /** An Entra token that fails; `reason` is one of a fixed set of sentences. */
  | { readonly kind: 'failing'; readonly reason: string }
  /** An Entra token that can't be judged, because keys can't be fetched. */
  | { readonly kind: 'unavailable' }

/** What is known beside the evidence. */
export interface CredentialContext {
  /** Does `aeg-subscription-name` name our event subscription? */
  readonly namesUs: boolean
  /** When our own write of the event subscription stood (epoch milliseconds), if it has. */
  readonly writtenAt: number | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** `foreign`: our subscription seems to carry another credential than ours, so it should be read again. */
export interface CredentialRefusal {
  readonly status: 401 | 503
  readonly foreign: boolean
  readonly detail: string
}

/** How long Event Grid may go on using what it knew before our write of the event subscription. */
const settlingMs = 10 * 60_000

/**
 * The answer to a delivery that has not proven itself. 401 makes Event Grid drop the event, so it is given only where the event is certainly not ours; else 503, and the event comes again.
 */
export function refuseCredential(
  evidence: Exclude<Evidence, { kind: 'proven' }>,
  { namesUs, writtenAt, now }: CredentialContext,
): CredentialRefusal {
  switch (evidence.kind) {
    case 'mismatch':
      return refuse(401, 'The delivery token is wrong.')
    case 'absent':
      return namesUs
        ? refuse(
            503,
            'The delivery carries no credential that is known here; the event subscription is being checked.',
            true,
          )
        : refuse(401, 'A credential is required.')
    case 'failing':
      return writtenAt === undefined || now - writtenAt < settlingMs
        ? refuse(503, 'The token is not accepted; the event subscription may still be changing.')
        : refuse(401, 'The token is not accepted.')
    case 'unavailable':
      return refuse(503, 'The keys to check the token with are not available.')
  }
}

function refuse(status: 401 | 503, detail: string, foreign = false): CredentialRefusal {
  return { status, foreign, detail }
}
