/** Which data the events of Azure Storage have, and in which spelling. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { PersistedValues } from '../state/persisted-values.ts'
import type { BlobFacts } from './known-blobs.ts'

export type BlobEventType =
  | 'BlobCreated'
  | 'BlobDeleted'
  | 'BlobTierChanged'
  | 'AsyncOperationInitiated'
  | 'DirectoryDeleted'

/** What happened, and by which request. */
export interface BlobHappening {
  readonly container: string
  readonly blob: string
  /** The REST operation. */
  readonly api: string
  /** As a client has it: scheme, host and account. Without a trailing slash. */
  readonly base: string
  readonly clientRequestId: string | undefined
  readonly requestId: string | undefined
  /** With or without quotation marks. */
  readonly eTag: string | undefined
  readonly facts: BlobFacts
  /** The tier before the change. */
  readonly previousTier?: string | undefined
  /** `true` or `false`, where a directory is deleted. */
  readonly recursive?: string | undefined
}

/** Which of these fields the events of a type have. */
const fieldsOf = {
  BlobCreated: ['eTag', 'contentType', 'contentLength', 'blobType', 'accessTier'],
  BlobDeleted: ['contentType', 'blobType'],
  BlobTierChanged: ['contentType', 'contentLength', 'blobType', 'accessTier', 'previousTier'],
  AsyncOperationInitiated: ['contentType', 'contentLength', 'blobType'],
  DirectoryDeleted: ['recursive'],
} as const satisfies Readonly<Record<BlobEventType, readonly string[]>>

/** An event of the Event Grid schema, to be raised at the storage account. What is not known is left out. */
export function blobEvent(type: BlobEventType, happening: BlobHappening, sequencer: string): object {
  const { container, blob, api, base, clientRequestId, requestId, eTag, facts, previousTier, recursive } = happening
  const more = { eTag: eTag?.replace(/^"|"$/g, ''), previousTier, recursive }
  const known: Readonly<Record<string, unknown>> = { ...facts, ...more }
  const data = {
    api,
    clientRequestId,
    requestId,
    ...Object.fromEntries(fieldsOf[type].map((name) => [name, known[name]])),
    // Not encoded (recorded, 2025).
    url: `${base}/${container}/${blob}`,
    sequencer,
    storageDiagnostics: { batchId: randomUUID() },
  }
  return {
    // All samples of Azure's page have the id of the request but for its last six digits.
    ...(requestId !== undefined && { id: requestId.slice(0, -6) + randomBytes(3).toString('hex') }),
    eventType: `Microsoft.Storage.${type}`,
    subject: `/blobServices/default/containers/${container}/blobs/${blob}`,
    data: Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)),
    ...(type === 'DirectoryDeleted' && { dataVersion: '1' }),
  }
}

/**
 * Makes the sequencers of an account's events: texts of which a later one is the greater, also after a restart. Two numbers, of 32 capital
 * and 16 small digits, as Azure has them (recorded). The first one counts starts.
 */
export function createSequencer(persisted: PersistedValues, account: string, now: number): () => string {
  const before = Number(persisted.get('blob sequencer', account) ?? 0)
  // Without a state file time is what tells a later start from an earlier one.
  const start = Math.max(Math.floor(now), before + 1)
  persisted.put('blob sequencer', account, String(start))
  const high = start.toString(16).toUpperCase().padStart(32, '0')
  let count = 0
  return () => {
    count++
    return high + count.toString(16).padStart(16, '0')
  }
}
