// Until when a caller waits for its answer: a call whose caller has cancelled it or has gone is not worth going on with.
import type { EventEmitter } from 'node:events'

/** A gRPC call, or the answer to an HTTP request. */
type Call = EventEmitter & ({ readonly cancelled: boolean } | { readonly destroyed: boolean })

/** Runs work with a signal that aborts when the caller cancels the call, or when its connection ends. */
export async function whileAwaited<Result>(
  call: Call,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  const event = 'cancelled' in call ? 'cancelled' : 'close'
  call.once(event, leave)
  if ('cancelled' in call ? call.cancelled : call.destroyed) leave()
  try {
    return await work(gone.signal)
  } finally {
    // Both come after the answer as well.
    call.off(event, leave)
  }
}
