import { describe, expect, it } from 'vitest'
import { cloudEvent, type EventGrid, type EventGridOptions, openEventGrid, publish } from '../event-grid.ts'
import type { SubscriberAnswer } from '../subscriber.ts'

/** A published event whose deliveries are answered so, one each, and then 200. */
async function openFailing(
  answers: readonly SubscriberAnswer[],
  settings: Parameters<EventGrid['subscribe']>[0] = {},
  options: EventGridOptions = {},
) {
  const grid = await openEventGrid(options)
  await grid.subscribe(settings)
  grid.subscriber.answer(...answers)
  await publish(grid, [cloudEvent()])
  const counts = () => grid.subscriber.deliveries().map(({ headers }) => Number(headers['aeg-delivery-count']))
  return { ...grid, grid, counts }
}

const minute = 60_000

describe('a failed delivery', () => {
  it('comes again after ten seconds, and no sooner', async () => {
    const { clock, emulator, records, counts } = await openFailing([{ status: 500 }])
    await clock.advance(9_999)
    expect(counts()).toEqual([0])
    await clock.advance(1)
    expect(counts()).toEqual([0, 1])
    expect(emulator.pending).toBe(0)
    expect(records.deliveries.all().map(({ outcome }) => outcome)).toEqual(['retry', 'delivered'])
  })

  it('comes up to a tenth later by a `random` that is given', async () => {
    const { clock, counts } = await openFailing([{ status: 500 }], {}, { random: () => 0.5 })
    await clock.advance(10_499)
    expect(counts()).toEqual([0])
    await clock.advance(1)
    expect(counts()).toEqual([0, 1])
  })

  it('is tried for a whole day, then dropped', async () => {
    const failures = Array.from({ length: 40 }, () => ({ status: 500 }))
    const { clock, emulator, records } = await openFailing(failures, {}, { probation: false })
    const start = clock.now()
    await clock.advance(36 * 60 * minute)
    const seconds = records.deliveries.all().map(({ at }) => (at - start) / 1000)
    expect(seconds).toEqual([0, 10, 40, 100, 400, 1000, 2800, 6400, 17_200, 38_800, 82_000])
    expect(emulator.pending).toBe(0)
    expect(records.deadLetters.last?.events[0]).toMatchObject({
      deadletterreason: 'TimeToLiveExceeded',
      deliveryattempts: 11,
      lastdeliveryoutcome: 'Busy',
    })
    expect(records.deadLetters.last?.blobPath).toBeUndefined()
  })

  it.each([400, 401, 403, 413])('never comes again after %i', async (status) => {
    const { clock, records, counts } = await openFailing([{ status }])
    await clock.advance(60 * minute)
    expect(counts()).toEqual([0])
    expect(records.deliveries.last).toMatchObject({ status, outcome: 'dropped' })
  })

  it.each([
    { name: '205', answer: { status: 205 } },
    { name: 'a redirect, which is not followed', answer: { status: 302, headers: { location: '/elsewhere' } } },
    { name: 'a closed connection', answer: 'drop' as const },
  ])('comes again after $name', async ({ answer }) => {
    const { clock, counts } = await openFailing([answer])
    await clock.advance(10_000)
    expect(counts()).toEqual([0, 1])
  })

  it('is given up after maxDeliveryAttempts', async () => {
    const failures = [{ status: 500 }, { status: 500 }]
    const { clock, records, counts } = await openFailing(failures, { retryPolicy: { maxDeliveryAttempts: 2 } })
    await clock.advance(60 * minute)
    expect(counts()).toEqual([0, 1])
    expect(records.deadLetters.last?.events[0]).toMatchObject({ deadletterreason: 'MaxDeliveryAttemptsExceeded' })
  })

  it('outlives its time to live only until the next try is due', async () => {
    const failures = Array.from({ length: 9 }, () => ({ status: 500 }))
    const { clock, emulator, counts } = await openFailing(failures, { retryPolicy: { eventTimeToLiveInMinutes: 1 } })
    await clock.advance(61_000)
    expect([counts(), emulator.pending]).toEqual([[0, 1, 2], 1])
    await clock.advance(39_000)
    expect([counts(), emulator.pending]).toEqual([[0, 1, 2], 0])
  })

  it('goes to the new address when the subscription has moved', async () => {
    const { grid, clock, emulator, subscriber } = await openFailing([{ status: 500 }])
    await emulator.idle()
    await grid.subscribe({ webhook: { endpointUrl: 'https://subscriber.example/moved' } })
    await clock.advance(10_000)
    expect(subscriber.deliveries().map(({ url }) => url)).toEqual(['/api/events?code=s3cret', '/moved'])
  })

  it('is forgotten with its subscription, which ends a wait for it', async () => {
    const { clock, emulator, counts } = await openFailing([{ status: 500 }])
    await emulator.idle()
    const settled = emulator.settled()
    emulator.reconfigure({})
    await settled
    await clock.advance(60 * minute)
    expect([counts(), emulator.pending]).toEqual([[0], 0])
  })
})

describe('an endpoint that keeps failing', () => {
  it('is left alone for a while, new events too', async () => {
    const grid = await openEventGrid({ probation: { afterFailures: 3 } })
    await grid.subscribe()
    grid.subscriber.answer({ status: 404 }, { status: 404 }, { status: 404 })
    await publish(
      grid,
      ['a', 'b', 'c'].map((id) => cloudEvent({ id })),
    )
    await grid.emulator.idle()
    await publish(grid, [cloudEvent({ id: 'later' })])
    await grid.clock.advance(5 * minute - 1)
    expect(grid.subscriber.deliveries()).toHaveLength(3)
    await grid.clock.advance(1)
    expect(grid.subscriber.deliveries()).toHaveLength(7)
    expect(grid.emulator.pending).toBe(0)
  })

  it('may never see an event whose time to live ends meanwhile', async () => {
    const grid = await openEventGrid({ probation: { afterFailures: 1 } })
    await grid.subscribe({ retryPolicy: { eventTimeToLiveInMinutes: 1 } })
    grid.subscriber.answer({ status: 404 })
    await publish(grid, [cloudEvent({ id: 'first' })])
    await grid.emulator.idle()
    await publish(grid, [cloudEvent({ id: 'untried' })])
    await grid.clock.advance(5 * minute)
    expect(grid.subscriber.deliveries()).toHaveLength(1)
    const written = grid.records.deadLetters.all().flatMap(({ events }) => events)
    expect(written).toContainEqual(
      expect.objectContaining({
        ...{ id: 'untried', deliveryattempts: 0, lastdeliveryoutcome: 'Probation' },
        deadletterreason: 'UndeliverableDueToProbationCausedByClientError',
      }),
    )
  })
})
