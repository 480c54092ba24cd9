/** Publishing dead letters again: at most twenty under way, each entered in the ledger at once; what ends it, what is listed. */
import type { OutputSide } from '../../binding/sides/output-side.ts'
import { type DeadLetter, readDeadLetter } from './dead-letter.ts'
import type { DeadLetterFile } from './dead-letter-files.ts'
import { createEitherPublisher, decideUnpublished, type TargetTopic } from './either-publisher.ts'
import type { Ledger } from './ledger.ts'
import { readEntries } from './read-entries.ts'

export interface ReplayOptions extends TargetTopic {
  readonly files: readonly DeadLetterFile[]
  /** `undefined`: nothing is published, and the ledger stays as it is. */
  readonly output: Pick<OutputSide, 'publish'> | undefined
  readonly ledger: Ledger
  isWanted(letter: DeadLetter): boolean
  /** Takes no more events; those under way are awaited. */
  readonly signal: AbortSignal
  onProgress(counts: ReplayCounts): void
}

/** Each entry of the files counts once. */
export interface ReplayCounts {
  /** Published, or with `output: undefined` those that would be. */
  published: number
  /** In the ledger when this replay began. */
  known: number
  /** An event that was found in the files before, whatever became of that. */
  duplicates: number
  /** Not asked for. */
  leftOut: number
  /** Entries, and files as a whole, that can't be published. */
  unpublishable: number
  /** Found after the end. */
  notTried: number
  /** Tried, without knowing what became of them: the topic was at fault. */
  failed: number
  /** Of the published ones those that were converted to the other schema. */
  converted: number
  /** Of the published ones those that the ledger does not have, as it could not be written. */
  unrecorded: number
  /** Files that were read. */
  files: number
}

/** What can't be published. It stays in its file. */
export interface Unpublishable {
  readonly path: string
  /** Its place in the file, from 0; absent for the file as a whole. */
  readonly index?: number
  readonly id?: string
  readonly why: string
}

export type ReplayReport = Awaited<ReturnType<typeof replay>>

/** Events under way without an entry in the ledger: as many may be published twice when the process is killed. */
const maxUnderWay = 20
const maxListed = 1_000

interface Found extends DeadLetterFile {
  readonly index: number
  readonly letter: DeadLetter
}

/** Publishes each dead letter once. Resolves when all are tried, at the abort of `signal`, or where no event can succeed any more. */
export async function replay(options: ReplayOptions) {
  const { files, output, ledger, signal, onProgress } = options
  const counts: ReplayCounts = {
    published: 0,
    known: 0,
    duplicates: 0,
    leftOut: 0,
    unpublishable: 0,
    notTried: 0,
    failed: 0,
    converted: 0,
    unrecorded: 0,
    files: 0,
  }
  /** The first of them. */
  const unpublishable: Unpublishable[] = []
  function list(one: Unpublishable): void {
    counts.unpublishable++
    if (unpublishable.length < maxListed) unpublishable.push(one)
  }
  const seen = new Set<string>()
  const publisher = output && createEitherPublisher(output, options)
  /** What ends it before all are tried: the topic refuses everything, or the ledger can't be written. */
  let end: { readonly error: unknown } | undefined
  const isEnded = () => end !== undefined || signal.aborted

  async function* find(): AsyncGenerator<Found> {
    for (const file of files) {
      let index = 0
      for await (const entry of readEntries(file.path)) {
        const letter = 'fault' in entry ? entry.fault : readDeadLetter(entry.value)
        const place = { path: file.path, ...(!('of' in entry && entry.of === 'file') && { index }) }
        if (typeof letter === 'string') list({ ...place, why: letter })
        else if (!options.isWanted(letter)) counts.leftOut++
        else if (seen.has(letter.key)) counts.duplicates++
        else {
          const error = ledger.refusalOf(seen.size + 1)
          if (error) {
            end ??= { error }
            return
          }
          seen.add(letter.key)
          if (ledger.has(letter.key)) counts.known++
          else yield { ...file, index, letter }
        }
        index++
      }
      counts.files++
      onProgress(counts)
    }
  }

  async function publish({ path, folder, index, letter }: Found): Promise<void> {
    const why = publisher ? await publisher.publish(letter) : decideUnpublished(letter, options)
    if (typeof why === 'string') return list({ path, index, id: letter.id, why })
    counts.published++
    if (why.converted) counts.converted++
    if (output) record(folder, letter)
    onProgress(counts)
  }

  function record(folder: string, { id, key }: DeadLetter): void {
    try {
      ledger.add(folder, key, id)
    } catch (error) {
      counts.unrecorded++
      end ??= { error }
    }
  }

  const found = find()
  async function work(goesOn = () => true): Promise<void> {
    while (goesOn() && !isEnded()) {
      const next = await found.next()
      if (next.done) return
      const lost = output && ledger.lossOf(next.value.folder)
      if (lost) end ??= { error: lost }
      // While it was read, the end may have come.
      if (isEnded()) return void counts.notTried++
      try {
        await publish(next.value)
      } catch (error) {
        counts.failed++
        end ??= { error }
      }
    }
  }
  // One at a time, or twenty would be refused for the same reason.
  await work(() => publisher?.isSchemaKnown() === false)
  await Promise.all(Array.from({ length: maxUnderWay }, () => work()))
  for await (const _ of found) counts.notTried++
  return { counts, unpublishable, ended: end?.error }
}
