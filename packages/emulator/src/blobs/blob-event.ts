/** The events of Azure Storage: which data they have, and in which spelling. */
import { randomUUID } from 'node:crypto'
import type { BlobFacts } from './known-blobs.ts'

export type BlobEventType = 'BlobCreated' | 'BlobDeleted' | 'BlobTierChanged' | 'AsyncOperationInitiated'

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
}

/** Which of these fields the events of a type have. */
const fieldsOf = {
  BlobCreated: ['eTag', 'contentType', 'contentLength', 'blobType', 'accessTier'],
  BlobDeleted: ['contentType', 'blobType'],
  BlobTierChanged: ['contentType', 'contentLength', 'blobType', 'accessTier', 'previousTier'],
  AsyncOperationInitiated: ['contentType', 'contentLength', 'blobType'],
} as const satisfies Readonly<Record<BlobEventType, readonly string[]>>

/** An event of the Event Grid schema, to be raised at the storage account. What is not known is left out. */
export function blobEvent(type: BlobEventType, happening: BlobHappening, sequencer: string): object {
  const { container, blob, api, base, clientRequestId, requestId, eTag, facts, previousTier } = happening
  const known: Readonly<Record<string, unknown>> = { ...facts, eTag: eTag?.replace(/^"|"$/g, ''), previousTier }
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
    eventType: `Microsoft.Storage.${type}`,
    subject: `/blobServices/default/containers/${container}/blobs/${blob}`,
    data: Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)),
  }
}
