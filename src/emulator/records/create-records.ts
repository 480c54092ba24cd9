// The empty records of an emulator; short lists of events for them.
import type { EventList, Records } from './record-types.ts'
import { RecordRing } from './records.ts'

export const createRecords = (): Records => ({
  requests: new RecordRing(),
  deliveries: new RecordRing(),
  handshakes: new RecordRing(),
  deadLetters: new RecordRing(),
  warnings: new RecordRing(),
})

const maxNamed = 10

export function eventList<T>(events: readonly T[], nameOf: (event: T) => EventList['first'][number]): EventList {
  return { count: events.length, first: events.slice(0, maxNamed).map(nameOf) }
}
