import { expect, it } from 'vitest'
import { Fifo, takeBatch } from '../../../src/delivery/queue/waiting-events.ts'
import type { PendingEvent } from '../../../src/delivery/send/channel.ts'
import type { WebHookProperties } from '../../../src/model/resources/destination.ts'
import { waitingEvent } from '../waiting-event.ts'

const minute = 60_000

/** What is taken of events by their ids, at the time 60,000, where an event lives for a minute and has 400 bytes. */
function take(events: readonly PendingEvent[], webhook?: Partial<WebHookProperties>) {
  const queue = new Fifo<PendingEvent>()
  for (const event of events) queue.push(event)
  const expired: PendingEvent[] = []
  const endpointUrl = 'https://a.example'
  const batch = takeBatch(queue, {
    subscription: {
      ...{ id: '/s/app', scope: '/s', name: 'app', provisioningState: 'Succeeded', createdAt: 0 },
      properties: { destination: { endpointType: 'WebHook', properties: { endpointUrl, ...webhook } } },
    },
    now: minute,
    timeToLiveMs: minute,
    sizeOf: () => 400,
    expired: (event) => void expired.push(event),
  })
  const idsOf = (all: readonly PendingEvent[]) => all.map(({ event }) => event.body.value.id).join()
  const left = Array.from({ length: queue.size }, () => queue.shift()).flatMap((one) => one ?? [])
  return { batch: idsOf(batch), expired: idsOf(expired), left: idsOf(left) }
}

const young = (id: string, attempts = 0) => waitingEvent(id, { acceptedAt: 1, attempts })
const old = (id: string) => waitingEvent(id, { acceptedAt: 0 })

it.each<{ what: string; events: readonly PendingEvent[]; webhook?: Partial<WebHookProperties>; taken: object }>([
  { what: 'nothing of nothing', events: [], taken: { batch: '', expired: '', left: '' } },
  {
    what: 'one event without batching',
    events: [young('a'), young('b')],
    taken: { batch: 'a', expired: '', left: 'b' },
  },
  {
    what: 'one event where a batch has one',
    events: [young('a'), young('b')],
    webhook: { maxEventsPerBatch: 1 },
    taken: { batch: 'a', expired: '', left: 'b' },
  },
  {
    what: 'what is too old, and the first that is not',
    events: [old('a'), old('b'), young('c'), old('d')],
    taken: { batch: 'c', expired: 'a,b', left: 'd' },
  },
  {
    what: 'as many as a batch may have, without the old ones',
    events: [young('a'), old('b'), young('c'), young('d')],
    webhook: { maxEventsPerBatch: 2 },
    taken: { batch: 'a,c', expired: 'b', left: 'd' },
  },
  {
    what: 'events of as many attempts as the first one',
    events: [young('a', 1), young('b', 1), young('c')],
    webhook: { maxEventsPerBatch: 10 },
    taken: { batch: 'a,b', expired: '', left: 'c' },
  },
  {
    what: 'events up to the preferred size, which 1,024 bytes are',
    events: [young('a'), young('b'), young('c')],
    webhook: { maxEventsPerBatch: 10, preferredBatchSizeInKilobytes: 1 },
    taken: { batch: 'a,b', expired: '', left: 'c' },
  },
  {
    what: 'all of the preferred size exactly, 64 KiB by default',
    events: Array.from({ length: 163 }, (_, index) => young(`${index % 10}`)),
    webhook: { maxEventsPerBatch: 1_000 },
    taken: { batch: Array.from({ length: 163 }, (_, index) => index % 10).join(), expired: '', left: '' },
  },
  {
    what: 'no more than the 64 KiB of the default',
    events: Array.from({ length: 164 }, (_, index) => young(`${index % 10}`)),
    webhook: { maxEventsPerBatch: 1_000 },
    taken: { batch: Array.from({ length: 163 }, (_, index) => index % 10).join(), expired: '', left: '3' },
  },
])('takes $what', ({ events, webhook, taken }) => expect(take(events, webhook)).toEqual(taken))
