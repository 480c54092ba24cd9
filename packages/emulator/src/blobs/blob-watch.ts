/** Which events Azure Storage raises for the calls that Azurite took, and which calls wait for each other so that these are true. */
import {
  type BatchAnswer,
  type BlobCall,
  batchCalls,
  batchParts,
  blobCallOf,
  blobPlaceOf,
  headerOf,
  type Multipart,
  type RawCall,
} from './blob-call.ts'
import { type BlobEventType, blobEvent, type EventFacts } from './blob-event.ts'
import { type BlobFacts, createKnownBlobs, keyOfBlob, parseBlockList } from './known-blobs.ts'

/** A call on its way, with what is read of it and of its answer. */
export interface WatchedCall {
  readonly call: BlobCall
  /** The body, of a block list or a batch; undefined where it is too long to be kept. */
  readonly body?: string | undefined
}

/** A call that Azurite answered. */
export interface AnsweredCall extends WatchedCall {
  readonly answer: BatchAnswer
  /** What the blob was before the call: of a write what the turn asked, of a read what was known. */
  readonly before?: BlobFacts | undefined
}

/** The time in which no other call writes the blobs of a call. */
export interface BlobTurn {
  /** What the blob was before the call, where only Azurite knows: behind the call it is gone, or another. */
  readonly before: BlobFacts | undefined
  end(): void
}

export interface BlobWatchOptions {
  readonly accounts: ReadonlySet<string>
  /** The next sequencer of an account. */
  readonly sequencerOf: (account: string) => string
  /** Asks Azurite what a blob is, with what the caller of a request may; undefined where that does not do. */
  readonly ask: (call: BlobCall) => Promise<BlobFacts | undefined>
}

const defaultType = 'application/octet-stream'

/** What a read says of a blob. */
export function factsOfAnswer({ headers }: BatchAnswer): BlobFacts | undefined {
  const blobType = headerOf(headers, 'x-ms-blob-type')
  if (blobType === undefined) return undefined
  const [, total] = /\/(\d+)$/.exec(headerOf(headers, 'content-range') ?? '') ?? []
  const contentLength = numberOf(total ?? headerOf(headers, 'content-length'))
  const isInferred = headerOf(headers, 'x-ms-access-tier-inferred') === 'true'
  const accessTier = isInferred ? 'Default' : headerOf(headers, 'x-ms-access-tier')
  const contentType = headerOf(headers, 'content-type')
  return {
    blobType,
    ...(contentType !== undefined && { contentType }),
    ...(contentLength !== undefined && { contentLength }),
    ...(accessTier !== undefined && { accessTier }),
  }
}

/** Watches the calls of all clients. */
export function createBlobWatch({ accounts, sequencerOf, ask }: BlobWatchOptions) {
  const known = createKnownBlobs()
  /** The end of the last turn of each blob that has one, by key. */
  const turns = new Map<string, Promise<void>>()

  /** The blobs that a call writes, or copies. */
  function blobsOf({ call, body }: WatchedCall): readonly string[] {
    if (call.action === 'Batch') {
      const parts = batchCalls({ contentType: headerOf(call.headers, 'content-type'), body: body ?? '' })
      return parts.flatMap((part) => callOfPart(call, part.call) ?? []).map(keyOfBlob)
    }
    return [keyOfBlob(call), sourceKey(call) ?? []].flat()
  }

  /** The source of a copy; undefined where it is elsewhere, and for a snapshot. */
  function sourceKey({ headers }: BlobCall): string | undefined {
    const url = URL.parse(headerOf(headers, 'x-ms-copy-source') ?? '')
    if (!url || url.searchParams.has('snapshot') || url.searchParams.has('versionid')) return undefined
    const place = blobPlaceOf(accounts, url.host, url.pathname)
    return place && keyOfBlob(place)
  }

  /** The events of one call that Azurite took. */
  async function changed(answered: AnsweredCall): Promise<readonly object[]> {
    const { call, answer, body } = answered
    const { headers, query } = call
    const key = keyOfBlob(call)
    const accessTier = headerOf(headers, 'x-ms-access-tier') ?? 'Default'
    const event = (type: BlobEventType, facts: EventFacts) =>
      blobEvent(type, answered, facts, sequencerOf(call.account))

    switch (call.action) {
      case 'PutBlob': {
        const isCopied = headers['x-ms-copy-source'] !== undefined
        const facts = isCopied ? { ...(await ask(call)), accessTier } : { ...writtenFacts(call), accessTier }
        known.wrote(key, facts)
        return [event('BlobCreated', facts)]
      }
      case 'PutBlock':
        known.staged(key, query.get('blockid') ?? '', stagedLength(call))
        return []
      case 'PutBlockList': {
        const list = body === undefined ? undefined : parseBlockList(body)
        const contentLength = list && known.lengthOf(key, list)
        const asked = contentLength === undefined ? await ask(call) : { contentLength }
        const contentType = headerOf(headers, 'x-ms-blob-content-type') ?? defaultType
        const facts = { ...asked, contentType, blobType: 'BlockBlob', accessTier }
        known.committed(key, list, facts)
        return [event('BlobCreated', facts)]
      }
      case 'CopyBlob': {
        // A copy that goes on has not made the blob yet.
        if ((headerOf(answer.headers, 'x-ms-copy-status') ?? 'success') !== 'success') {
          known.forget(key)
          return []
        }
        const source = sourceKey(call)
        const copied = (source === undefined ? undefined : known.facts(source)) ?? (await ask(call))
        const facts = { ...copied, accessTier }
        known.copied(key, source, facts)
        return [event('BlobCreated', facts)]
      }
      case 'DeleteBlob': {
        const facts = known.facts(key) ?? answered.before ?? {}
        known.forget(key)
        return [event('BlobDeleted', facts)]
      }
      case 'DeleteDirectory':
        known.forget(key)
        return [event('DirectoryDeleted', { recursive: query.get('recursive') ?? undefined })]
      case 'SetBlobTier': {
        const before = known.facts(key) ?? answered.before
        const facts = { ...before, accessTier }
        if (before) known.learn(key, facts)
        return [
          // From the archive: 202. Azurite has changed the tier by then, Azure would take hours.
          ...(answer.status === 202 ? [event('AsyncOperationInitiated', facts)] : []),
          event('BlobTierChanged', { ...facts, previousTier: before?.accessTier }),
        ]
      }
      case 'Read': {
        // What was written meanwhile is newer than what was read.
        const isCurrent = known.facts(key) === answered.before && !turns.has(key)
        const facts = isCurrent ? factsOfAnswer(answer) : undefined
        if (facts) known.learn(key, facts)
        return []
      }
      case 'Alter': {
        const { contentLength: _length, contentType: _type, ...rest } = known.facts(key) ?? {}
        if (known.facts(key)) known.learn(key, rest)
        return []
      }
      case 'DeleteContainer':
        known.forgetContainer(key)
        return []
      case 'Batch':
        return []
    }
  }

  return {
    /** What is known of the blob of a call. */
    facts: (call: BlobCall): BlobFacts | undefined => known.facts(keyOfBlob(call)),
    /**
     * Waits until no other call writes the blobs of this one. All of them are asked for at once, so that no two calls wait for each
     * other.
     */
    async takeTurn(watched: WatchedCall): Promise<BlobTurn> {
      const { call } = watched
      const keys = new Set(blobsOf(watched))
      const { promise, resolve } = Promise.withResolvers<void>()
      const former = [...keys].map((key) => turns.get(key))
      for (const key of keys) turns.set(key, promise)
      await Promise.all(former)
      const isLost = call.action === 'DeleteBlob' || call.action === 'SetBlobTier'
      const before = isLost && known.facts(keyOfBlob(call)) === undefined ? await ask(call) : undefined
      const end = () => {
        for (const key of keys) if (turns.get(key) === promise) turns.delete(key)
        resolve()
      }
      return { before, end }
    },
    /** Forgets the blob of a call of which nobody knows whether Azurite took it. */
    unanswered: (call: BlobCall): void => known.forget(keyOfBlob(call)),
    /** What a call raises that Azurite took, each an event of the Event Grid schema. */
    async answered(answered: AnsweredCall): Promise<readonly object[]> {
      return isTaken(answered.answer) ? changed(answered) : []
    },
    /** What a batch raises: each of its requests for itself. */
    async answeredBatch(call: WatchedCall, answer: Multipart): Promise<readonly object[]> {
      const contentType = headerOf(call.call.headers, 'content-type')
      const events: object[] = []
      for (const part of batchParts({ contentType, body: call.body ?? '' }, answer)) {
        const own = callOfPart(call.call, part.call)
        if (own && isTaken(part.answer)) events.push(...(await changed({ ...call, call: own, answer: part.answer })))
      }
      return events
    },
  }
}

const isTaken = ({ status }: BatchAnswer) => status >= 200 && status < 300

/** What a part of a batch asks for: of the account of the batch, whose parts have no host. */
function callOfPart({ account, origin }: BlobCall, part: RawCall): BlobCall | undefined {
  const place = blobPlaceOf(new Set([account]), origin.host, part.url)
  return place && blobCallOf(place, origin, part)
}

/** What the request of PutBlob says of the blob that it writes. */
function writtenFacts({ headers }: BlobCall): BlobFacts {
  const blobType = headerOf(headers, 'x-ms-blob-type') ?? 'BlockBlob'
  const length = {
    BlockBlob: headerOf(headers, 'content-length'),
    PageBlob: headerOf(headers, 'x-ms-blob-content-length'),
    AppendBlob: '0',
  }[blobType]
  const contentLength = numberOf(length)
  const contentType = headerOf(headers, 'x-ms-blob-content-type') ?? headerOf(headers, 'content-type') ?? defaultType
  return { blobType, contentType, ...(contentLength !== undefined && { contentLength }) }
}

/** The length of a block; of one that is copied from elsewhere, that of the range. */
function stagedLength({ headers }: BlobCall): number | undefined {
  if (headers['x-ms-copy-source'] === undefined) return numberOf(headerOf(headers, 'content-length'))
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headerOf(headers, 'x-ms-source-range') ?? '') ?? []
  return from === undefined || to === undefined ? undefined : Number(to) - Number(from) + 1
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
