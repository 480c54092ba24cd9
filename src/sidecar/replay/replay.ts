// Publishing dead letters again: at most twenty under way, each entered in the ledger at once; what ends it, what is listed.
import type { OutputSide } from '../../binding/sides/output-side.ts'
import { type DeadLetter, readDeadLetter } from './dead-letter.ts'
import { type DeadLetterFile, readEntries } from './dead-letter-files.ts'
import { createEitherPublisher, judgeUnpublished, type TargetTopic } from './either-publisher.ts'
import type { Ledger } from './ledger.ts'

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

export interface ReplayCounts {
  /** Published, or with `output: undefined` those that would be. */
  published: number
  /** In the ledger already, or twice in the files. */
  known: number
  /** Not asked for. */
  leftOut: number
  /** Of the published ones those that were converted to the other schema. */
  converted: number
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

interface Found extends DeadLetterFile {
  readonly index: number
  readonly letter: DeadLetter
}

/** Publishes each dead letter once. Resolves when all are tried, at the abort of `signal`, or where no event can succeed any more. */
export async function replay(options: ReplayOptions) {
  const { files, output, ledger, signal, onProgress } = options
  const counts: ReplayCounts = { published: 0, known: 0, leftOut: 0, converted: 0, files: 0 }
  const unpublishable: Unpublishable[] = []
  const seen = new Set<string>()
  const publisher = output && createEitherPublisher(output, options)
  /** What ends it before all are tried: the topic refuses everything, or the ledger can't be written. */
  let end: { readonly error: unknown } | undefined

  async function* find(): AsyncGenerator<Found> {
    for (const file of files) {
      const entries = await readEntries(file.path)
      counts.files++
      if (typeof entries === 'string') unpublishable.push({ path: file.path, why: entries })
      else
        for (const [index, entry] of entries.entries()) {
          const letter = readDeadLetter(entry)
          if (typeof letter === 'string') unpublishable.push({ path: file.path, index, why: letter })
          else if (!options.isWanted(letter)) counts.leftOut++
          else if (seen.has(letter.key) || ledger.has(letter.key)) counts.known++
          else {
            seen.add(letter.key)
            yield { ...file, index, letter }
          }
        }
      onProgress(counts)
    }
  }

  async function publish({ path, folder, index, letter }: Found): Promise<void> {
    const { id, key } = letter
    const why = publisher ? await publisher.publish(letter) : judgeUnpublished(letter, options)
    if (typeof why === 'string') return void unpublishable.push({ path, index, id, why })
    if (output) ledger.add(folder, key, id)
    counts.published++
    if (why.converted) counts.converted++
    onProgress(counts)
  }

  const found = find()
  async function work(goesOn = () => true): Promise<void> {
    while (goesOn() && !end && !signal.aborted) {
      const next = await found.next()
      if (next.done) return
      try {
        await publish(next.value)
      } catch (error) {
        end ??= { error }
      }
    }
  }
  // One at a time, or twenty would be refused for the same reason.
  await work(() => publisher?.isSchemaKnown() === false)
  await Promise.all(Array.from({ length: maxUnderWay }, () => work()))
  return { counts, unpublishable, ended: end?.error }
}
