/** Reads the body of a request up to a limit, within a bound of memory for all unfinished ones. */
import type { Readable } from 'node:stream'

/**
 * How reading a body ended without its bytes: it is over the limit, or there was no room for it. Symbols, because a hook of the host may
 * replace a body by any text.
 */
export const overLimit = Symbol('body over the limit')
export const noRoom = Symbol('no room for the body')

/** The bytes of a body, or why there are none. */
export type BodyResult = Buffer | typeof overLimit | typeof noRoom

/** Memory for unfinished bodies: senders who stop early cannot fill the memory. */
export interface BodyBudget {
  /** The most bytes of all unfinished bodies together. */
  readonly maxBytes: number
  /** Bytes of the unfinished bodies. */
  usedBytes: number
}

/**
 * Reads a body and counts its bytes, because a chunked body declares no length. Stops reading beyond `limit`. Calls back once; with an
 * error for a body that is cut off. A hook of the host may replace the stream: an error, too, if that stream breaks, or gives neither
 * bytes nor text.
 */
export function readBody(
  body: Readable,
  limit: number,
  budget: BodyBudget,
  done: (error: Error | null, result?: BodyResult) => void,
): void {
  let chunks: Buffer[] = []
  let length = 0
  let ended = false
  const end = (error: Error | null, result?: BodyResult) => {
    if (ended) return
    ended = true
    budget.usedBytes -= length
    // The request lives until the handler has ended; its chunks need not.
    chunks = []
    done(error, result)
  }
  body.on('data', (chunk: unknown) => {
    if (ended) return
    const bytes = bytesOf(chunk)
    if (bytes === undefined) return end(new TypeError('the stream of the body gives neither bytes nor text'))
    length += bytes.length
    budget.usedBytes += bytes.length
    if (length <= limit && budget.usedBytes <= budget.maxBytes) return void chunks.push(bytes)
    body.pause()
    end(null, length > limit ? overLimit : noRoom)
  })
  body.on('end', () => end(null, joined(chunks, length)))
  const breakOff = () => {
    // Each body is closed. An Error costs a fifth of a delivery, so it is made only for a body that has not ended.
    if (!ended) end(new Error('the body was cut off'))
  }
  body.on('error', breakOff)
  body.on('close', breakOff)
}

/** A hook of the host may give text or other arrays of bytes in place of a Buffer. `undefined` for anything else. */
export function bytesOf(value: unknown): Buffer | undefined {
  if (Buffer.isBuffer(value)) return value
  if (typeof value === 'string') return Buffer.from(value)
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined
}

/** An event keeps its body in memory, and must not keep a larger buffer of the connection with it. */
function joined(chunks: readonly Buffer[], length: number): Buffer {
  const [first] = chunks
  return first?.length === length && first.buffer.byteLength === length ? first : Buffer.concat(chunks, length)
}
