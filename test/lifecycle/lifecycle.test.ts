/** What the binding promises through every door, tested by the same tests. What only one door promises is tested in that door's folder. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { startEmulator } from '../support/start-emulator.ts'
import { type DoorWorld, doors, type Handler } from './doors.ts'

/** An emulator whose deliveries for the component come to its port. */
async function openLifecycle(handle: Handler): Promise<DoorWorld> {
  // Thirty tries must outlast the start of a process.
  const emulator = await startEmulator({ retrySchedule: [100, 1_000, 3_000], topics: [{ name: 'orders' }] })
  const handshakePort = String(await freePort())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${handshakePort}${pathname}`)
  return { emulator, handshakePort, handle }
}

/** Resolves once the event subscription works. */
async function subscribed({ emulator }: DoorWorld): Promise<void> {
  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()
}

const health = ({ handshakePort }: DoorWorld) =>
  fetch(`http://127.0.0.1:${handshakePort}/api/events`, { method: 'OPTIONS' }).then(({ status }) => status)

/** Writes to Resource Manager that were accepted. */
const writesOf = ({ emulator }: DoorWorld) =>
  emulator.records.requests.filter(
    ({ method, url }) => ['PUT', 'PATCH'].includes(method) && /\/eventSubscriptions\//i.test(url),
  )

const statusesOf = ({ emulator }: DoorWorld) => emulator.records.deliveries.all().map(({ status }) => status)

/** An event that comes while the component ends, or is away. */
const later = {
  specversion: '1.0',
  id: 'later',
  source: '/shop',
  type: 'order.placed',
  data: { order: 'later' },
} as const

describe.each(doors)('through $name', ({ open }) => {
  it('creates the event subscription, acknowledges an event once it is handled, and frees the port at its end', async () => {
    const [received, release] = [Promise.withResolvers<unknown>(), Promise.withResolvers<void>()]
    const world = await openLifecycle((data) => {
      received.resolve(data)
      return release.promise
    })
    const opened = await open(world)
    await subscribed(world)
    expect(await health(world)).toBe(200)
    await opened.create({ order: 1 })
    expect(await received.promise).toEqual({ order: 1 })
    expect(statusesOf(world)).not.toContain(200)
    release.resolve()
    await world.emulator.settled()
    expect(statusesOf(world).at(-1)).toBe(200)
    await opened.close()
    await expect(health(world)).rejects.toThrow()
  })

  it('warns of what is published in another way than was meant', async () => {
    const world = await openLifecycle(() => {})
    const opened = await open(world)
    await opened.create({ type: 'order.placed', source: '/shop', data: { order: 1 } })
    await opened.create({ order: 2 }, { eventType: 'order.placed' })
    await opened.create({ ...later, id: '3' }, { subject: 'orders/3' })
    await opened.create({ eventType: 'refund', amount: 5 })
    expect(world.emulator.events().events.map(({ type }) => type)).toEqual([
      ...['eventgrid-binding.create', 'eventgrid-binding.create', 'order.placed', 'eventgrid-binding.create'],
    ])
    const warnings = opened
      .log()
      .split('\n')
      .filter((line) => /does nothing|looks like an event/.test(line))
    expect(warnings).toEqual([
      expect.stringMatching(/looks like an event .*specversion/),
      expect.stringMatching(/does nothing.*eventType.*create knows type/),
      expect.stringMatching(/does nothing.*subject.*published unchanged/),
    ])
  })

  it('hands on the delivery attributes that the event subscription declares', async () => {
    const received = Promise.withResolvers<Readonly<Record<string, unknown>>>()
    const world = await openLifecycle((_data, metadata) => received.resolve(metadata))
    // Nobody listens yet, so it gets no events.
    const declared = world.emulator.addEventSubscription({
      name: 'orders',
      topic: 'orders',
      properties: {
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        destination: {
          endpointType: 'WebHook',
          properties: {
            endpointUrl: 'https://orders.example.com/api/events',
            deliveryAttributeMappings: [
              { name: 'X-Correlation-Id', type: 'Static', properties: { value: 'blue' } },
              { name: 'region', type: 'Dynamic', properties: { sourceField: 'data.region' } },
            ],
          },
        },
      },
    })
    await expect(declared).rejects.toThrow('gets no events')
    const opened = await open(world)
    await subscribed(world)
    await opened.create({ region: 'west' })
    const metadata = await received.promise
    expect(metadata).toMatchObject({ 'x-correlation-id': 'blue', region: 'west', 'aeg-subscription-name': 'ORDERS' })
    expect(metadata).not.toHaveProperty('x-eventgrid-binding-token')
  })

  it('has an event delivered again whose handling fails', async () => {
    let tries = 0
    const world = await openLifecycle(() => {
      tries++
      if (tries === 1) throw new Error('not this time')
    })
    const opened = await open(world)
    await subscribed(world)
    await opened.create({ order: 1 })
    await world.emulator.settled()
    expect(tries).toBe(2)
    expect(statusesOf(world).filter((status) => status !== 503)).toEqual([500, 200])
  })

  it('awaits what is being handled at its end and takes nothing new; what handles it may still publish', async () => {
    const [received, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const handled: unknown[] = []
    const world = await openLifecycle(async (data) => {
      handled.push(data)
      received.resolve()
      await release.promise
    })
    const opened = await open(world)
    await subscribed(world)
    await opened.create({ order: 1 })
    await received.promise
    const closed = opened.close()
    await eventually(async () => expect(await health(world)).toBe(503))
    await opened.create({ order: 'at the end' })
    world.emulator.raise(world.emulator.topic('orders').id, [later])
    await world.emulator.records.deliveries.waitFor(({ status }) => status === 503)
    release.resolve()
    await closed
    await world.emulator.records.deliveries.waitFor(({ status }) => status === 200)
    expect(handled).toEqual([{ order: 1 }])
    expect(statusesOf(world).filter((status) => status === 200)).toHaveLength(1)
    expect(world.emulator.figures()).toMatchObject({ delivered: 1, deadLettered: 0, dropped: 0 })
  })

  it('leaves the event subscription at its end, and at the next start takes what came meanwhile and writes nothing', async () => {
    const received = Promise.withResolvers<unknown>()
    const world = await openLifecycle((data) => received.resolve(data))
    const first = await open(world)
    await subscribed(world)
    await first.close()
    const written = writesOf(world).length
    const source = world.emulator.topic('orders').id
    world.emulator.raise(source, [later])
    const second = await open(world)
    expect(await received.promise).toEqual(later.data)
    await world.emulator.settled()
    await second.close()
    expect(writesOf(world)).toHaveLength(written)
    expect(world.emulator.eventSubscription(source, 'orders')?.provisioningState).toBe('Succeeded')
  })

  it('takes events with provisioning check, where it only reads, and none, where it asks neither Resource Manager nor Entra', async () => {
    const handled: unknown[] = []
    const world = await openLifecycle((data) => void handled.push(data))
    const first = await open(world)
    await subscribed(world)
    await first.close()
    const { requests } = world.emulator.records
    for (const { provisioning, methods } of [
      { provisioning: 'check', methods: ['GET'] },
      { provisioning: 'none', methods: [] },
    ] as const) {
      const before = requests.all().length
      const opened = await open({ ...world, provisioning })
      await opened.create({ provisioning })
      await world.emulator.settled()
      await opened.close()
      const asked = requests.all().slice(before)
      expect(new Set(asked.filter(({ route }) => route === 'arm').map(({ method }) => method))).toEqual(
        new Set(methods),
      )
      expect(asked.some(({ route }) => route === 'entra')).toBe(provisioning === 'check')
    }
    expect(handled).toEqual([{ provisioning: 'check' }, { provisioning: 'none' }])
  })
})

describe.each(doors)('through $name, by pull delivery', ({ open }) => {
  async function openPull(handle: Handler): Promise<DoorWorld> {
    const orders = { name: 'orders', eventSubscriptions: [{ name: 'app' }] }
    const emulator = await startEmulator({
      topics: [{ name: 'orders' }],
      namespaces: [{ name: 'shop', topics: [orders] }],
    })
    return { emulator, handshakePort: '0', handle, pull: true }
  }

  it('acknowledges an event once it is handled, receives it again when its handling fails, and ends', async () => {
    const handled: unknown[] = []
    const world = await openPull((data) => {
      handled.push(data)
      if (handled.length === 1) throw new Error('not this time')
    })
    const opened = await open(world)
    await opened.create({ order: 1 })
    await world.emulator.settled()
    await opened.close()
    expect(handled).toEqual([{ order: 1 }, { order: 1 }])
    const asked = world.emulator.records.requests.all().map(({ route }) => route)
    expect(new Set(asked)).toEqual(new Set(['namespace']))
  })

  it('awaits what is being handled at its end, and settles it', async () => {
    const [received, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const world = await openPull(async () => {
      received.resolve()
      await release.promise
    })
    const opened = await open(world)
    await opened.create({ order: 1 })
    await received.promise
    const closed = opened.close()
    release.resolve()
    await closed
    expect([...world.emulator.queues().values()]).toEqual([{ available: 0, locked: 0, delayed: 0 }])
  })
})
