import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { listen } from '../../../../test/support/listen.ts'
import { openWorld } from '../../../../test/support/open-world.ts'
import { cloudEvent, gridEvent, openEventGrid, publish } from '../event-grid.ts'

it('a delivery says which codings it takes, and has none of the headers that no capture shows', async () => {
  const grid = await openEventGrid()
  grid.subscribe()
  await publish(grid, [cloudEvent()])
  await grid.engine.idle()
  const { headers } = grid.subscriber.deliveries()[0] ?? {}
  expect(headers).toMatchObject({
    'accept-encoding': 'gzip, deflate',
    connection: expect.stringMatching(/^(keep-alive|close)$/),
  })
  for (const name of ['aeg-output-event-id', 'webhook-request-origin', 'webhook-request-rate']) {
    expect(headers).not.toHaveProperty(name)
  }
})

it('an endpoint may answer the validation event in chunks', async () => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const [event] = JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200)
    response.write('{"validationResponse":')
    response.end(`${JSON.stringify(event.data.validationCode)}}`)
  })
  const port = await listen(server)
  const grid = await openEventGrid({ ingress: () => `http://127.0.0.1:${port}` })
  const subscription = grid.subscribe({ eventDeliverySchema: 'EventGridSchema' })
  expect(
    await grid.engine.validate(subscription, new AbortController().signal, { over: new AbortController().signal }),
  ).toEqual({ outcome: 'validated' })
})

it('events of one topic may overtake each other: one that failed does not hold up the next', async () => {
  const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' }, delivery: { concurrency: 1 } })
  grid.subscribe({ eventDeliverySchema: 'EventGridSchema' })
  grid.subscriber.answer({ status: 500 })
  await publish(grid, [gridEvent({ id: 'first' }), gridEvent({ id: 'second' })])
  await grid.clock.advance(10_000)
  expect(grid.subscriber.deliveries().map(({ body }) => JSON.parse(body)[0].id)).toEqual(['first', 'second', 'first'])
})

it.each(['1.0', '2.0'] as const)(
  'a receiver that checks tokens takes a delivery that bears one of version %s',
  async (version) => {
    const world = await openWorld({ emulator: { deliveryTokenVersion: version } })
    await world.init({ deliveryAuthentication: 'entra' })
    world.emulator.raise(world.emulator.topic().id, [cloudEvent({ id: 'for-entra' })])
    await world.emulator.idle()
    expect(world.handled.map(({ cloudEvent: { id } }) => id)).toEqual(['for-entra'])
    expect(world.emulator.records.deliveries.last).toMatchObject({ status: 200, outcome: 'delivered' })
  },
)
