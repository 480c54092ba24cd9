/** What the credential of a delivery proves; or why it is not accepted, as data, and what an operator reads of it: reason and remedy. */

/** Everything that can be wrong. A label of a metric, so a fixed set. */
export const credentialProblems = [
  'absent',
  'mismatch',
  'format',
  'issuer',
  'tenant',
  'caller',
  'audience',
  'expired',
  'not_yet_valid',
  'unknown_key',
  'signature',
  'keys_unavailable',
] as const

export type CredentialProblem = (typeof credentialProblems)[number]

/** Holds neither token nor secret: the texts are cleaned and short. */
export interface CredentialFault {
  readonly problem: CredentialProblem
  /** The claim of the token that is wrong, where one is. */
  readonly claim?: string
  /** What it has to be. */
  readonly expected?: string
  /** What came. */
  readonly came?: string
  /** Why the keys could not be fetched. */
  readonly detail?: string
}

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

const words: Readonly<Record<CredentialProblem, { readonly reason: string; readonly remedy?: string }>> = {
  absent: { reason: 'it has no credential that is known here' },
  mismatch: { reason: 'its delivery token is wrong' },
  format: { reason: 'its token is not one that Entra signed with RS256' },
  issuer: { reason: 'the issuer of its token is another', remedy: 'correct tenantId or azureEnvironment' },
  tenant: { reason: 'the tenant of its token is another', remedy: 'correct tenantId' },
  caller: {
    reason: 'the application that its token was given to is not Event Grid',
    remedy: 'if it is Event Grid in your cloud, set eventGridClientId to it',
  },
  audience: {
    reason: 'its token is for another audience',
    remedy: 'correct clientId, or azureActiveDirectoryApplicationIdOrUri of the event subscription',
  },
  expired: { reason: 'its token has expired', remedy: 'look at the clock of this machine' },
  not_yet_valid: { reason: 'its token is not valid yet', remedy: 'look at the clock of this machine' },
  unknown_key: { reason: 'its token is signed by a key that the tenant does not have' },
  signature: { reason: 'the signature of its token is wrong' },
  keys_unavailable: {
    reason: 'the keys to check its token with cannot be fetched',
    remedy: 'let this process reach Entra',
  },
}

/** The reason and the remedy in words, as fields of a line of the log. */
export function faultFields({ problem, claim, expected, came, detail }: CredentialFault) {
  const { reason, remedy } = words[problem]
  return {
    reason: detail === undefined ? reason : `${reason}: ${detail}`,
    ...(claim !== undefined && { claim }),
    ...(expected !== undefined && { expected }),
    ...(came !== undefined && { came }),
    ...(remedy !== undefined && { remedy }),
  }
}

/** The same as one clause. */
export function faultInWords(fault: CredentialFault): string {
  const { reason, claim, expected, came, remedy } = faultFields(fault)
  const compared = claim === undefined ? '' : ` (${claim} is ${came ?? 'missing'}; expected: ${expected})`
  return `${reason}${compared}${remedy === undefined ? '' : `; ${remedy}`}`
}
