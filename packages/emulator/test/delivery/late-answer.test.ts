import { createServer, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../../../../test/support/listen.ts'
import { createWebhookClient } from '../../src/delivery/send/webhook-client.ts'
import { ManualClock } from '../../src/model/time/clock.ts'
import { cloudEvent, openEventGrid, publish } from '../event-grid.ts'

/** A delivery that ran into the time-out, whose answer the subscriber holds back until it is told to give it. */
async function openSlow() {
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume()
    held.push(response)
  })
  const port = await listen(server)
  const grid = await openEventGrid({ answerTimeout: 500, ingress: () => `http://127.0.0.1:${port}` })
  await grid.subscribe()
  await publish(grid, [cloudEvent()])
  await expect.poll(() => held.length).toBe(1)
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
    const held: ServerResponse[] = []
    const arrived = Promise.withResolvers<void>()
    const port = await listen(createServer((_request, response) => held.push(response) === 257 && arrived.resolve()))
    const client = createWebhookClient({ clock: new ManualClock(), ingress: () => undefined, trustedCertificates: [] })
    onTestFinished(client.close)
    const statuses: number[] = []
    const answered = Promise.withResolvers<void>()
    const take = (status: number) => statuses.push(status) === 256 && answered.resolve()
    const late = { withinMs: 60_000, take: (status: number) => void take(status) }
    const request = {
      method: 'POST',
      url: new URL(`http://127.0.0.1:${port}/`),
      headers: {},
      timeoutMs: 2_000,
    } as const
    const results = Promise.all(Array.from({ length: 257 }, () => client.send({ ...request, body: '{}', late })))
    await arrived.promise
    const givenUp = Promise.race(held.map((one) => new Promise((resolve) => one.once('close', () => resolve(one)))))
    expect((await results).every(({ failure }) => failure?.outcome === 'TimedOut')).toBe(true)
    const without = await givenUp
    for (const one of held) if (one !== without) one.writeHead(200).end()
    await answered.promise
    expect(statuses).toHaveLength(256)
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
