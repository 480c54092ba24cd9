// Azure error codes and statuses: retried, or handshake, credentials, permission, provider, scope, rejected.
import type { ArmFailure, ArmFailureKind } from '../arm/arm-failure.ts'

/** The kind of a failure. It decides about another attempt and about the remedy. */
export type Verdict =
  /** Retryable: a conflict, throttling, a fault of the service or the network. */
  'passing' | 'handshake' | 'credentials' | 'permission' | 'provider' | 'scope' | 'rejected'

const scopeCodes: ReadonlySet<string> = new Set([
  'parentresourcenotfound',
  'resourcegroupnotfound',
  'subscriptionnotfound',
  'invalidsubscriptionid',
  'invalidresourcetype',
  'invalidresourcenamespace',
  'noregisteredproviderfound',
  'missingapiversionparameter',
])

const passingKinds: ReadonlySet<ArmFailureKind> = new Set(['network', 'token', 'canceled', 'lost', 'deadline'])

/** Codes of a 409 that does not pass. */
const lastingConflicts: ReadonlySet<string> = new Set([
  'scopelocked',
  'readonlydisabledsubscription',
  'subscriptionnotregistered',
  'requestdisallowedbypolicy',
  'quotaexceeded',
  'quotalimitreached',
  'limitexceeded',
])

/** Codes and messages of an operation's failure that may pass: a fault of the service, or a source that is being changed. */
const passingOperations = [
  /^internal/i,
  /internal server error/i,
  /^conflict/i,
  /publisher (notification|provider) error/i,
  /^(service|server)(unavailable|busy|timeout)/i,
]

/** Judges a failure by its code. Not every 409 is a conflict: an unregistered provider is answered 409 as well. */
export function judgeFailure(failure: ArmFailure): Verdict {
  const { kind, status, message, targets = [] } = failure
  const code = failure.code?.toLowerCase() ?? ''
  if (kind === 'manual') return 'handshake'
  if (passingKinds.has(kind)) return 'passing'
  if (kind === 'unexpected') return 'rejected'
  if (
    /^url\s*validation/.test(code) ||
    /validation handshake failed|attempt to validate the provided endpoint/i.test(message)
  ) {
    return 'handshake'
  }
  if (code === 'missingsubscriptionregistration' || isUnregistered(message, targets)) return 'provider'
  if (code === 'authorizationfailed' || code === 'linkedauthorizationfailed') return 'permission'
  if (scopeCodes.has(code)) return 'scope'
  if (kind === 'operation') {
    const passes = passingOperations.some((pattern) => pattern.test(code) || pattern.test(message))
    return code === '' || passes ? 'passing' : 'rejected'
  }
  if (isExpiredToken(failure)) return 'passing'
  if (status === 401) return 'credentials'
  if (status === 403) return code === 'requestdisallowedbypolicy' ? 'rejected' : 'permission'
  if (status === 404) return 'scope'
  if (status === 409) return lastingConflicts.has(code) || /quota/i.test(message) ? 'rejected' : 'passing'
  if (status === 408 || status === 412 || status === 429 || (status !== undefined && status >= 500)) return 'passing'
  return 'rejected'
}

/** The token expired on its way, or by ARM's clock. A new one helps. */
export function isExpiredToken({ status, code }: ArmFailure): boolean {
  return status === 401 && code?.toLowerCase() === 'expiredauthenticationtoken'
}

function isUnregistered(message: string, targets: readonly string[]): boolean {
  return (
    /registration is in '(un|not)registered' state|is not registered (to use namespace|in subscription)/i.test(
      message,
    ) ||
    (targets.some((target) => target.toLowerCase() === 'microsoft.eventgrid') && /regist/i.test(message))
  )
}
