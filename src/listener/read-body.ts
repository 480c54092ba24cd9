import type { IncomingMessage } from 'node:http'

/** How reading a body ended: complete, over the limit, without room for it, or cut off by the sender. */
export type BodyResult = Buffer | 'tooLarge' | 'noRoom' | 'cutOff'

/** Reads a request's body and counts while it reads, so that a chunked one is bounded too. Over `limit` bytes it reads no further. */
export type BodyReader = (request: IncomingMessage, limit: number, done: (result: BodyResult) => void) => void

/**
 * Makes a reader whose unfinished bodies take `maxBytes` together and no more, so that a thousand senders who stop before
 * the last byte hold no memory worth mentioning.
 */
export function createBodyReader(maxBytes: number): BodyReader {
  let held = 0
  return (request, limit, done) => {
    let chunks: Buffer[] = []
    let length = 0
    let ended = false
    const end = (result: BodyResult) => {
      if (ended) return
      ended = true
      held -= length
      // The request outlives its body: it is there until the handler has ended.
      chunks = []
      done(result)
    }
    request.on('data', (chunk: Buffer) => {
      if (ended) return
      length += chunk.length
      held += chunk.length
      if (length <= limit && held <= maxBytes) return void chunks.push(chunk)
      request.pause()
      end(length > limit ? 'tooLarge' : 'noRoom')
    })
    request.on('end', () => end(joined(chunks, length)))
    // Comes after every end, also after one by error; Node keeps the error to itself where nobody listens for it.
    request.on('close', () => end('cutOff'))
  }
}

/** Events keep views of a body, and must not keep a larger buffer of the connection with them; Node's parser gives each chunk its own. */
function joined(chunks: readonly Buffer[], length: number): Buffer {
  const [first] = chunks
  return first?.length === length && first.buffer.byteLength === length ? first : Buffer.concat(chunks, length)
}
