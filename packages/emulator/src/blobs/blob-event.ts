/** Which data the events of Azure Storage have, and in which spelling. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { PersistedValues } from '../state/persisted-values.ts'
import { type BatchAnswer, type BlobCall, headerOf } from './blob-call.ts'
import type { BlobFacts } from './known-blobs.ts'

export type BlobEventType =
  | 'BlobCreated'
  | 'BlobDeleted'
  | 'BlobTierChanged'
  | 'AsyncOperationInitiated'
  | 'DirectoryDeleted'

/** What is known of a blob at an event. */
export interface EventFacts extends BlobFacts {
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

/**
 * What a call that Azurite took raises, an event of the Event Grid schema. What is not known is left out.
 *
 * @param sequencer of this event
 */
export function blobEvent(
  type: BlobEventType,
  { call, answer }: { readonly call: BlobCall; readonly answer: BatchAnswer },
  facts: EventFacts,
  sequencer: string,
): object {
  const { account, isInPath, container, blob, origin, headers, action } = call
  const requestId = headerOf(answer.headers, 'x-ms-request-id')
  const eTag = headerOf(answer.headers, 'etag')?.replace(/^"|"$/g, '')
  const known: Readonly<Record<string, unknown>> = { ...facts, eTag }
  const data = {
    api: action,
    clientRequestId: headerOf(headers, 'x-ms-client-request-id'),
    requestId,
    ...Object.fromEntries(fieldsOf[type].map((name) => [name, known[name]])),
    // Not encoded (recorded, 2025).
    url: `${origin.protocol}://${origin.host}${isInPath ? `/${account}` : ''}/${container}/${blob}`,
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
