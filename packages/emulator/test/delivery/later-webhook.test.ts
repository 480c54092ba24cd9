// A webhook that comes up after the emulator, whose clock stands still: an endpoint that has not consented is asked when an event is published.
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { listen } from '../../../../test/support/listen.ts'
import { ManualClock } from '../../src/index.ts'
import { callAt, openInterface, orders } from '../test-interface/open-interface.ts'

/** An emulator whose clock stands still, and a webhook that refuses until it is up. */
async function openLater(answer: 'consent' | 'bare' | 'refuse', whileDown: number) {
  let [isUp, asked] = [false, 0]
  const delivered: string[] = []
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('')
    if (request.method === 'OPTIONS') asked++
    else if (isUp) delivered.push(JSON.parse(body).id)
    const consent = { 'webhook-allowed-origin': '*' }
    response.writeHead(isUp ? 200 : whileDown, isUp && answer === 'consent' ? consent : {}).end()
  })
  const url = `http://127.0.0.1:${await listen(server)}/hook`
  const opened = await openInterface({ clock: new ManualClock(), deliver: { orders: url } })
  await opened.emulator.idle()
  const { httpEndpoint, key } = opened.emulator.topic('orders')
  const publish = async (id: string) => {
    const headers = { 'aeg-sas-key': key, 'content-type': 'application/cloudevents-batch+json' }
    const sent = await fetch(httpEndpoint, { method: 'POST', headers, body: JSON.stringify(orders(id)) })
    expect(sent.status).toBe(200)
  }
  const start = () => {
    isUp = true
  }
  return { ...opened, delivered, publish, start, asked: () => asked }
}

it.each([
  { was: 'failed', whileDown: 503 },
  { was: 'lacked its consent', whileDown: 200 },
])('delivers what is published once the webhook is up, whose handshake $was', async ({ whileDown }) => {
  const { call, delivered, publish, start } = await openLater('consent', whileDown)
  start()
  await publish('1')
  expect((await call('POST', '/emulator/settle')).body).toEqual({ settled: true })
  expect(delivered).toEqual(['1'])
})

it('does so for events that a test raises', async () => {
  const { call, delivered, start } = await openLater('consent', 503)
  start()
  expect((await call('POST', '/emulator/topics/orders/raise', orders('1'))).status).toBe(200)
  expect((await call('POST', '/emulator/settle')).status).toBe(200)
  expect(delivered).toEqual(['1'])
})

it('in code, raise has the webhook asked for the events that come after', async () => {
  const { emulator, delivered, start } = await openLater('consent', 503)
  start()
  emulator.raise('orders', orders('1'))
  await emulator.idle()
  emulator.raise('orders', orders('2'))
  await emulator.settled()
  expect(delivered).toEqual(['2'])
})

it('asks once for each publish, and settle says which events went nowhere', async () => {
  const { call, publish, asked } = await openLater('consent', 503)
  const before = asked()
  for (const id of ['1', '2']) await publish(id)
  expect(asked()).toBe(before + 2)
  const { body } = await call('POST', '/emulator/settle')
  expect(body).toMatchObject({ status: 409, unserved: [{ events: 2 }] })
})

it('tells once of a webhook that answers the same for a year, and asks it once in an advance', async () => {
  const { call, emulator, asked } = await openLater('refuse', 503)
  const before = asked()
  for (const advance of ['24h', '400d']) expect((await call('POST', '/emulator/clock', { advance })).status).toBe(200)
  expect(asked()).toBe(before + 2)
  expect(emulator.records.handshakes.length).toBeLessThanOrEqual(3)
})

it('waits no longer for an endpoint that is silent than for the first handshake', async () => {
  const held: unknown[] = []
  const url = `http://127.0.0.1:${await listen(createServer((_request, response) => held.push(response)))}/`
  const { emulator } = await openInterface({ clock: new ManualClock(), answerTimeout: 300, deliver: { orders: url } })
  await emulator.idle()
  const publishing = callAt(emulator.proxy, 'POST', '/emulator/topics/orders/publish', {
    events: JSON.stringify(orders('1')),
  })
  expect((await publishing).body).toEqual({ status: 200 })
  expect(held).toHaveLength(2)
})
