import { createServer, type ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { listen } from '../../support/listen.ts'
import { cloudEvent, openEventGrid, publish } from '../event-grid.ts'

/** A subscriber that holds its answers back until it is told to give them; it is sent some events at a time. */
async function openSlow(events = 1) {
  const held: ServerResponse[] = []
  let arrived = () => {}
  const all = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const server = createServer((request, response) => {
    request.resume()
    if (held.push(response) === events) arrived()
  })
  const port = await listen(server)
  const grid = await openEventGrid({ ingress: () => `http://127.0.0.1:${port}`, delivery: { concurrency: events } })
  grid.subscribe()
  await publish(grid, Array.from({ length: events }, cloudEvent))
  await all
  await grid.clock.advance(30_000)
  await grid.engine.idle()
  expect(grid.records.deliveries.last).toMatchObject({ outcome: 'retry', error: expect.stringContaining('TimedOut') })
  return { grid, held }
}

describe('an answer after the time-out', () => {
  it('spares the next try', async () => {
    const { grid, held } = await openSlow()
    held[0]?.writeHead(200).end()
    const late = await grid.records.deliveries.waitFor(({ outcome }) => outcome === 'delivered')
    expect(late).toMatchObject({ status: 200, deliveryCount: 0 })
    expect(late).not.toHaveProperty('error')
    expect(grid.engine.pending()).toBe(0)
    await grid.clock.advance(3_600_000)
    expect(held).toHaveLength(1)
    await grid.engine.settled()
  })

  it('changes nothing if it is no success', async () => {
    const { grid, held } = await openSlow()
    held[0]?.writeHead(500).end()
    await grid.clock.advance(10_000)
    await expect.poll(() => held.length).toBe(2)
    expect(grid.engine.pending()).toBe(1)
  })

  it('is waited for by 256 requests at most; a further one is given up', async () => {
    const { grid, held } = await openSlow(257)
    const open = () => held.filter(({ destroyed }) => !destroyed)
    await expect.poll(() => open().length).toBe(256)
    for (const one of open()) one.writeHead(200).end()
    const delivered = () => grid.records.deliveries.all().filter(({ outcome }) => outcome === 'delivered').length
    await expect.poll(delivered).toBe(256)
    expect(grid.engine.pending()).toBe(1)
  })

  it('is waited for no longer than three minutes in all', async () => {
    const { grid, held } = await openSlow()
    const closed = new Promise((resolve) => held[0]?.once('close', resolve))
    await grid.clock.advance(149_999)
    expect(held[0]?.destroyed).toBe(false)
    await grid.clock.advance(1)
    await closed
  })
})
