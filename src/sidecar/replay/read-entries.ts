/** The entries of a dead-letter file: its JSON array's elements, or its one value, read one after the other, however large the file is. */
import type { FileHandle } from 'node:fs/promises'
import { openRegularFile } from '../../support/files/regular-file.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { parseExactJson } from '../../support/text/json-text.ts'

/** One entry, with its numbers as they were written; or why the rest of the file, or this entry, can't be read. */
export type Entry = { readonly value: unknown } | { readonly fault: string; readonly of: 'file' | 'entry' }

const maxFileBytes = 1024 ** 3
/** Event Grid takes events of 1 MiB. A text of spaces and escapes may be longer. */
const maxEntryBytes = 8 * 1024 ** 2
const chunkBytes = 256 * 1024

/** Reads the entries of a file. It never throws: a fault is an entry too, and one of the file is the last. */
export async function* readEntries(path: string): AsyncGenerator<Entry> {
  let handle: FileHandle | undefined
  try {
    handle = await openRegularFile(path, maxFileBytes)
    for await (const bytes of sliceEntries(handle)) yield parseEntry(bytes)
  } catch (error) {
    yield { fault: faultOf(error), of: 'file' }
  } finally {
    await handle?.close()
  }
}

function parseEntry(bytes: Uint8Array): Entry {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  try {
    return { value: parseExactJson(text) }
  } catch (error) {
    if (error instanceof RangeError) return { fault: `it is ${error.message}`, of: 'entry' }
    throw error
  }
}

function faultOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not valid JSON; was it downloaded to its end?'
  return error instanceof TypeError ? 'it is not UTF-8' : messageOf(error)
}

const space: ReadonlySet<number | undefined> = new Set([...' \t\r\n'].map((character) => character.charCodeAt(0)))
const byteOrderMark = Buffer.from('\ufeff')
const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"\\,[]{}')

/**
 * The bytes of each element of the array that a file holds, or of the one value. Whether these are JSON, the caller finds out; what
 * is between them is checked.
 *
 * @throws SyntaxError where that is not JSON; Error for an element that is too large
 */
async function* sliceEntries(handle: FileHandle): AsyncGenerator<Uint8Array> {
  const window = openWindow(handle)
  await window.skipMark()
  if ((await window.peek()) !== openBracket) {
    yield await window.take((bytes) => bytes.length)
    return
  }
  window.skip()
  if ((await window.peek()) === closeBracket) window.skip()
  else {
    let separator: number | undefined
    do {
      yield await window.take(endOfValue)
      separator = await window.peek()
      window.skip()
    } while (separator === comma)
    if (separator !== closeBracket) throw new SyntaxError('the array has no end')
  }
  if ((await window.peek()) !== undefined) throw new SyntaxError('more than one value')
}

/** What was read of a file and is still needed, and the place in it. */
function openWindow(handle: FileHandle) {
  let bytes = Buffer.alloc(0)
  let at = 0
  async function readMore(): Promise<boolean> {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    const { bytesRead } = await handle.read(chunk)
    bytes = Buffer.concat([bytes.subarray(at), chunk.subarray(0, bytesRead)])
    at = 0
    return bytesRead > 0
  }
  async function peek(): Promise<number | undefined> {
    do {
      while (space.has(bytes[at])) at++
      if (at < bytes.length) return bytes[at]
    } while (await readMore())
    return undefined
  }
  return {
    /** The next byte that is no space; `undefined` at the end. */
    peek,
    skip: () => void at++,
    /** A byte order mark. */
    async skipMark(): Promise<void> {
      await peek()
      if (bytes.subarray(at, at + 3).equals(byteOrderMark)) at += 3
    },
    /** The bytes up to where `endOf` says, which gives the length where it finds no end. */
    async take(endOf: (bytes: Uint8Array, start: number) => number): Promise<Uint8Array> {
      let end = endOf(bytes, at)
      while (end === bytes.length && (await readMore())) {
        if (bytes.length > maxEntryBytes) {
          throw new Error(`an entry is larger than ${maxEntryBytes} bytes; Event Grid takes events of 1 MiB`)
        }
        end = endOf(bytes, at)
      }
      const taken = bytes.subarray(at, end)
      at = end
      return taken
    },
  }
}

/** Index of the comma or bracket behind an element. */
function endOfValue(bytes: Uint8Array, start: number): number {
  let depth = 0
  let isText = false
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (isText) {
      if (byte === backslash) at++
      else if (byte === quote) isText = false
    } else if (byte === quote) isText = true
    else if (byte === openBrace || byte === openBracket) depth++
    else if (depth === 0 && (byte === comma || byte === closeBrace || byte === closeBracket)) return at
    else if (byte === closeBrace || byte === closeBracket) depth--
  }
  return bytes.length
}
