import { describe, expect, it } from 'vitest'
import { deadLetterPath } from '../../src/dead-letters/write-dead-letters.ts'
import type { DeadLetterStore, EventSubscriptionProperties } from '../../src/index.ts'
import { cloudEvent, type EventGridOptions, gridEvent, openEventGrid, publish } from '../event-grid.ts'

const minute = 60_000
const storageAccountId = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/lost'
const deadLetterDestination = {
  endpointType: 'StorageBlob',
  properties: { resourceId: storageAccountId, blobContainerName: 'letters' },
} as const

/** A store that keeps blobs in an array, and refuses as long as it is told to. */
function shelf() {
  const blobs: Parameters<DeadLetterStore['write']>[0][] = []
  const state = { away: false, tries: 0 }
  const deadLetterStore: DeadLetterStore = {
    async write(blob) {
      state.tries++
      if (state.away) throw new Error('away')
      blobs.push(blob)
    },
  }
  return { blobs, state, deadLetterStore }
}

/** An Event Grid whose subscriber refuses the first two deliveries. */
async function openFailing(
  settings: Omit<EventSubscriptionProperties, 'destination'> = { deadLetterDestination },
  topic: EventGridOptions['topic'] = {},
) {
  const { deadLetterStore, ...store } = shelf()
  const grid = await openEventGrid({ deadLetterStore, topic })
  await grid.subscribe(settings)
  grid.subscriber.answer({ status: 400 }, { status: 400 })
  return { grid, ...store }
}

describe('a dead-lettered event', () => {
  it('is written five minutes after its last try, with what happened to it', async () => {
    const { grid, blobs } = await openFailing()
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(5 * minute - 1)
    expect(blobs).toHaveLength(0)
    expect(grid.emulator.pending).toBe(1)
    expect(grid.records.deliveries.last).toMatchObject({ outcome: 'dead-lettered' })
    await grid.clock.advance(1)
    expect(blobs[0]).toMatchObject({ storageAccountId, container: 'letters' })
    expect(blobs[0]?.path).toMatch(/^SUB1\/2026\/1\/5\/14\/[0-9a-f-]{36}\.json$/)
    expect(JSON.parse(blobs[0]?.content ?? '')).toEqual([
      {
        ...cloudEvent(),
        deadletterreason: 'UndeliverableDueToClientError',
        deliveryattempts: 1,
        lastdeliveryoutcome: 'BadRequest',
        lasthttpstatuscode: 400,
        publishtime: '2026-01-05T14:07:09.0000000Z',
        lastdeliveryattempttime: '2026-01-05T14:07:09.0000000Z',
      },
    ])
    expect(grid.records.deadLetters.last).toMatchObject({ blobPath: `letters/${blobs[0]?.path}` })
    expect(grid.emulator.pending).toBe(0)
  })

  it('of the Event Grid schema has its reasons in its own spelling', async () => {
    const { grid, blobs } = await openFailing(
      { deadLetterDestination, eventDeliverySchema: 'EventGridSchema', retryPolicy: { maxDeliveryAttempts: 2 } },
      { inputSchema: 'EventGridSchema' },
    )
    grid.subscriber.answerTo('/api/events?code=s3cret', { status: 404 })
    await publish(grid, [gridEvent()])
    await grid.clock.advance(10 * minute)
    expect(JSON.parse(blobs[0]?.content ?? '')).toEqual([
      {
        ...gridEvent(),
        topic: grid.topic.id,
        metadataVersion: '1',
        deadLetterReason: 'MaxDeliveryAttemptsExceeded',
        deliveryAttempts: 2,
        lastDeliveryOutcome: 'NotFound',
        lastHttpStatusCode: 404,
        publishTime: '2026-01-05T14:07:09.0000000Z',
        lastDeliveryAttemptTime: '2026-01-05T14:12:09.0000000Z',
      },
    ])
  })

  it('of a custom schema is wrapped into an Event Grid event', async () => {
    const { grid, blobs } = await openFailing(
      { deadLetterDestination, eventDeliverySchema: 'CustomInputSchema' },
      { inputSchema: 'CustomEventSchema' },
    )
    const event = { subject: 's', eventType: 'T', own: 1 }
    await publish(grid, [event], { headers: { 'content-type': 'application/json' } })
    await grid.clock.advance(5 * minute)
    expect(JSON.parse(blobs[0]?.content ?? '')[0]).toMatchObject({ eventType: 'T', data: event, deliveryAttempts: 1 })
  })

  it('shares its blob with those that are due with it, in a container that an identity may write to', async () => {
    const { grid, blobs } = await openFailing({ deadLetterWithResourceIdentity: { deadLetterDestination } })
    await publish(grid, [cloudEvent({ id: 'a' }), cloudEvent({ id: 'b' })])
    await grid.clock.advance(5 * minute)
    expect(blobs).toHaveLength(1)
    expect(JSON.parse(blobs[0]?.content ?? '')).toHaveLength(2)
  })

  it('waits for a store that is away', async () => {
    const { grid, blobs, state } = await openFailing()
    state.away = true
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(60 * minute)
    expect(state.tries).toBeGreaterThan(1)
    expect(grid.emulator.pending).toBe(1)
    state.away = false
    await grid.clock.advance(5 * minute)
    expect(blobs).toHaveLength(1)
    await grid.emulator.settled()
  })

  it('is dropped after four hours without a store', async () => {
    const { grid, state } = await openFailing()
    state.away = true
    await publish(grid, [cloudEvent()])
    await grid.clock.advance((4 * 60 + 4) * minute)
    expect(grid.emulator.pending).toBe(1)
    await grid.clock.advance(minute)
    expect(grid.emulator.pending).toBe(0)
    expect(grid.records.deadLetters.last).toMatchObject({ events: [{ id: 'e1' }] })
    expect(grid.records.deadLetters.last?.blobPath).toBeUndefined()
  })
})

it('numbers in the path have no padding zeroes, and are in UTC', () => {
  expect(deadLetterPath('NAME', Date.UTC(2026, 8, 3, 4, 59), 'id')).toBe('NAME/2026/9/3/4/id.json')
})
