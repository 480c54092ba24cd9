import type { IncomingMessage } from 'node:http'

/** How reading a body ended: complete, over the limit, or cut off by the sender. */
export type BodyResult = Buffer | 'tooLarge' | 'cutOff'

/** Reads a request's body and counts while it reads, so that a chunked one is bounded too. Over `limit` bytes it reads no further. */
export function readBody(request: IncomingMessage, limit: number, done: (result: BodyResult) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  let ended = false
  const end = (result: BodyResult) => {
    if (ended) return
    ended = true
    done(result)
  }
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length <= limit) chunks.push(chunk)
    else {
      request.pause()
      end('tooLarge')
    }
  })
  // A copy even of a single chunk: events keep views of it, and must not keep a larger buffer of the connection with them.
  request.on('end', () => end(Buffer.concat(chunks, length)))
  // Comes after every end, also after one by error; Node keeps the error to itself where nobody listens for it.
  request.on('close', () => end('cutOff'))
}
