import { expect, it } from 'vitest'
import { RejectEvent } from '../../src/index.ts'
import { openWorld } from '../support/open-world.ts'

const events = {
  EventGridSchema: {
    ...{ id: '1', eventType: 'order.placed', subject: '/orders/1', dataVersion: '1.0' },
    ...{ eventTime: '2026-03-11T08:00:00.1234567Z', data: { order: 1, list: [null, 'x'] } },
  },
  CloudEventSchemaV1_0: {
    ...{ specversion: '1.0', id: '1', type: 'order.placed', source: '/shop', subject: '', myext: 'kept' },
    ...{ time: '2026-03-11T08:00:00.1234567Z', datacontenttype: 'application/json' },
    data: { order: 1, list: [null, 'x'] },
  },
} as const
it.each(['EventGridSchema', 'CloudEventSchemaV1_0'] as const)(
  'a dead letter of a topic with the schema %s is published again as the event it was',
  async (schema) => {
    const letters: string[] = []
    let isRefused = true
    const world = await openWorld({
      emulator: {
        topics: [{ name: 'orders', inputSchema: schema }],
        deadLetterStore: { write: async ({ content }) => void letters.push(content) },
      },
      binding: {
        onEvent() {
          if (isRefused) throw new RejectEvent('not now')
        },
      },
    })
    await world.init({
      eventDeliverySchema: schema,
      deadLetterStorageAccountId:
        '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/shop',
      deadLetterContainer: 'dead',
    })
    await world.binding.invoke('create', events[schema])
    await expect.poll(() => letters).toHaveLength(1)
    expect(letters[0]).toMatch(/deadletterreason/i)
    isRefused = false
    expect((await world.binding.invoke('create', JSON.parse(letters[0] ?? ''))).ids).toEqual(['1'])
    await world.emulator.settled()
    expect(world.handled).toHaveLength(1)
    const posted = world.emulator.records.requests.filter(({ route, method }) => route === 'topic' && method === 'POST')
    const published = posted.map(({ body }) => body)
    expect(published).toEqual([[events[schema]], [expect.objectContaining(events[schema])]])
    expect(JSON.stringify(published[1])).not.toMatch(/deadletter|attempt|outcome|publishtime|httpstatus/i)
  },
)
