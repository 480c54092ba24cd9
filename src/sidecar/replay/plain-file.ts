/** A file that nobody can have put in place of another one: whether one is there, and its lines. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'

/** Fails for a link, and does not wait for a pipe. Windows has neither flag. */
const ownFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
const chunkBytes = 64 * 1024

/**
 * Whether a file is there that nobody can have put in place of another one: throws an Error for a link, for a file with a second name (a
 * hard link), and for what is no regular file.
 */
export function isPlainFile(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (!stats) return false
  if (stats.isSymbolicLink()) throw new Error('it is a link')
  if (stats.isDirectory()) throw new Error('it is a folder')
  if (!stats.isFile()) throw new Error('it is a pipe, a socket or a device, not a regular file')
  if (stats.nlink > 1) throw new Error('it has a second name (a hard link); remove that one, or copy the file')
  return true
}

/** The lines of a file, which is no link; longer ones are cut. Throws as Node does, and an Error for what is no regular file. */
export function* linesOfFile(
  file: string,
  { maxBytes, maxLineBytes }: { readonly maxBytes: number; readonly maxLineBytes: number },
): Generator<string> {
  const descriptor = openSync(file, ownFlags)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > maxBytes) throw new Error('it is no file, or too large')
    const buffer = Buffer.allocUnsafe(chunkBytes)
    let rest = ''
    for (let read = readSync(descriptor, buffer); read > 0; read = readSync(descriptor, buffer)) {
      const lines = (rest + buffer.toString('latin1', 0, read)).split('\n')
      rest = (lines.pop() ?? '').slice(0, maxLineBytes)
      for (const line of lines) yield Buffer.from(line, 'latin1').toString()
    }
    if (rest !== '') yield Buffer.from(rest, 'latin1').toString()
  } finally {
    closeSync(descriptor)
  }
}
