/** Until when a caller waits for its answer: a call that is cancelled, or whose connection has ended, is not worth going on with. */
import type { EventEmitter } from 'node:events'

/**
 * Runs work with a signal that aborts when nobody waits for its result any more.
 *
 * @param gone the event that says so: `cancelled` of a gRPC call, `close` of the answer to an HTTP request
 */
export async function whileAwaited<Result>(
  call: EventEmitter,
  gone: 'cancelled' | 'close',
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  call.once(gone, abort)
  try {
    return await work(controller.signal)
  } finally {
    // Both come after the answer as well.
    call.off(gone, abort)
  }
}
