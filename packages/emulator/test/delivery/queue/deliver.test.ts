import { expect, it } from 'vitest'
import { cloudEvent, openEventGrid, publish } from '../../event-grid.ts'

it('records the beginning of a long body, and of each event its id and type', async () => {
  const grid = await openEventGrid()
  grid.subscribe({ webhook: { maxEventsPerBatch: 10 } })
  await publish(grid, [cloudEvent({ data: 'x'.repeat(20_000) }), cloudEvent({ id: 'e2', type: 'Other' })])
  await grid.engine.idle()
  const record = grid.records.deliveries.last
  expect(record).toMatchObject({ eventIds: ['e1', 'e2'], eventTypes: ['Order.Placed', 'Other'], at: grid.clock.now() })
  expect(record?.body).toHaveLength(16_384)
  expect(grid.subscriber.deliveries()[0]?.body.startsWith(record?.body ?? '')).toBe(true)
  expect(record?.durationMs).toBeGreaterThan(0)
})

it('records a short body whole, and what the subscriber answered without its secrets', async () => {
  const grid = await openEventGrid()
  grid.subscribe()
  grid.subscriber.answer({ status: 200, headers: { 'set-cookie': 'a=1' }, body: 'code was s3cret' })
  await publish(grid, [cloudEvent()])
  await grid.engine.idle()
  expect(grid.records.deliveries.last).toMatchObject({
    body: JSON.stringify(cloudEvent()),
    responseHeaders: { 'set-cookie': '(redacted)' },
    responseBody: 'code was (redacted)',
  })
  expect(grid.records.deliveries.last).not.toHaveProperty('error')
})

it('says in a record what failed, and what helps', async () => {
  const grid = await openEventGrid({ ingress: () => 'http://127.0.0.1:1' })
  grid.subscribe()
  await publish(grid, [cloudEvent()])
  await grid.engine.idle()
  expect(grid.records.deliveries.last?.error).toMatch(/^SocketError: .*; nothing listens at http:\/\/127\.0\.0\.1:1, /)
})

it('takes a fault back: what it delays is sent, or never where its events are forgotten', async () => {
  for (const { forgotten, statuses } of [
    { forgotten: false, statuses: [200] },
    { forgotten: true, statuses: [] },
  ]) {
    const grid = await openEventGrid()
    grid.subscribe()
    grid.faults.add({ route: 'delivery', delayMs: 5_000, status: 503 })
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    expect(grid.subscriber.deliveries()).toEqual([])
    if (forgotten) grid.engine.forget()
    grid.faults.clear()
    // The pause ends in a later turn.
    await new Promise((resolve) => setImmediate(resolve))
    await grid.engine.idle()
    expect(grid.records.deliveries.all().map(({ status }) => status)).toEqual(statuses)
    expect(grid.subscriber.deliveries()).toHaveLength(statuses.length)
    expect(grid.engine.pending()).toBe(0)
  }
})

it('delays a fault, and then fails as it says', async () => {
  const grid = await openEventGrid()
  grid.subscribe()
  grid.faults.add({ route: 'delivery', delayMs: 5_000, status: 400 })
  await publish(grid, [cloudEvent()])
  await grid.clock.advance(4_999)
  expect(grid.records.deliveries.length).toBe(0)
  await grid.clock.advance(1)
  expect(grid.records.deliveries.all()).toMatchObject([{ status: 400, outcome: 'dropped' }])
  expect(grid.subscriber.deliveries()).toEqual([])
})

it('names the URL of a delivery to a fault, which may wait for another one', async () => {
  const grid = await openEventGrid()
  grid.subscribe()
  grid.faults.add({ route: 'delivery', status: 400, matches: { method: 'POST', url: 'https://other.example' } })
  grid.faults.add({
    route: 'delivery',
    status: 401,
    matches: { method: 'POST', url: 'https://subscriber.example/api' },
  })
  await publish(grid, [cloudEvent()])
  await grid.engine.idle()
  expect(grid.records.deliveries.all().map(({ status }) => status)).toEqual([401])
})
