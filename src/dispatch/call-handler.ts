/** One call of the application's handler, and the log of how it failed. */
import type { EventHandler, ReceivedEvent } from '../core/event.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { scrub } from '../core/scrub.ts'
import { cut, oneLine } from '../support/text/text.ts'
import { failedResult, isObject } from './failed-result.ts'
import type { Processing } from './processing.ts'
import { readThrown } from './thrown-value.ts'

/** How a handler call ended. */
export type CallOutcome = 'resolved' | 'rejected' | 'threw'

export interface HandlerReports {
  readonly log: QuietLog
  /** Our secrets, which an error of the handler may repeat. Asked when a line is written. @default none */
  readonly secrets?: (() => readonly string[]) | undefined
}

/**
 * Calls the handler with one event. `onEnd` is called once, before this function returns if the handler is synchronous: an event of a
 * synchronous handler costs no promise.
 */
export function callHandler(
  handler: EventHandler,
  event: ReceivedEvent,
  { log, secrets }: HandlerReports,
  processing: Processing,
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
    // Cleaned only where the line is written: that takes longer than all else here.
    const fields = () => ({ id: oneLine(id, 120), error: cut(scrub(reason, secrets?.()), 300) })
    processing.run(() => log.warn(message, fields, oneLine(reason.slice(0, 1_000), 300)), undefined)
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
  if (isObject(result)) void settle(result, resolve, fail)
  else resolve()
}

/** `await` makes a failure of an object whose `then` throws when it is read. */
async function settle(result: unknown, resolve: () => void, fail: (error: unknown) => void): Promise<void> {
  try {
    const failed = failedResult(await result)
    if (failed !== undefined) throw new TypeError(`the handler returned ${failed}`)
  } catch (error) {
    fail(error)
    return
  }
  resolve()
}
