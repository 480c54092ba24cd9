// How much of a request's body is still taken before an answer that does not need it: 64 MiB, 10 s, 1 s of silence.
import type { IncomingMessage } from 'node:http'

/** The longest time, in milliseconds. */
export const takeRestMs = 10_000

const limits = { bytes: 64 * 1024 * 1024, silenceMs: 1_000 } as const

/**
 * Takes what is on its way of a request's body, and drops it. A client that still writes would see a broken connection in place of
 * the answer. Resolves at the end of the body, at a limit, or when the client has gone.
 */
export async function takeRest(request: IncomingMessage): Promise<void> {
  // One of `app.inject` has no `complete`.
  if (request.complete || request.readableEnded || request.destroyed) return
  const { promise, resolve } = Promise.withResolvers<void>()
  let bytes = 0
  const total = setTimeout(resolve, takeRestMs)
  const silence = setTimeout(resolve, limits.silenceMs)
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > limits.bytes) resolve()
    silence.refresh()
  }
  const ends = ['end', 'close', 'error'] as const
  request.on('data', count)
  for (const end of ends) request.on(end, resolve)
  request.resume()
  await promise
  clearTimeout(total)
  clearTimeout(silence)
  request.off('data', count)
  for (const end of ends) request.off(end, resolve)
}
