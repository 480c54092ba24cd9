// Time stands still while a request is under way: its time-out is real time, and an advance waits for its end.
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { listen } from '../../../../test/support/listen.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { ManualClock } from '../../src/index.ts'
import { cloudEvent, openEventGrid, publicUrl, publish } from '../event-grid.ts'
import { startSlowEndpoint } from '../subscriber.ts'
import { openInterface } from '../test-interface/open-interface.ts'

/** An emulator whose clock stands still, and a webhook that needs so long for each answer. */
async function openSlow(changes: { readonly answerTimeout?: number } = {}, afterMs = 800) {
  const url = await startSlowEndpoint(afterMs)
  const grid = await openEventGrid({ ingress: () => url, ...changes })
  await grid.subscribe()
  return grid
}

it('an advance waits for the answer of a slow webhook, and records no time-out', async () => {
  const grid = await openSlow()
  await publish(grid, [cloudEvent()])
  await grid.clock.advance(3_600_000)
  expect(grid.records.deliveries.all()).toMatchObject([{ outcome: 'delivered', status: 200, deliveryCount: 0 }])
  expect(grid.records.deliveries.last).not.toHaveProperty('error')
})

it('so does POST /emulator/clock, and each further try of an advance', async () => {
  const url = await startSlowEndpoint(800)
  const { call, emulator } = await openInterface({
    ...{ clock: new ManualClock(), ingress: () => url, topics: [{ name: 'orders' }] },
    eventSubscriptions: [{ name: 'billing', endpoint: publicUrl }],
  })
  expect((await call('POST', '/emulator/clock', { advance: '1s' })).status).toBe(200)
  expect(emulator.eventSubscriptions()).toMatchObject([{ provisioningState: 'Succeeded' }])
  emulator.failNext({ route: 'delivery', status: 503 })
  emulator.raise('orders', [cloudEvent()])
  await call('POST', '/emulator/clock', { advance: '1h' })
  expect(emulator.events().events[0]?.subscriptions).toMatchObject([
    { state: 'delivered', tries: 2, attempts: [{ status: 503 }, { status: 200, outcome: 'delivered' }] },
  ])
})

it('a webhook that is silent for its time is a time-out, whatever the clock', async () => {
  const grid = await openSlow({ answerTimeout: 1_000 }, 30_000)
  await publish(grid, [cloudEvent()])
  await grid.clock.advance(0)
  expect(grid.records.deliveries.all()).toMatchObject([
    { outcome: 'retry', error: expect.stringContaining('No answer within 1 s.') },
  ])
})

it('an advance that a webhook itself asks for waits for the time-out of its delivery', async () => {
  let ask = async (): Promise<unknown> => undefined
  const server = createServer(async ({ method, headers }, response) => {
    if (method !== 'OPTIONS') await ask()
    response.writeHead(200, { 'webhook-allowed-origin': String(headers['webhook-request-origin'] ?? '') }).end()
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  const { call, emulator } = await openInterface({
    ...{ clock: new ManualClock(), answerTimeout: 1_000, deliver: { orders: url } },
  })
  await emulator.idle()
  const advanced: unknown[] = []
  ask = async () => {
    ask = async () => undefined
    advanced.push((await call('POST', '/emulator/clock', { advance: '1m' })).status)
  }
  emulator.raise('orders', [cloudEvent()])
  await expect.poll(() => advanced, { timeout: 20_000 }).toEqual([200])
})

it.each([0, 0.5, 600_001, '1s'])('answerTimeout: %j is refused', async (answerTimeout) => {
  await expect(startEmulator(JSON.parse(JSON.stringify({ answerTimeout })))).rejects.toThrow(/answerTimeout must be/)
})
