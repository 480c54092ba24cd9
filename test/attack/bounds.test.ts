import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createRoom } from '../../src/dispatch/room.ts'
import { cloudEventText, openListener, proof } from '../listener/open-listener.ts'
import { eventually } from '../support/eventually.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { eventHeaders, open, request, statuses } from './target.ts'

const validation = [
  'content-type: application/json',
  'aeg-event-type: SubscriptionValidation',
  'aeg-subscription-name: ORDERS',
]
const sender = Object.entries({ ...eventHeaders, ...proof }).map(([name, value]) => `${name}: ${value}`)

it('bodies that are not there to the last byte are bounded together, and the one too many waits and is put off', async () => {
  const room = createRoom(10_000)
  const clock = createManualClock()
  const { listener, deliver, events } = await openListener({
    input: { maxRequestBytes: 8_000 },
    room,
    clock: clock.clock,
  })
  const slow = await open(listener.address.port)
  slow.write(
    `POST /api/events HTTP/1.1\r\nhost: x\r\n${sender.join('\r\n')}\r\ncontent-length: 7000\r\n\r\n${' '.repeat(6_000)}`,
  )
  await eventually(async () => expect(room.used()).toBe(7_000))
  const text = cloudEventText('1', { pad: 'x'.repeat(6_000) })
  const answer = deliver(text)
  await eventually(async () => expect(room.waiting()).toBe(1))
  clock.advance(3_000)
  expect((await answer).status).toBe(503)
  expect((await answer).headers.get('retry-after')).toBe('30')
  const next = deliver(text)
  await eventually(async () => expect(room.waiting()).toBe(1))
  slow.destroy()
  expect((await next).status).toBe(200)
  expect(events).toHaveLength(1)
})

it('a validation body may take 16 KiB, however large a delivery may be', async () => {
  const { deliver } = await openListener()
  const validate = { 'aeg-event-type': 'SubscriptionValidation' }
  const body = (bytes: number) => JSON.stringify({ data: { validationCode: 'x' } }).padEnd(bytes)
  expect((await deliver(body(16_384), validate)).status).toBe(200)
  expect((await deliver(body(16_385), validate)).status).toBe(413)
})

it('a validation body in chunks may take no more', async () => {
  const { listener } = await openListener()
  const connection = await open(listener.address.port)
  const head = ['POST /api/events HTTP/1.1', 'host: x', ...validation, 'transfer-encoding: chunked']
  connection.write(`${head.join('\r\n')}\r\n\r\n4001\r\n${' '.repeat(0x4001)}\r\n`)
  expect(statuses(await connection.ended)).toEqual([413])
})

it('connections that have ended take no place of those that come', async () => {
  const { listener } = await openListener({ limits: { maxConnections: 3 } })
  for (let index = 0; index < 10; index++) {
    const gone = await open(listener.address.port)
    gone.write(request('OPTIONS /api/events HTTP/1.1', ['connection: close']))
    expect(statuses(await gone.ended)).toEqual([200])
  }
  const both = [await open(listener.address.port), await open(listener.address.port)]
  for (const one of both) one.write(request('OPTIONS /api/events HTTP/1.1', ['connection: close']))
  for (const one of both) expect(statuses(await one.ended)).toEqual([200])
})

it('connections beyond the bound are closed as they open, and one that ends makes room', async () => {
  const { listener, log } = await openListener({ limits: { maxConnections: 2 } })
  const prove = async () => {
    const one = await open(listener.address.port)
    const answered = firstData(one)
    one.write(request('POST /api/events HTTP/1.1', sender, cloudEventText('1')))
    await answered
    return one
  }
  await prove()
  const second = await prove()
  expect(await (await open(listener.address.port)).ended).toBe('')
  expect(log.lines).toMatchObject([
    { message: 'refused a connection: too many are open', fields: { maxConnections: 2 } },
  ])
  second.destroy()
  await eventually(async () => {
    const next = await open(listener.address.port)
    next.write(request('OPTIONS /api/events HTTP/1.1', ['connection: close']))
    expect(statuses(await next.ended)).toEqual([200])
  })
})

it.each([
  { name: 'a health check', asks: request('OPTIONS /api/events HTTP/1.1', []) },
  {
    name: 'a handshake',
    asks: request('OPTIONS /api/events HTTP/1.1', ['webhook-request-origin: eventgrid.azure.net']),
  },
  { name: 'a validation', asks: request('POST /api/events HTTP/1.1', validation, '{"data":{"validationCode":"x"}}') },
  {
    name: 'a delivery without proof',
    asks: request('POST /api/events HTTP/1.1', ['content-type: application/json'], '{}'),
  },
  { name: 'another method', asks: request('GET /api/events HTTP/1.1', []) },
  { name: 'another path', asks: request('GET /other HTTP/1.1', []) },
])('strangers hold half of the connections at most: $name', async ({ asks }) => {
  const { listener, deliver } = await openListener({ limits: { maxConnections: 20 } })
  let held: Awaited<ReturnType<typeof open>>[] = []
  // He opens all that he can get, twice, and asks on each of them again and again.
  for (let round = 0; round < 2; round++) {
    held.push(...(await Promise.all(Array.from({ length: 20 }, () => open(listener.address.port)))))
    const isKept = await Promise.all(held.map((stranger) => keeps(stranger, asks)))
    held = held.filter((_, index) => isKept[index])
    expect(held.length).toBeLessThanOrEqual(10)
    if (round === 0) expect(held.length).toBeGreaterThan(0)
    const genuine = await Promise.all(['1', '2', '3'].map((id) => deliver(cloudEventText(id))))
    expect(genuine.map(({ status }) => status)).toEqual([200, 200, 200])
  }
})

it('a connection that has proven itself stays open, however many there are', async () => {
  const { listener } = await openListener({ limits: { maxConnections: 4 } })
  const senders = await Promise.all([1, 2, 3].map(() => open(listener.address.port)))
  for (let round = 0; round < 2; round++) {
    for (const one of senders) {
      const answered = firstData(one)
      one.write(request('POST /api/events HTTP/1.1', sender, cloudEventText('1')))
      expect(await answered).toMatch(/^HTTP\/1\.1 200 /)
    }
  }
})

/** Asks, and tells whether the connection stays open after the answer. */
async function keeps(stranger: Awaited<ReturnType<typeof open>>, asks: string): Promise<boolean> {
  const answered = firstData(stranger)
  stranger.write(asks)
  const answer = await Promise.race([stranger.ended, answered])
  const isKept = answer !== '' && !/\r\nconnection: close\r\n/i.test(answer)
  if (!isKept) await stranger.ended
  return isKept
}

const firstData = (socket: Socket) =>
  new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))

it.each([
  { name: 'half a head', bytes: 'OPTIONS /api/events HTTP/1.1\r\nhost: ' },
  { name: 'nothing', bytes: '' },
  {
    name: 'half a validation body',
    bytes: `${['POST /api/events HTTP/1.1', 'host: x', ...validation].join('\r\n')}\r\ncontent-length: 9\r\n\r\n{`,
  },
])(
  'strangers that send $name, and connect again whenever they are cut off, keep no delivery out',
  async ({ bytes }) => {
    const { listener, deliver } = await openListener({ limits: { maxConnections: 40 } })
    const sockets = new Set<Socket>()
    let isOver = false
    let cutOff = 0
    const hold = () => {
      if (isOver) return
      const socket = connect(listener.address.port, '127.0.0.1')
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        cutOff++
        setImmediate(hold)
      })
      socket.write(bytes)
    }
    for (let index = 0; index < 40; index++) hold()
    onTestFinished(() => {
      isOver = true
      for (const socket of sockets) socket.destroy()
    })
    await eventually(() => expect(cutOff).toBeGreaterThan(10))
    for (let index = 0; index < 10; index++) {
      const answer = await deliver(cloudEventText(String(index)), { connection: 'close' })
      expect(answer.status).toBe(200)
    }
  },
)
