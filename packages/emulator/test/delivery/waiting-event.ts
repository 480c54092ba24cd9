import type { PendingEvent } from '../../src/delivery/send/channel.ts'
import { eventOf } from '../../src/model/events/event-text.ts'

/** A CloudEvent on its way, of which only the id matters. */
export const waitingEvent = (id: string, changes: Partial<PendingEvent> = {}): PendingEvent => ({
  event: { schema: 'CloudEventSchemaV1_0', body: eventOf({ specversion: '1.0', id, source: '/s', type: 't' }) },
  acceptedAt: 0,
  attempts: 0,
  ...changes,
})
