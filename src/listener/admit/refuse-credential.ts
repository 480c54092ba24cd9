/** Whether a delivery without an accepted credential is refused (401) or put off (503). */
import type { CredentialFault } from './credential-fault.ts'

/** What the credential of a delivery proves. */
export type Evidence =
  /** It comes from our event subscription. */
  | { readonly kind: 'proven' }
  /** No credential, or unknown key ids only: the delivery may still be ours, from before or after a change of secret. */
  | { readonly kind: 'absent' }
  /** One of our key ids with a wrong token. */
  | { readonly kind: 'mismatch' }
  /** An Entra token that is not accepted. */
  | { readonly kind: 'failing'; readonly fault: CredentialFault }
  /** An Entra token that cannot be judged, because its key is not there: the keys cannot be fetched, or were fetched a moment ago. */
  | { readonly kind: 'unavailable'; readonly fault: CredentialFault }

/** Further facts for the decision. */
export interface CredentialContext {
  /** Does `aeg-subscription-name` name our event subscription? */
  readonly namesUs: boolean
  /** When our own write of the event subscription succeeded (epoch milliseconds). Undefined: it has not yet. */
  readonly writtenAt: number | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** `foreign`: our event subscription seems to carry another credential, so it should be read again. */
export interface CredentialRefusal {
  readonly status: 401 | 503
  readonly foreign: boolean
  readonly detail: string
}

/** How long Event Grid may use the old settings after our write of the event subscription. */
const settlingMs = 10 * 60_000

/**
 * The answer to a delivery without proof. 401 makes Event Grid drop the event, so it is given only where the event is certainly not ours.
 * 503 makes Event Grid send the event again.
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
        ? { status: 503, foreign: true, detail: unknownCredential }
        : refuse(401, 'A credential is required.')
    case 'failing':
      return writtenAt === undefined || now - writtenAt < settlingMs
        ? refuse(503, 'The token is not accepted; the event subscription may still be changing.')
        : refuse(401, 'The token is not accepted.')
    case 'unavailable':
      return refuse(503, 'The keys to check the token with are not available.')
  }
}

const unknownCredential =
  'The delivery carries no credential that is known here; the event subscription is being checked.'

function refuse(status: 401 | 503, detail: string): CredentialRefusal {
  return { status, foreign: false, detail }
}
