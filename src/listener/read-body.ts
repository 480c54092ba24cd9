import type { IncomingMessage } from 'node:http'

/** How reading a body ended: complete, over the limit, or cut off by the sender. */
export type BodyResult = Buffer | 'tooLarge' | 'cutOff'

/** Reads a request's body and counts while it reads, so that a chunked one is bounded too. Over `limit` bytes it reads no further. */
export function readBody(request: IncomingMessage, limit: number, done: (result: BodyResult) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  const end = (result: BodyResult) => {
    request.off('data', onData).off('end', onEnd).off('error', onCutOff).off('close', onCutOff)
    // An error may still follow, and without a listener it would end the process.
    request.on('error', () => {})
    done(result)
  }
  const onData = (chunk: Buffer) => {
    length += chunk.length
    if (length > limit) {
      request.pause()
      end('tooLarge')
    } else chunks.push(chunk)
  }
  const onEnd = () => {
    const [only] = chunks
    end(only && chunks.length === 1 ? only : Buffer.concat(chunks, length))
  }
  const onCutOff = () => end('cutOff')
  request.on('data', onData).on('end', onEnd).on('error', onCutOff).on('close', onCutOff)
}
