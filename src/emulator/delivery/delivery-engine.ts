import type { EventSubscription } from '../model/model.ts'
import type { Records } from '../records/record-types.ts'
import { createDestinations, type DestinationOptions, undeliveredReason } from './destinations.ts'
import { createEventTexts } from './event-texts.ts'
import { createPendingEvents, type PendingEventsOptions } from './pending-events.ts'
import { createWorkCounter } from './work-counter.ts'

export interface DeliveryEngineOptions
  extends DestinationOptions,
    Omit<PendingEventsOptions, 'records' | 'work' | 'texts' | 'isDelivered' | 'deliver'> {
  readonly records: Records
}

export type DeliveryEngine = ReturnType<typeof createDeliveryEngine>

/** The half of Event Grid that talks to subscribers. */
export function createDeliveryEngine(options: DeliveryEngineOptions) {
  const { settings } = options
  const work = createWorkCounter()
  const texts = createEventTexts()
  const destinations = createDestinations(options, settings, { texts, work })
  const { isDelivered, deliver } = destinations
  const { sendSoon, close, ...pending } = createPendingEvents({
    ...options,
    ...{ work, texts, isDelivered, deliver },
  })

  return {
    /** Runs the handshake of the subscription's schema. Never rejects. Fails early when the signal aborts. */
    validate: destinations.validate,
    /** Why the emulator does not deliver to the destination of a subscription; undefined if it does. */
    undelivered: (subscription: EventSubscription) => undeliveredReason(subscription, settings),
    /** Handles a call of a validation URL; false if the URL is unknown or expired. */
    confirmValidation: destinations.confirmValidation,
    ...pending,
    /** Whether the limit of pending events is reached. */
    full: options.bound.full,
    /** Resolves when nothing is under way or due now. Events that wait for a later attempt don't count. */
    async idle() {
      sendSoon()
      await work.idle()
    },
    /** As `idle`, but `stalled` soon if a subscriber is silent: a manual clock must advance to reach its time-out. */
    async quiet() {
      sendSoon()
      return work.quiet()
    },
    async close() {
      close()
      destinations.close()
      await work.idle()
    },
  }
}
