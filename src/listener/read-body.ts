import type { Readable } from 'node:stream'

/** How reading a body ended: complete, over the limit, or without room for it. */
export type BodyResult = Buffer | 'tooLarge' | 'noRoom'

/** Memory for unfinished bodies: senders who stop early cannot fill the memory. */
export interface BodyBudget {
  /** The most bytes of all unfinished bodies together. */
  readonly maxBytes: number
  /** Bytes of the unfinished bodies. */
  held: number
}

/**
 * Reads a body and counts its bytes, because a chunked body declares no length. Stops reading beyond `limit`. Never calls back for a
 * body that is cut off.
 */
export function readBody(body: Readable, limit: number, budget: BodyBudget, done: (result: BodyResult) => void): void {
  let chunks: Buffer[] = []
  let length = 0
  let ended = false
  const end = (result?: BodyResult) => {
    if (ended) return
    ended = true
    budget.held -= length
    // The request lives until the handler has ended; its chunks need not.
    chunks = []
    if (result !== undefined) done(result)
  }
  body.on('data', (chunk: Buffer) => {
    if (ended) return
    length += chunk.length
    budget.held += chunk.length
    if (length <= limit && budget.held <= budget.maxBytes) return void chunks.push(chunk)
    body.pause()
    end(length > limit ? 'tooLarge' : 'noRoom')
  })
  body.on('end', () => end(joined(chunks, length)))
  // Cut off, or broken by a stream that a host's hook put in place of the request: nobody is left to answer.
  const abandon = () => end()
  body.on('error', abandon)
  body.on('close', abandon)
}

/** An event keeps its body in memory, and must not keep a larger buffer of the connection with it. */
function joined(chunks: readonly Buffer[], length: number): Buffer {
  const [first] = chunks
  return first?.length === length && first.buffer.byteLength === length ? first : Buffer.concat(chunks, length)
}
