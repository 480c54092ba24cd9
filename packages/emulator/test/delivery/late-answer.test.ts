import { createServer, type ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { listen } from '../../../../test/support/listen.ts'
import { cloudEvent, openEventGrid, publish } from '../event-grid.ts'

/** Deliveries that ran into the time-out, whose answers the subscriber holds back until it is told to give them. */
async function openSlow(count = 1) {
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume()
    held.push(response)
  })
  const port = await listen(server)
  const grid = await openEventGrid({ ingress: () => `http://127.0.0.1:${port}`, concurrency: count, probation: false })
  await grid.subscribe()
  await publish(
    grid,
    Array.from({ length: count }, (_, index) => cloudEvent({ id: `e${index}` })),
  )
  await expect.poll(() => held.length).toBe(count)
  await grid.clock.advance(30_000)
  await grid.emulator.idle()
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
    expect(grid.emulator.pending).toBe(0)
    await grid.clock.advance(3_600_000)
    expect(held).toHaveLength(1)
    await grid.emulator.settled()
  })

  it('changes nothing if it is no success', async () => {
    const { grid, held } = await openSlow()
    held[0]?.writeHead(500).end()
    await grid.clock.advance(10_000)
    await expect.poll(() => held.length).toBe(2)
    expect(grid.emulator.pending).toBe(1)
  })

  it('is waited for by 256 requests at most; a further one is given up', async () => {
    const { grid, held } = await openSlow(257)
    await expect.poll(() => held.filter(({ destroyed }) => destroyed).length).toBe(1)
    for (const one of held) if (!one.destroyed) one.writeHead(200).end()
    await expect.poll(() => grid.emulator.pending).toBe(1)
    expect(grid.records.deliveries.filter(({ outcome }) => outcome === 'delivered')).toHaveLength(256)
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
