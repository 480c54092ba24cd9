/** When health is unhealthy: no event comes, or none is handled. What works in part, or by former settings, is degraded. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Fault } from '../../packages/emulator/src/index.ts'
import type { Secret } from '../../src/core/secret.ts'
import { Binding } from '../../src/index.ts'
import { credentialFrom } from '../listener/open-listener.ts'
import { eventually } from '../support/eventually.ts'
import { openPull, order } from '../support/open-pull.ts'
import { type Fields, fieldsFor, openWorld, type World } from '../support/open-world.ts'

const background = { subscription: 'background' } as const
const inputOf = ({ binding }: Pick<World, 'binding'>) => binding.health().input
const reasonsOf = (world: Pick<World, 'binding'>) => inputOf(world)?.reasons.join('\n')

/** Posts deliveries of our event subscription, with a credential where one is given. */
async function deliver({ binding }: Pick<World, 'binding'>, count: number, token?: Secret) {
  const headers = {
    'content-type': 'application/cloudevents+json',
    'aeg-subscription-name': 'ORDERS',
    ...(token !== undefined && { 'x-eventgrid-binding-token': token.reveal() }),
  }
  const url = `http://127.0.0.1:${binding.address()?.port}/api/events`
  const post = async (index: number) =>
    (await fetch(url, { method: 'POST', headers, body: JSON.stringify(order(`posted-${index}`)) })).status
  return Promise.all(Array.from({ length: count }, (_, index) => post(index)))
}

describe('the event subscription', () => {
  it.each<{ name: string; says: string; fields?: Fields; strike?: (world: World) => unknown }>([
    { name: 'the role is missing', says: 'role', strike: ({ emulator }) => emulator.removeRoles(emulator.clientId) },
    { name: 'the secret is mistyped', says: 'secret', fields: { clientSecret: 'mistyped' } },
    {
      name: 'the endpoint does not consent',
      says: 'no event comes',
      strike: ({ emulator }) => emulator.setIngress(() => undefined),
    },
  ])('never stood, as $name', async ({ says, fields, strike }) => {
    const world = await openWorld()
    await strike?.(world)
    await world.init(fields, background)
    await eventually(() => expect(inputOf(world)).toMatchObject({ status: 'unhealthy', cause: 'subscription' }))
    expect(reasonsOf(world)).toContain(says)
  })

  it.each<{ name: string; fault: Fault }>([
    { name: 'Resource Manager throttles', fault: { route: 'arm', status: 429, retryAfter: 60 } },
    { name: 'Entra has trouble', fault: { route: 'entra', status: 503 } },
    { name: 'an answer is not to be read', fault: { route: 'arm', status: 200 } },
    { name: 'the connection breaks', fault: { route: 'arm', drop: true } },
  ])('that cannot be read, as $name, may stand: degraded', async ({ fault }) => {
    const world = await openWorld()
    world.emulator.failNext({ ...fault, times: 1_000 })
    await world.init({}, background)
    await eventually(() => expect(inputOf(world)?.eventSubscription?.state).toBe('failed'))
    expect(inputOf(world)).toMatchObject({ status: 'degraded', ready: true })
    expect(inputOf(world)?.cause).toBeUndefined()
  })

  it('stands where it was written before the role went: a delivery shows that, and health is degraded', async () => {
    const world = await openWorld()
    const { emulator, binding } = world
    await world.init()
    await binding.close()
    emulator.removeRoles(emulator.clientId)
    const again = new Binding({ endpoints: emulator.endpoints, onEvent: () => {} })
    await again.init(fieldsFor(emulator), background)
    emulator.setIngress(({ pathname }) => `http://127.0.0.1:${again.address()?.port}${pathname}`)
    await eventually(() => expect(inputOf({ binding: again })?.cause).toBe('subscription'))
    emulator.raise(emulator.topic('orders').id, [order('one')])
    await eventually(() => expect(inputOf({ binding: again })?.status).toBe('degraded'))
    await again.close()
  })
})

describe('deliveries', () => {
  it('are refused or put off by half, of five or more', async () => {
    const world = await openWorld()
    await world.init()
    const { value } = credentialFrom(world.emulator.clientSecret, world.emulator.topic('orders').id)
    expect(await deliver(world, 4)).toEqual([503, 503, 503, 503])
    expect(inputOf(world)?.status).toBe('degraded')
    await deliver(world, 1)
    expect(inputOf(world)).toMatchObject({ status: 'unhealthy', cause: 'deliveries', ready: true })
    expect(reasonsOf(world)).toContain('5 of the 5 deliveries of the last two minutes were refused or put off')
    expect(await deliver(world, 6, value)).toEqual([200, 200, 200, 200, 200, 200])
    expect(inputOf(world)?.status).not.toBe('unhealthy')
  })

  it('that the sender or the application is to blame for are no reason of ours', async () => {
    const onEvent = ({ cloudEvent: { id } }: { readonly cloudEvent: { readonly id: string } }) => {
      if (id !== 'posted-0') throw new Error('not this one')
    }
    const world = await openWorld({ binding: { onEvent } })
    await world.init()
    const { value } = credentialFrom(world.emulator.clientSecret, world.emulator.topic('orders').id)
    expect(await deliver(world, 7, value)).toEqual([200, 500, 500, 500, 500, 500, 500])
    expect(inputOf(world)).toMatchObject({ status: 'healthy', reasons: [] })
  })

  it('are put off as there has been no application yet', async () => {
    const { emulator } = await openWorld()
    const binding = new Binding({ endpoints: emulator.endpoints })
    onTestFinished(() => binding.close())
    await binding.init({ ...fieldsFor(emulator), provisioning: 'none' })
    binding.read(undefined)
    expect(inputOf({ binding })).toMatchObject({ status: 'degraded', ready: true })
    const { value } = credentialFrom(emulator.clientSecret, emulator.topic('orders').id)
    await deliver({ binding }, 5, value)
    expect(inputOf({ binding })).toMatchObject({ status: 'unhealthy', cause: 'deliveries', ready: true })
  })
})

describe('the handler', () => {
  it('has gone, until there is one again', async () => {
    const world = await openWorld()
    await world.init()
    world.binding.read(undefined)
    world.binding.read(undefined)
    expect(inputOf(world)).toMatchObject({ status: 'unhealthy', cause: 'handler', ready: true })
    expect(reasonsOf(world)).toContain('no application takes events')
    world.binding.read(() => {})
    expect(inputOf(world)).toMatchObject({ status: 'healthy', reasons: [] })
  })

  it('of pull delivery has gone, until there is one again', async () => {
    const { binding, byKey } = await openPull()
    await binding.init(byKey)
    await eventually(() => expect(inputOf({ binding })?.status).toBe('healthy'))
    binding.read(undefined)
    expect(inputOf({ binding })).toMatchObject({ status: 'unhealthy', cause: 'handler', ready: true })
    binding.read(() => {})
    expect(inputOf({ binding })?.status).toBe('healthy')
  })

  it.each([
    { name: 'fails', fields: {}, hangs: false },
    { name: 'hangs', fields: { handlerTimeout: '100ms' }, hangs: true },
  ])('$name for five events or more, and for all of them, until one is handled', async ({ fields, hangs }) => {
    const broken = { isOn: true }
    const onEvent = () => {
      if (broken.isOn && hangs) return new Promise<void>(() => {})
      if (broken.isOn) throw new Error('down')
    }
    const world = await openWorld({ binding: { onEvent } })
    await world.init(fields)
    const { value } = credentialFrom(world.emulator.clientSecret, world.emulator.topic('orders').id)
    await deliver(world, 4, value)
    expect(inputOf(world)?.status).toBe('healthy')
    await deliver(world, 1, value)
    expect(inputOf(world)).toMatchObject({ status: 'unhealthy', cause: 'handler', ready: true })
    expect(reasonsOf(world)).toContain('the application failed the last 5 events')
    broken.isOn = false
    await world.binding.invoke('create', { order: 1 })
    await eventually(() => expect(inputOf(world)).toMatchObject({ status: 'healthy', reasons: [] }))
  })

  const allHang = 'every handler call that there is room for has run longer than handlerTimeout'

  it('hangs in all calls: no event is handled until a call ends, though few calls failed', async () => {
    const hold = Promise.withResolvers<void>()
    const world = await openWorld({ binding: { onEvent: () => hold.promise } })
    await world.init({ handlerTimeout: '100ms', maxConcurrency: '2' })
    const { value } = credentialFrom(world.emulator.clientSecret, world.emulator.topic('orders').id)
    expect(await deliver(world, 2, value)).toEqual([503, 503])
    expect(inputOf(world)).toMatchObject({ status: 'unhealthy', cause: 'handler', ready: true })
    expect(reasonsOf(world)).toContain(allHang)
    hold.resolve()
    await eventually(() => expect(inputOf(world)).toMatchObject({ status: 'healthy', reasons: [] }))
  })

  it('hangs in all calls of pull delivery: nothing is received until a call ends', async () => {
    const hold = Promise.withResolvers<void>()
    const { binding, publish, byKey } = await openPull({ binding: { onEvent: () => hold.promise } })
    await binding.init({ ...byKey, handlerTimeout: '100ms', maxConcurrency: '2' })
    await publish(order('first'), order('second'))
    await eventually(() => expect(inputOf({ binding })).toMatchObject({ status: 'unhealthy', cause: 'handler' }))
    expect(reasonsOf({ binding })).toContain(allHang)
    hold.resolve()
    await eventually(() => expect(inputOf({ binding })?.status).toBe('healthy'))
  })

  it('of pull delivery fails for all events', async () => {
    const broken = { isOn: true }
    const onEvent = () => {
      if (broken.isOn) throw new Error('down')
    }
    const { binding, publish, byKey } = await openPull({ binding: { onEvent } })
    await binding.init(byKey)
    await publish(...Array.from({ length: 5 }, (_, index) => order(`event-${index}`)))
    await eventually(() => expect(inputOf({ binding })).toMatchObject({ status: 'unhealthy', cause: 'handler' }))
    broken.isOn = false
    await publish(order('handled'))
    await eventually(() => expect(inputOf({ binding })?.status).toBe('healthy'))
  })
})

it('while it drains is degraded: a rolling restart is no outage', async () => {
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const onEvent = () => {
    begun.resolve()
    return held.promise
  }
  const world = await openWorld({ binding: { onEvent } })
  await world.init()
  await world.binding.invoke('create', { order: 1 })
  await begun.promise
  const closed = world.binding.close({ sides: ['input'] })
  await eventually(() => expect(inputOf(world)).toMatchObject({ ready: false }))
  expect(inputOf(world)).toMatchObject({ status: 'degraded', reasons: ['the listener is closing'] })
  held.resolve()
  await closed
  expect(inputOf(world)).toMatchObject({ status: 'unhealthy', cause: 'closed' })
})
