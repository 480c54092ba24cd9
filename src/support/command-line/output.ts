/** Writes to stdout and stderr. A write never ends or blocks the process, and memory is bounded: text that can't be written is dropped. */
import { fstatSync, writeFile, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import type { OutputStream } from './terminal.ts'

/** An {@link OutputStream} that tells what became of the texts. */
export interface Output extends OutputStream {
  /** Number of dropped texts: the disk was full, the reader was gone, or too many bytes were waiting for the reader. */
  readonly dropped: number
  /** Why the last dropped text was not written. */
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

/** Whether Node's own stream writes without blocking: for a pipe or a socket, and on Windows for every kind of output. */
function isPipe(descriptor: number): boolean {
  const stats = fstatSync(descriptor)
  return stats.isFIFO() || stats.isSocket() || process.platform === 'win32'
}

/**
 * The stream for a file or a terminal. Node's own stream reports success when the disk had room for only a part of the text. It also
 * blocks the whole process while a terminal is stopped, for instance by Ctrl-S.
 *
 * @param ended gets the error of each text, or `null` when the text was written
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
