/** One HTTP request to the application, which settles however it ends. */
import type { ClientRequest, IncomingMessage } from 'node:http'

export type Outcome =
  | { readonly status: number }
  /** `isAnswered`: the other side has begun to answer, so it has seen the request. */
  | { readonly error: unknown; readonly isAnswered: boolean }

/** Longest answer in bytes that is read to its end, so that the connection can be used again. Nobody needs its content. */
const maxDrained = 65_536

/**
 * Sends a request and reads its answer to the end. Settles however the call ends: by an answer, an upgrade, an error, a
 * connection that is closed without a word, or the signal. A connection that can't be used again is closed.
 */
export function sendRequest(out: ClientRequest, body: Buffer | undefined, signal: AbortSignal): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  let isAnswered = false
  let hasBody = false

  const fail = (error: unknown) => resolve({ error, isAnswered })
  const onAbort = () => fail(signal.reason)

  function read(answer: IncomingMessage): void {
    isAnswered = hasBody = true
    const { statusCode: status = 0 } = answer
    const done = () => resolve({ status })
    // A 101 that names no protocol: what follows is no body, and would have no end.
    if (status === 101) {
      done()
      out.destroy()
      return
    }
    let length = 0
    answer
      .on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length <= maxDrained) return
        done()
        out.destroy()
      })
      .on('end', done)
      .on('error', fail)
      .on('close', () => fail(new Error('the answer is incomplete')))
  }

  signal.addEventListener('abort', onAbort, { once: true })
  out
    .on('response', read)
    // Nobody asked for an upgrade. Node then emits neither a response nor an error.
    .on('upgrade', ({ statusCode = 0 }, socket) => {
      socket.destroy()
      resolve({ status: statusCode })
    })
    .on('information', () => {
      isAnswered = true
    })
    .on('error', fail)
    // An answer that ends with its connection is still read after this.
    .on('close', () => hasBody || fail(new Error('the connection was closed')))
    .end(body)
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    if (signal.aborted || !out.writableFinished) out.destroy()
  })
}
