/** Publishing dead letters again, folder by folder, twenty at once, each in the ledger first; what ends a replay, what is listed. */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { OutputSide } from '../../binding/sides/output-side.ts'
import { isBindingError } from '../../core/errors.ts'
import { type DeadLetter, type DeadLetterFile, readDeadLetter, readEntries } from './dead-letters.ts'
import { createMetEvents, type Ledger, openLedger, readLedger } from './ledger.ts'
import { createEitherPublisher, decideUnpublished, type TargetTopic } from './target-topic.ts'

export interface ReplayOptions extends TargetTopic {
  readonly files: readonly DeadLetterFile[]
  /** `undefined`: nothing is published, and no ledger is made. */
  readonly output: Pick<OutputSide, 'publish'> | undefined
  /** The name of the topic in ledgers. */
  readonly target: string
  isWanted(letter: DeadLetter): boolean
  /** Events a second, at most. @default no limit */
  readonly rate?: number | undefined
  /** Takes no more events; events under way are awaited. */
  readonly signal: AbortSignal
  onProgress(counts: ReplayCounts): void
  /** The most events of one replay, the events in its ledgers included. @default 4_000_000 */
  readonly maxEvents?: number
}

/** Each entry of the files counts once. */
const noCounts = {
  /** Published events, or with `output: undefined` the events that would be published. */
  published: 0,
  /** In a ledger as published. */
  known: 0,
  /** An event that was found in the files before, whatever became of that. */
  duplicates: 0,
  /** Not asked for. */
  leftOut: 0,
  /** Entries, and files as a whole, that can't be published. */
  unpublishable: 0,
  /** Found after the end. */
  notTried: 0,
  /** Events that were sent, and whose outcome is not known: the topic was at fault. */
  failed: 0,
  /** Published events that were converted to the other schema. */
  converted: 0,
  /** Published events that were under way when an earlier replay ended, and may have been published by that replay too. */
  again: 0,
  /** Published events that the ledger does not have as published, because the ledger could not be written. */
  unrecorded: 0,
  /** Files that were read. */
  files: 0,
}

export type ReplayCounts = Readonly<typeof noCounts>

/** An entry, or a whole file, that can't be published. The entry stays in its file. */
export interface Unpublishable {
  readonly path: string
  /** The place of the entry in the file, from 0; absent for the file as a whole. */
  readonly index?: number
  readonly id?: string
  readonly why: string
}

export type ReplayReport = Awaited<ReturnType<typeof replay>>

/** Events under way at once: as many may be published twice when the process is killed. */
const maxUnderWay = 20
const maxListed = 1_000

interface Found extends DeadLetterFile {
  readonly index: number
  readonly letter: DeadLetter
}

/**
 * Publishes each dead letter once. Resolves when all are tried, at the abort of `signal`, or where no event can succeed any more. Rejects
 * where a ledger can't be read, or another replay has one; then nothing was published.
 */
export async function replay(options: ReplayOptions) {
  const { files, output, target, signal, onProgress, rate = Number.POSITIVE_INFINITY, maxEvents = 4_000_000 } = options
  const counts = { ...noCounts }
  /** The first of them. */
  const unpublishable: Unpublishable[] = []
  function list(one: Unpublishable): void {
    counts.unpublishable++
    if (unpublishable.length < maxListed) unpublishable.push(one)
  }
  const publisher = output && createEitherPublisher(output, options)
  /** What ends the replay before all is tried: the topic refuses everything, or a ledger can't be written. */
  let end: { readonly error: unknown } | undefined
  const met = createMetEvents(maxEvents)

  /** What an event counts as. `new`: the event is to be published. */
  function meet(letter: DeadLetter): 'known' | 'duplicates' | 'notTried' | 'new' {
    try {
      return met.meet(letter)
    } catch (error) {
      end ??= { error }
      return 'notTried'
    }
  }

  /** The events of a folder that are asked for and new, some at a time. */
  async function* findBatches(ofFolder: readonly DeadLetterFile[]): AsyncGenerator<readonly Found[]> {
    let batch: Found[] = []
    for (const file of ofFolder) {
      const { path } = file
      const entries = readEntries(path)
      if (typeof entries === 'string') list({ path, why: entries })
      for (const [index, entry] of typeof entries === 'string' ? [] : entries.entries()) {
        const letter = readDeadLetter(entry)
        if (typeof letter === 'string') list({ path, index, why: letter })
        else if (!options.isWanted(letter)) counts.leftOut++
        else {
          const was = meet(letter)
          if (was === 'new') batch.push({ ...file, index, letter })
          else counts[was]++
        }
        if (batch.length < batchSize()) continue
        yield batch
        batch = []
      }
      counts.files++
      onProgress(counts)
      // Nothing else waits where nothing is sent: signals, and what was written, need their turn.
      await turn()
    }
    if (batch.length > 0) yield batch
  }

  /** A single event until the schema of the topic is known, or twenty would be refused for the same reason. */
  const batchSize = () => (publisher?.isSchemaKnown() === false ? 1 : Math.min(maxUnderWay, rate))

  async function publishBatch(batch: readonly Found[], ledger: Ledger | undefined): Promise<void> {
    const letters = batch.map(({ letter }) => letter)
    // Where the ledger can't be written, nothing is published.
    const { published = [], again = [] } = ledger?.begin(letters) ?? {}
    counts.known += published.length
    const tried = batch.filter(({ letter }) => !published.includes(letter))
    const results = await Promise.all(tried.map(async (found) => ({ found, is: await publish(found) })))
    const those = (is: string) => results.filter((one) => one.is === is).map(({ found: { letter } }) => letter)
    counts.again += those('published').filter((letter) => again.includes(letter)).length
    try {
      ledger?.settle({ published: those('published'), refused: those('refused') })
    } catch (error) {
      counts.unrecorded += those('published').length
      end ??= { error }
    }
  }

  async function publish({ path, index, letter }: Found): Promise<'published' | 'refused' | 'unknown'> {
    try {
      const published = publisher ? await publisher.publish(letter) : decideUnpublished(letter, options)
      if (typeof published === 'string') {
        list({ path, index, id: letter.id, why: published })
        return 'refused'
      }
      counts.published++
      if (published.converted) counts.converted++
      onProgress(counts)
      return 'published'
    } catch (error) {
      counts.failed++
      end ??= { error }
      return isRefusal(error) ? 'refused' : 'unknown'
    }
  }

  const awaitTurn = createPace(rate, signal)

  async function replayFolder(folder: string, ofFolder: readonly DeadLetterFile[]): Promise<void> {
    let ledger: Ledger | undefined
    try {
      for await (const batch of findBatches(ofFolder)) {
        if (output && !end) await awaitTurn(batch.length)
        if (end || signal.aborted) {
          counts.notTried += batch.length
          continue
        }
        try {
          if (output) ledger ??= openLedger(folder, target)
          await publishBatch(batch, ledger)
        } catch (error) {
          counts.notTried += batch.length
          end = { error }
        }
      }
    } finally {
      ledger?.close()
    }
  }

  try {
    const folders = Map.groupBy(files, ({ folder }) => folder)
    // All ledgers first: an event in the ledger of one folder is not published from another folder.
    for (const folder of folders.keys()) readLedger(folder, target, met.addPublished)
    for (const [folder, ofFolder] of folders) await replayFolder(folder, ofFolder)
    return { counts, unpublishable, ended: end?.error }
  } finally {
    met.close()
  }
}

/** Whether the topic, or what answers in its place, has certainly not taken the event. An attempt before may have been accepted. */
function isRefusal(error: unknown): boolean {
  if (!isBindingError(error) || error.code === 'PUBLISH_UNAVAILABLE' || error.code === 'TIMEOUT') return false
  const { attempts = 1 } = 'attempts' in error.details ? error.details : {}
  return attempts === 1
}

/** Makes a function that waits until so many more events may go out, at so many a second, or until `signal` aborts. */
function createPace(rate: number, signal: AbortSignal) {
  let notBefore = 0
  return async (count: number): Promise<void> => {
    const waitMs = notBefore - performance.now()
    if (waitMs > 0) await pause(waitMs, undefined, { signal }).catch(() => {})
    notBefore = performance.now() + (count * 1_000) / rate
  }
}
