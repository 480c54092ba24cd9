import type { EventHandler, ReceivedEvent } from '../core/event.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { oneLine } from '../support/text.ts'
import { readThrown } from './handler-error.ts'

/** How a handler call ended. */
export type CallOutcome = 'resolved' | 'rejected' | 'threw'

/**
 * Calls the handler with one event. `onEnd` is called once, before this function returns if the handler is synchronous: an event of a
 * synchronous handler costs no promise.
 */
export function callHandler(
  handler: EventHandler,
  event: ReceivedEvent,
  log: QuietLog,
  onEnd: (outcome: CallOutcome) => void,
): void {
  // The handler may change the event.
  const { id } = event.cloudEvent
  const fail = (error: unknown) => onEnd(judgeError(error, id, log))
  let result: unknown
  try {
    result = handler(event)
  } catch (error) {
    fail(error)
    return
  }
  if ((typeof result !== 'object' || result === null) && typeof result !== 'function') onEnd('resolved')
  else settled(result).then(() => onEnd('resolved'), fail)
}

/** `await` makes a failure of an object whose `then` throws when it is read. */
async function settled(result: unknown): Promise<void> {
  await result
}

function judgeError(error: unknown, eventId: string, log: QuietLog): CallOutcome {
  const { rejected, reason } = readThrown(error)
  const message = rejected ? 'the handler rejected an event' : 'the handler failed, so the event is not acknowledged'
  const text = oneLine(reason, 300)
  log.warn(message, { id: oneLine(eventId, 120), error: text }, text)
  return rejected ? 'rejected' : 'threw'
}
