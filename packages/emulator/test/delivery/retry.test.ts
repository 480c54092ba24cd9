import { describe, expect, it, onTestFinished } from 'vitest'
import { createOperations } from '../../src/arm/call/operations.ts'
import { createProvisioning } from '../../src/arm/subscriptions/provisioning.ts'
import { withInForce } from '../../src/model/resources/event-subscription.ts'
import { createNamespaceStore } from '../../src/model/resources/namespace-store.ts'
import { createWorkCounter } from '../../src/model/time/work-counter.ts'
import { cloudEvent, openEventGrid, publish } from '../event-grid.ts'

const counts = (grid: Awaited<ReturnType<typeof openEventGrid>>) =>
  grid.subscriber.deliveries().map(({ headers }) => Number(headers['aeg-delivery-count']))

const minute = 60_000

describe('a failed delivery', () => {
  it('comes again after ten seconds, and no sooner', async () => {
    const grid = await openEventGrid()
    grid.subscribe()
    grid.subscriber.answer({ status: 500 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(9_999)
    expect(counts(grid)).toEqual([0])
    await grid.clock.advance(1)
    expect(counts(grid)).toEqual([0, 1])
    expect(grid.engine.pending()).toBe(0)
    expect(grid.records.deliveries.all().map(({ outcome }) => outcome)).toEqual(['retry', 'delivered'])
  })

  it('is tried for a whole day, then dropped', async () => {
    const grid = await openEventGrid({ delivery: { probation: false } })
    grid.subscribe()
    grid.subscriber.answer(...Array.from({ length: 40 }, () => ({ status: 500 })))
    await publish(grid, [cloudEvent()])
    const start = grid.clock.now()
    await grid.clock.advance(36 * 60 * minute)
    const seconds = grid.records.deliveries.all().map(({ at }) => (at - start) / 1000)
    expect(seconds).toEqual([0, 10, 40, 100, 400, 1000, 2800, 6400, 17_200, 38_800, 82_000])
    expect(grid.engine.pending()).toBe(0)
    expect(grid.records.deadLetters.last?.events[0]).toMatchObject({
      deadletterreason: 'TimeToLiveExceeded',
      deliveryattempts: 11,
      lastdeliveryoutcome: 'Busy',
    })
    expect(grid.records.deadLetters.last?.blobPath).toBeUndefined()
  })

  it.each([400, 401, 403, 413])('never comes again after %i', async (status) => {
    const grid = await openEventGrid()
    grid.subscribe()
    grid.subscriber.answer({ status })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(60 * minute)
    expect(counts(grid)).toEqual([0])
    expect(grid.records.deliveries.last).toMatchObject({ status, outcome: 'dropped' })
  })

  it.each([
    { name: '205', answer: { status: 205 } },
    { name: 'a redirect, which is not followed', answer: { status: 302, headers: { location: '/elsewhere' } } },
    { name: 'a closed connection', answer: 'drop' as const },
  ])('comes again after $name', async ({ answer }) => {
    const grid = await openEventGrid()
    grid.subscribe()
    grid.subscriber.answer(answer)
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(10_000)
    expect(counts(grid)).toEqual([0, 1])
  })

  it('has run into the time-out after thirty seconds without an answer', async () => {
    const grid = await openEventGrid()
    grid.subscribe()
    grid.subscriber.answer(undefined)
    await publish(grid, [cloudEvent()])
    await grid.subscriber.received(1)
    await grid.clock.advance(29_999)
    expect(grid.records.deliveries.length).toBe(0)
    await grid.clock.advance(1)
    await grid.engine.idle()
    expect(grid.records.deliveries.last).toMatchObject({ outcome: 'retry', error: expect.stringContaining('TimedOut') })
  })

  it('is given up after maxDeliveryAttempts', async () => {
    const grid = await openEventGrid()
    grid.subscribe({ retryPolicy: { maxDeliveryAttempts: 2 } })
    grid.subscriber.answer({ status: 500 }, { status: 500 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(60 * minute)
    expect(counts(grid)).toEqual([0, 1])
    expect(grid.records.deadLetters.last?.events[0]).toMatchObject({ deadletterreason: 'MaxDeliveryAttemptsExceeded' })
  })

  it('outlives its time to live only until the next try is due', async () => {
    const grid = await openEventGrid()
    grid.subscribe({ retryPolicy: { eventTimeToLiveInMinutes: 1 } })
    grid.subscriber.answer(...Array.from({ length: 9 }, () => ({ status: 500 })))
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(61_000)
    expect(counts(grid)).toEqual([0, 1, 2])
    expect(grid.engine.pending()).toBe(1)
    await grid.clock.advance(39_000)
    expect(counts(grid)).toEqual([0, 1, 2])
    expect(grid.engine.pending()).toBe(0)
  })

  it("can follow a schedule of one's own", async () => {
    const grid = await openEventGrid({ delivery: { retrySchedule: [100, 200] } })
    grid.subscribe()
    grid.subscriber.answer({ status: 404 }, { status: 503 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(100)
    expect(counts(grid)).toEqual([0, 1])
    await grid.clock.advance(200)
    expect(counts(grid)).toEqual([0, 1, 2])
    await grid.engine.settled()
  })

  it('goes to the new address when the subscription has moved', async () => {
    const grid = await openEventGrid()
    grid.subscribe()
    grid.subscriber.answer({ status: 500 })
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    grid.subscribe({ webhook: { endpointUrl: 'https://subscriber.example/moved' } })
    await grid.clock.advance(10_000)
    expect(grid.subscriber.deliveries().map(({ url }) => url)).toEqual(['/api/events?code=s3cret', '/moved'])
  })

  it('is forgotten with its subscription', async () => {
    const grid = await openEventGrid()
    const subscription = grid.subscribe()
    grid.subscriber.answer({ status: 500 })
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    grid.store.subscriptions.delete(subscription)
    grid.engine.subscriptionDeleted(subscription)
    await grid.clock.advance(60 * minute)
    expect(counts(grid)).toEqual([0])
    expect(grid.engine.pending()).toBe(0)
  })
})

describe('an endpoint that keeps failing', () => {
  it('is left alone for a while, new events too', async () => {
    const grid = await openEventGrid({ delivery: { probation: { afterFailures: 3 } } })
    grid.subscribe()
    grid.subscriber.answer({ status: 404 }, { status: 404 }, { status: 404 })
    await publish(
      grid,
      ['a', 'b', 'c'].map((id) => cloudEvent({ id })),
    )
    await grid.engine.idle()
    await publish(grid, [cloudEvent({ id: 'later' })])
    await grid.clock.advance(5 * minute - 1)
    expect(grid.subscriber.deliveries()).toHaveLength(3)
    await grid.clock.advance(1)
    expect(grid.subscriber.deliveries()).toHaveLength(7)
    expect(grid.engine.pending()).toBe(0)
  })

  it('may never see an event whose time to live ends meanwhile', async () => {
    const grid = await openEventGrid({ delivery: { probation: { afterFailures: 1 } } })
    grid.subscribe({ retryPolicy: { eventTimeToLiveInMinutes: 1 } })
    grid.subscriber.answer({ status: 404 })
    await publish(grid, [cloudEvent({ id: 'first' })])
    await grid.engine.idle()
    await publish(grid, [cloudEvent({ id: 'untried' })])
    await grid.clock.advance(5 * minute)
    expect(grid.subscriber.deliveries()).toHaveLength(1)
    const written = grid.records.deadLetters.all().flatMap(({ events }) => events)
    expect(written).toContainEqual(
      expect.objectContaining({ id: 'untried', deliveryattempts: 0, lastdeliveryoutcome: 'Probation' }),
    )
  })
})

describe('a subscription', () => {
  it('ends at its expiry, in the store too', async () => {
    const grid = await openEventGrid()
    const expirationTimeUtc = new Date(grid.clock.now() + minute).toISOString()
    const { id } = grid.subscribe({ expirationTimeUtc })
    const provisioning = createProvisioning({
      ...grid,
      namespaces: createNamespaceStore(),
      delivery: grid.engine,
      operations: createOperations(grid.clock, 0, createWorkCounter()),
    })
    onTestFinished(provisioning.close)
    provisioning.resume()
    await grid.clock.advance(minute - 1)
    expect(grid.store.subscriptions.get(id)).toBeDefined()
    await grid.clock.advance(1)
    expect(grid.store.subscriptions.get(id)).toBeUndefined()
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    expect(grid.subscriber.requests).toHaveLength(0)
  })

  it('delivers by the settings before while an update runs, and nothing once that failed', async () => {
    const grid = await openEventGrid()
    const subscription = grid.subscribe()
    const endpointUrl = 'https://subscriber.example/new'
    const properties = { destination: { endpointType: 'WebHook', properties: { endpointUrl } } } as const
    const store = (provisioningState: 'Updating' | 'Failed') => {
      const wanted = { ...subscription, properties, provisioningState }
      const changed = withInForce(wanted, grid.store.subscriptions.get(subscription.id))
      grid.store.subscriptions.put(changed)
      grid.engine.subscriptionChanged(changed)
    }
    store('Updating')
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    expect(grid.subscriber.deliveries()[0]?.url).toBe('/api/events?code=s3cret')
    store('Failed')
    await publish(grid, [cloudEvent({ id: 'e2' })])
    await grid.engine.idle()
    expect(grid.subscriber.deliveries()).toHaveLength(1)
  })
})
