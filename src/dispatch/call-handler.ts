// One call of the application's handler; log lines for failures and rejections (120 characters of the id, 300 of the
// error).
import { type EventHandler, isRejectEvent, type ReceivedEvent } from '../core/event.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { otherError } from '../core/telemetry/opentelemetry.ts'
import { oneLine } from '../support/text/text.ts'
import type { Processing } from './processing.ts'
import { unfinishedWork } from './unfinished-work.ts'

/** How a handler call ended. */
export type CallOutcome = 'resolved' | 'rejected' | 'threw'

/**
 * Calls the handler with one event. `onEnd` is called once, before this function returns if the handler is synchronous: an event of a
 * synchronous handler costs no promise.
 */
export function callHandler(
  handler: EventHandler,
  event: ReceivedEvent,
  { log, processing }: { readonly log: QuietLog; readonly processing: Processing },
  onEnd: (outcome: CallOutcome) => void,
): void {
  // The handler may change the event.
  const { id } = event.cloudEvent
  const resolve = () => {
    processing.end()
    onEnd('resolved')
  }
  const fail = (error: unknown) => {
    const { rejected, type, reason } = readThrown(error)
    const message = rejected ? 'the handler rejected an event' : 'the handler failed, so the event is not acknowledged'
    const text = oneLine(reason, 300)
    processing.run(() => log.warn(message, { id: oneLine(id, 120), error: text }, text), undefined)
    processing.end(type)
    onEnd(rejected ? 'rejected' : 'threw')
  }
  let result: unknown
  try {
    result = processing.run(handler, event)
  } catch (error) {
    fail(error)
    return
  }
  if ((typeof result !== 'object' || result === null) && typeof result !== 'function') resolve()
  else void settle(result, resolve, fail)
}

/** `await` makes a failure of an object whose `then` throws when it is read. */
async function settle(result: unknown, resolve: () => void, fail: (error: unknown) => void): Promise<void> {
  try {
    const unfinished = unfinishedWork(await result)
    if (unfinished) throw new TypeError(`the handler returned ${unfinished}; it must return when the event is handled`)
  } catch (error) {
    fail(error)
    return
  }
  resolve()
}

/**
 * Reads what a handler threw: whether it is a `RejectEvent`, its class for `error.type` of its span, and a text for the log. It may be
 * anything, even an object whose properties throw when they are read; reading it must not end the process.
 */
function readThrown(error: unknown) {
  try {
    if (!(error instanceof Error)) return { rejected: false, type: otherError, reason: typeof error }
    const name = String(error.name)
    return { rejected: isRejectEvent(error), type: name, reason: `${name}: ${String(error.message)}` }
  } catch {
    return { rejected: false, type: otherError, reason: 'an error that cannot be read' }
  }
}
