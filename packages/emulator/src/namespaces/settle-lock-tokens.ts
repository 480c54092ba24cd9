// Acknowledge, release, reject, renewLock: 1,000 tokens, `releaseDelayInSeconds`, data plane api-versions.
import { readJson } from '../../../../src/support/text/json-text.ts'
import { ownField } from '../model/events/json-object.ts'
import { badRequest } from './namespace-error.ts'
import type { PullQueue, SettleOutcome } from './pull-queue.ts'

/** Versions of the data plane, the previews that recorded tests still used in 2024 among them. */
export const dataPlaneVersions: readonly string[] = [
  '2023-06-01-preview',
  '2023-10-01-preview',
  '2023-11-01',
  '2024-06-01',
]

/** Those that have `renewLock` and delays of `release`. */
const versionsWithDelays: readonly string[] = ['2023-10-01-preview', '2024-06-01']

export const settleOperations = ['acknowledge', 'release', 'reject', 'renewLock'] as const
type SettleOperation = (typeof settleOperations)[number]

const releaseDelays = ['0', '10', '60', '600', '3600']
const maxLockTokens = 1_000

/** Settles the events of the lock tokens in a body (Event Grid namespaces, data plane). Throws a NamespaceError. */
export function settleLockTokens(queue: PullQueue, operation: SettleOperation, query: URLSearchParams, body: Buffer) {
  const delay = query.get('releaseDelayInSeconds') ?? '0'
  const hasDelays = versionsWithDelays.includes(query.get('api-version') ?? '')
  if (!hasDelays && (operation === 'renewLock' || delay !== '0')) {
    throw badRequest(`${operation} needs api-version ${dataPlaneVersions.at(-1)}.`)
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
  BadToken: 'Cannot decode lockToken',
  TokenLost: 'Token has expired.',
}

function lockTokensOf(body: Buffer): readonly string[] {
  const tokens = ownField(readJson(body.toString()), 'lockTokens')
  const areTokens = Array.isArray(tokens) && tokens.length > 0 && tokens.length <= maxLockTokens
  if (areTokens && tokens.every((token) => typeof token === 'string')) return tokens
  throw badRequest('The body must be { "lockTokens": [ ... ] }.')
}
