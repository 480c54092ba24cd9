// One call of the application's handler; log lines for failures and rejections (120 characters of the id, 300 of the
// error); generators refused.
import type { EventHandler, ReceivedEvent } from '../core/event.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { otherError } from '../core/telemetry/opentelemetry.ts'
import { oneLine } from '../support/text/text.ts'
import type { Processing } from './processing.ts'

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
    // Nothing of a generator has run, so the event is not handled.
    if (isGenerator(await result)) throw new TypeError('the handler returned a generator, which has not run')
  } catch (error) {
    fail(error)
    return
  }
  resolve()
}

const isGenerator = (value: unknown) => value !== undefined && /Generator/.test(Object.prototype.toString.call(value))

/**
 * Reads what a handler threw: whether it is a `RejectEvent`, its class for `error.type` of its span, and a text for the log. It may be
 * anything, even an object whose properties throw when they are read; reading it must not end the process. A `RejectEvent` is recognised
 * by its name, because a handler may have it from another copy of this package.
 */
function readThrown(error: unknown) {
  try {
    if (!(error instanceof Error)) return { rejected: false, type: otherError, reason: typeof error }
    const name = String(error.name)
    return { rejected: name === 'RejectEvent', type: name, reason: `${name}: ${String(error.message)}` }
  } catch {
    return { rejected: false, type: otherError, reason: 'an error that cannot be read' }
  }
}
