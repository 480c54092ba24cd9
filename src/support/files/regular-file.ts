/** Reads a regular file, bounded in size, since reading a pipe could wait for ever. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { codeOf, messageOf } from '../process/error-code.ts'

/** Without blocking: opening a named pipe waits for its other end otherwise. Windows has no such flag, and no such files. */
const nonBlocking = constants.O_NONBLOCK ?? 0
const readFlags = constants.O_RDONLY | nonBlocking

const maxTextBytes = 16 * 1024 * 1024
const chunkBytes = 64 * 1024

/**
 * The text of a regular file of at most 16 MiB. Rejects as Node does for a folder (EISDIR) or where it can't be
 * opened, and with an Error for a pipe, a socket, a device or bytes of another encoding.
 */
export async function readRegularFile(file: string): Promise<string> {
  const handle = await open(file, readFlags).catch(refuse)
  const parts = collect(maxTextBytes)
  try {
    check(await handle.stat(), maxTextBytes)
    while (parts.add((await handle.read(parts.buffer)).bytesRead));
    return decode(parts.all())
  } finally {
    await handle.close()
  }
}

/** As {@link readRegularFile}, synchronously. */
export function readRegularFileSync(file: string): string {
  return decode(readRegularBytesSync(file, maxTextBytes))
}

/** The bytes of a regular file of at most `maxBytes`, synchronously. */
export function readRegularBytesSync(file: string, maxBytes: number): Buffer {
  const descriptor = openNow(file)
  try {
    check(fstatSync(descriptor), maxBytes)
    const parts = collect(maxBytes)
    while (parts.add(readSync(descriptor, parts.buffer)));
    return parts.all()
  } finally {
    closeSync(descriptor)
  }
}

function openNow(file: string): number {
  try {
    return openSync(file, readFlags)
  } catch (error) {
    return refuse(error)
  }
}

/** Keeps what is read into `buffer`. Some files are longer than the system says, and some never end. */
function collect(maxBytes: number) {
  const parts: Buffer[] = []
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let length = 0
  return {
    buffer,
    /** Whether there may be more. */
    add(read: number): boolean {
      length += read
      if (length > maxBytes) throw tooLarge(maxBytes)
      parts.push(Buffer.from(buffer.subarray(0, read)))
      return read > 0
    },
    all: () => Buffer.concat(parts, length),
  }
}

/** By the byte order mark, which Windows tools write; without one UTF-8. The mark is no part of the text. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    throw new Error('it is neither UTF-8 nor UTF-16 with a byte order mark')
  }
}

function check(stats: Stats, maxBytes: number): void {
  // Reading a folder fails by itself, with EISDIR.
  if (!stats.isFile() && !stats.isDirectory()) throw notRegular()
  if (stats.size > maxBytes) throw tooLarge(maxBytes)
}

/** A socket, and a pipe that nobody reads, can't even be opened. */
function refuse(error: unknown): never {
  throw codeOf(error) === 'ENXIO' ? notRegular() : error
}

const notRegular = () => new Error('it is a pipe, a socket or a device, not a regular file')
const tooLarge = (maxBytes: number) => new Error(`it is larger than ${maxBytes} bytes`)

/** The text of a file as {@link readRegularFileSync} gives it, or an Error that says what is wrong with the file, without its name. */
export function textOrError(file: string): string | Error {
  try {
    return readRegularFileSync(file)
  } catch (error) {
    return new Error(`can't be read: ${messageOf(error)}`, { cause: error })
  }
}

/** Like {@link textOrError}, but throws the Error. */
export function readText(file: string): string {
  const text = textOrError(file)
  if (text instanceof Error) throw text
  return text
}
