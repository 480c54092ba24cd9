/** How much the queue of the publisher takes, in events and bytes. */
import { BindingError } from '../../core/errors.ts'
import type { PublisherLimits } from '../limits.ts'
import { type Load, noLoad } from './plan-requests.ts'

/** The room of the publish queue, in events and bytes. */
export function createQueueRoom({ maxQueuedEvents, maxQueuedBytes }: PublisherLimits) {
  let held = noLoad
  const exceeds = ({ events, bytes }: Load) => events > maxQueuedEvents || bytes > maxQueuedBytes

  /** @throws BindingError PAYLOAD_TOO_LARGE for a load that exceeds the whole room */
  function refuseTooLarge(load: Load): void {
    if (!exceeds(load)) return
    throw new BindingError('PAYLOAD_TOO_LARGE', {
      what: 'the payload is larger than the whole queue of the publisher',
      fix: `publish at most ${maxQueuedEvents} events and ${maxQueuedBytes} bytes in one call`,
    })
  }

  return {
    /** The load of all calls that are not settled. */
    held: () => held,
    refuseTooLarge,
    /** Reserves room. @throws BindingError PAYLOAD_TOO_LARGE, or OVERLOADED where other calls hold the room */
    take(load: Load): void {
      refuseTooLarge(load)
      const sum = { events: held.events + load.events, bytes: held.bytes + load.bytes }
      if (exceeds(sum)) {
        throw new BindingError('OVERLOADED', {
          what: `${held.events} events of ${held.bytes} bytes wait for the topic already`,
          fix: 'publish again later, or more slowly',
        })
      }
      held = sum
    },
    release(load: Load): void {
      held = { events: held.events - load.events, bytes: held.bytes - load.bytes }
    },
  }
}
