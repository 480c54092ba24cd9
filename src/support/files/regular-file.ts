// Reading a regular file, by default at most 16 MiB; pipes, sockets and devices refused.
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'

/** Without blocking: opening a named pipe waits for a writer otherwise. Windows has no such flag, and no such files. */
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

const maxTextBytes = 16 * 1024 * 1024

/**
 * The text of a regular file of at most 16 MiB. Rejects as Node does for a folder (EISDIR) or where it can't be
 * opened, and with an Error for a pipe, a socket or a device: reading one could wait for ever.
 */
export async function readRegularFile(file: string): Promise<string> {
  return decode(await readRegularBytes(file, maxTextBytes))
}

/** The same, but its bytes, of at most so many. */
export async function readRegularBytes(file: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(file, flags)
  try {
    check(await handle.stat(), maxBytes)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** The same as {@link readRegularFile}, at once. */
export function readRegularFileSync(file: string): string {
  const descriptor = openSync(file, flags)
  try {
    check(fstatSync(descriptor), maxTextBytes)
    return decode(readFileSync(descriptor))
  } finally {
    closeSync(descriptor)
  }
}

/** By the byte order mark, which Windows tools write; without one UTF-8. The mark is no part of the text. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  return new TextDecoder().decode(bytes)
}

function check(stats: Stats, maxBytes: number): void {
  // Reading a folder fails by itself, with EISDIR.
  if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is a pipe, a socket or a device, not a regular file')
  if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`)
}
