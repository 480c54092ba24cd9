// Acknowledge, release, reject, renewLock: 1,000 tokens, `releaseDelayInSeconds`, data plane api-versions.
import { readJson } from '../../support/text/json-text.ts'
import { ownField } from '../model/events/json-object.ts'
import { badRequest } from './namespace-error.ts'
import type { PullQueue, SettleOutcome } from './pull-queue.ts'

/** Versions of the data plane. The last one has `renewLock` and delays of `release`. */
export const dataPlaneVersions: readonly string[] = ['2023-11-01', '2024-06-01']

export const settleOperations = ['acknowledge', 'release', 'reject', 'renewLock'] as const
type SettleOperation = (typeof settleOperations)[number]

const releaseDelays = ['0', '10', '60', '600', '3600']
const maxLockTokens = 1_000

/** Settles the events of the lock tokens in a body (Event Grid namespaces, data plane). Throws a NamespaceError. */
export function settleLockTokens(queue: PullQueue, operation: SettleOperation, query: URLSearchParams, body: Buffer) {
  const delay = query.get('releaseDelayInSeconds') ?? '0'
  const newest = dataPlaneVersions.at(-1)
  if (query.get('api-version') !== newest && (operation === 'renewLock' || delay !== '0')) {
    throw badRequest(`${operation} needs api-version ${newest}.`)
  }
  if (operation === 'release' && !releaseDelays.includes(delay)) {
    throw badRequest(`releaseDelayInSeconds must be one of ${releaseDelays.join(', ')}.`)
  }
  const lockTokens = lockTokensOf(body)
  const settle: Readonly<Record<SettleOperation, (token: string) => SettleOutcome>> = {
    acknowledge: queue.acknowledge,
    release: (token) => queue.release(token, Number(delay) * 1000),
    reject: queue.reject,
    renewLock: queue.renewLock,
  }
  const outcomes = lockTokens.map((lockToken) => ({ lockToken, outcome: settle[operation](lockToken) }))
  return {
    succeededLockTokens: outcomes.filter(({ outcome }) => outcome === 'done').map(({ lockToken }) => lockToken),
    failedLockTokens: outcomes.flatMap(({ lockToken, outcome }) =>
      outcome === 'done' ? [] : [{ lockToken, error: { code: outcome, message: messages[outcome] } }],
    ),
  }
}

const messages: Readonly<Record<Exclude<SettleOutcome, 'done'>, string>> = {
  BadToken: 'The lock token is not well formed.',
  TokenLost: 'The lock token was not found, or its lock has expired.',
}

function lockTokensOf(body: Buffer): readonly string[] {
  const tokens = ownField(readJson(body.toString()), 'lockTokens')
  const areTokens = Array.isArray(tokens) && tokens.length > 0 && tokens.length <= maxLockTokens
  if (areTokens && tokens.every((token) => typeof token === 'string')) return tokens
  throw badRequest('The body must be { "lockTokens": [ ... ] }.')
}
