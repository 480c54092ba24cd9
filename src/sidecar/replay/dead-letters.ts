/** Dead letters as Azure writes them: the files that paths lead to, oldest first, their entries, and what one entry says. */

import { hash } from 'node:crypto'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { openDeadLetter, schemaOf } from '../../publisher/events.ts'
import { readRegularBytesSync } from '../../support/files/regular-file.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { isRecord, parseJson, type UnknownRecord } from '../../support/text/json-text.ts'
import { isLedger } from './ledger.ts'

export interface DeadLetterFile {
  /** The path as the user gave it, or of a file below a given folder. */
  readonly path: string
  /** Where its ledger is. */
  readonly folder: string
}

/** The hours and days in the names of blobs have no leading zeros. */
const byTime = new Intl.Collator('en', { numeric: true })

/**
 * The files of paths: each file once, and all `.json` files below a folder, hidden ones left out. Rejects as Node does where a
 * path can't be read. Links to folders are not followed, since they could lead in a circle.
 */
export async function findDeadLetterFiles(paths: readonly string[]): Promise<readonly DeadLetterFile[]> {
  const found = new Map<string, DeadLetterFile>()
  // A shell makes such paths of a star. The lock may go at any moment.
  for (const given of paths.filter((path) => !isLedger(path))) {
    for (const path of (await stat(given)).isDirectory() ? await filesBelow(given) : [given]) {
      // A link to nothing is told when it is read.
      const real = await realpath(path).catch(() => path)
      if (!isLedger(real) && !found.has(real)) found.set(real, { path, folder: dirname(real) })
    }
  }
  return [...found.values()]
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const files = await listBelow(folder)
  return files.filter((path) => /^[^.].*\.json$/i.test(basename(path))).sort(byTime.compare)
}

async function listBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const lists = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() && !isLedger(path) ? listBelow(path) : [path]
    }),
  )
  return lists.flat()
}

/** Azure writes many events into one file; each event has 1 MiB at most. */
const maxFileBytes = 16 * 1024 ** 2

/** The entries of a file, its JSON array or its one value, with numbers as they were written. A text says why the file can't be read. */
export function readEntries(path: string): readonly unknown[] | string {
  try {
    const bytes = readRegularBytesSync(path, maxFileBytes)
    const value = parseExactJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return Array.isArray(value) ? value : [value]
  } catch (error) {
    if (error instanceof SyntaxError) return 'it is not valid JSON; was it downloaded to its end?'
    if (error instanceof RangeError) return `it is ${error.message}`
    return error instanceof TypeError ? 'it is not UTF-8' : messageOf(error)
  }
}

/** `JSON.rawJSON` is in every Node that this package runs on, but not yet in the type library that the package is compiled with. */
const json: JSON & { rawJSON?(text: string): unknown } = JSON

/**
 * {@link parseJson} with raw JSON for each number that JavaScript would write otherwise, such as 1.0 or an integer of twenty digits:
 * `JSON.stringify` writes it as it was.
 */
export const parseExactJson = (text: string): unknown => parseJson(text, keepNumber)

/** @param context ECMAScript: JSON.parse source text access */
function keepNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined) return value
  return String(value) === source ? value : json.rawJSON?.(source)
}

export type DeadLetter = Exclude<ReturnType<typeof readDeadLetter>, string>

/** Reads one entry of a dead-letter file (pure). A text says why the entry is no event. */
export function readDeadLetter(value: unknown) {
  if (!isRecord(value)) return 'it is not a JSON object'
  const { event: whole, added } = openDeadLetter(value) ?? { event: value, added: {} }
  const schema = schemaOf(whole)
  if (schema === undefined) return 'it has neither specversion nor eventType'
  const isCloudEvent = schema === 'CloudEventSchemaV1_0'
  const { id } = whole
  const type = isCloudEvent ? whole.type : whole.eventType
  if (typeof id !== 'string' || typeof type !== 'string') return 'its id or its type is not a text'
  // Event Grid stamps the topic, and refuses an event with another topic.
  const event: UnknownRecord = isCloudEvent
    ? whole
    : Object.fromEntries(Object.entries(whole).filter(([name]) => name !== 'topic'))
  // Of a topic, or of a namespace topic.
  const publishTime = added.publishtime ?? added.publishutc
  const died = added.lastdeliveryattempttime ?? added.deliveryattemptutc
  const times = [died, publishTime, isCloudEvent ? whole.time : whole.eventTime]
  return {
    schema,
    /** The event as it was published. */
    event,
    id,
    type,
    /** When the event was published; `undefined` where the dead letter does not say. */
    publishTime,
    /** When the event became a dead letter, in ms since 1970; `undefined` where the dead letter does not say. */
    time: times.map((text) => Date.parse(String(text))).find((ms) => !Number.isNaN(ms)),
    /** Equal for two dead letters of one event. An event that was published twice has two keys, by the times of publishing. */
    key: hash('sha256', JSON.stringify([publishTime, event]), 'base64url'),
  }
}
