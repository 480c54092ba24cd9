/** What is written on stdout or stderr never ends, blocks or bloats the process: what can't be written is dropped and counted. */
import { fstatSync, writeFile, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import type { OutputStream } from './terminal.ts'

/** An {@link OutputStream} that tells what became of the texts. */
export interface Output extends OutputStream {
  /** Texts that were not written: the disk is full, their reader has gone, or too many wait for him. */
  readonly dropped: number
  /** Why the last one of them was not written. */
  readonly fault: Error | undefined
  /** Resolves when no text waits any more: each is written or dropped. */
  settled(): Promise<void>
}

/** Bytes that wait for a reader. A text that comes on top of as many is dropped. */
const maxWaitingBytes = 4 * 1_048_576

const outputs = new Map<1 | 2, Output>()

/** The door to stdout (1) or stderr (2), the same for all who write there. */
export function outputOf(descriptor: 1 | 2): Output {
  const output = outputs.get(descriptor) ?? createOutput(descriptor)
  outputs.set(descriptor, output)
  return output
}

function createOutput(descriptor: 1 | 2): Output {
  const standard = descriptor === 1 ? process.stdout : process.stderr
  // Without a listener an error would end the process. Node goes on with these streams after one.
  standard.on('error', () => {})
  let dropped = 0
  let fault: Error | undefined
  const ended = (error: Error | null | undefined) => {
    if (!error) return
    dropped++
    fault = error
  }
  const stream = isPipe(descriptor) ? standard : fileStream(descriptor, ended)
  return {
    isTTY: standard.isTTY === true,
    get columns() {
      return standard.columns
    },
    get dropped() {
      return dropped
    },
    get fault() {
      return fault
    },
    write(text) {
      if (stream.writableLength > maxWaitingBytes) ended(new Error('nobody reads it'))
      else stream.write(text, ended)
    },
    settled: () => new Promise((resolve) => stream.write('', () => resolve())),
  }
}

/** Of a pipe or socket Node's own stream waits for the reader without blocking. On Windows this is so of all. */
function isPipe(descriptor: number): boolean {
  const stats = fstatSync(descriptor)
  return stats.isFIFO() || stats.isSocket() || process.platform === 'win32'
}

/**
 * For a file or a terminal. Node's own stream takes a text for written of which the disk had room for a part, and waits for a terminal
 * that is stopped, as by Ctrl-S, so that the whole process stands still.
 *
 * @param ended is told what became of each text
 */
function fileStream(descriptor: number, ended: (error: Error | null) => void): Writable {
  const isTerminal = isatty(descriptor)
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      const written = (error: Error | null) => {
        ended(error)
        done()
      }
      if (isTerminal) writeFile(descriptor, chunk, written)
      else written(writeNow(descriptor, chunk))
    },
  })
}

/** Synchronous: the last lines before a crash are in the file. */
function writeNow(descriptor: number, chunk: Buffer): Error | null {
  try {
    writeFileSync(descriptor, chunk)
    return null
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
