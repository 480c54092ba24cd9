/** After an update, what the former settings brought goes on being taken: another secret, another name, another scope. */
import { expect, it } from 'vitest'
import type { EventGridEmulator } from '../../../packages/emulator/src/index.ts'
import { cloudEventText, credentialFrom } from '../../listener/open-listener.ts'
import { managementOf } from '../../support/azure-clients.ts'
import { eventually } from '../../support/eventually.ts'
import { type Fields, openWorld, type World } from '../../support/open-world.ts'
import { skipTime } from '../../support/skipped-time.ts'

/** Two topics, and a handler that fails each event of type `fails` as long as `isFailing` says so. */
async function openWithFailures(options: { readonly retrySchedule?: readonly number[] } = {}) {
  const failing = { isOn: true }
  const world = await openWorld({
    emulator: { topics: [{ name: 'orders' }, { name: 'returns' }], retrySchedule: options.retrySchedule ?? [50] },
    binding: {
      onEvent({ cloudEvent }) {
        if (failing.isOn && cloudEvent.type === 'fails') throw new Error('later')
      },
    },
  })
  const raise = (id: string, type = 'order', topic = 'orders') =>
    world.emulator.raise(world.emulator.topic(topic).id, [{ specversion: '1.0', source: '/shop', type, id }])
  return { ...world, failing, raise }
}

const idsOf = ({ handled }: World) => handled.map(({ cloudEvent }) => cloudEvent.id)
/** Without deliveries that found no listener, or one that closed their connection: they come again. */
const statuses = ({ records }: EventGridEmulator) =>
  new Set(records.deliveries.all().flatMap(({ status }) => status ?? []))
const warnings = ({ log }: World, part: string) =>
  log.lines.filter(({ level, message }) => level === 'warn' && message.includes(part))

/** What changes the name or the scope, and what the warning names: the former event subscription. */
const renamings: readonly { what: string; mode: Fields; changes: Fields; isScope?: true; twice?: true }[] = [
  { what: 'name, by secret', mode: {}, changes: { eventSubscriptionName: 'renamed' }, twice: true },
  {
    what: 'name, by entra',
    mode: { deliveryAuthentication: 'entra' },
    changes: { eventSubscriptionName: 'renamed' },
    twice: true,
  },
  {
    what: 'name, by none',
    mode: { deliveryAuthentication: 'none' },
    changes: { eventSubscriptionName: 'renamed' },
    twice: true,
  },
  { what: 'scope, by secret', mode: {}, changes: {}, isScope: true },
  { what: 'name and scope, by secret', mode: {}, changes: { eventSubscriptionName: 'renamed' }, isScope: true },
  {
    what: 'name and secret at once',
    mode: {},
    changes: { eventSubscriptionName: 'renamed', deliveryToken: 'a-token-that-is-long-enough' },
    twice: true,
  },
]

it.each(renamings)(
  'takes what the former event subscription delivers, and names it: $what',
  async ({ mode, changes, isScope, twice }) => {
    const world = await openWithFailures()
    const { emulator, failing, raise } = world
    await world.init(mode)
    raise('before', 'fails')
    await eventually(() => expect(statuses(emulator)).toContain(500))
    const scope = isScope && { scope: emulator.topic('returns').id }
    await world.update({ ...mode, ...changes, ...scope })
    failing.isOn = false
    await eventually(() => expect(world.binding.health().status).toBe('healthy'))
    await eventually(() => expect(idsOf(world)).toContain('before'))
    raise('after')
    await emulator.settled()
    expect(idsOf(world).filter((id) => id === 'after')).toHaveLength(twice ? 2 : 1)
    if (isScope) {
      raise('of the other scope', 'order', 'returns')
      await emulator.settled()
      expect(idsOf(world)).toContain('of the other scope')
    }
    expect([...statuses(emulator)].sort()).toEqual([200, 500])
    const [warning, ...more] = warnings(world, 'a former event subscription')
    expect(more).toEqual([])
    expect(warning?.fields).toMatchObject({ eventSubscription: 'orders', scope: emulator.topic('orders').id })
  },
)

it('does not say that the event subscription was deleted where the former one was, of the same name', async () => {
  const world = await openWithFailures()
  const { emulator, binding } = world
  await world.init()
  await world.update({ scope: emulator.topic('returns').id })
  await eventually(() => expect(binding.health().status).toBe('healthy'))
  const { eventSubscriptions } = managementOf(emulator)
  await eventSubscriptions.beginDeleteAndWait(emulator.topic('orders').id.slice(1), 'orders')
  await eventually(() => expect(binding.health().input?.answered).toEqual({ 200: 1 }))
  expect(warnings(world, 'was deleted')).toEqual([])
})

it('warns of a former event subscription once a minute, as long as it delivers', async () => {
  const world = await openWithFailures()
  await world.init()
  await world.update({ eventSubscriptionName: 'renamed' })
  await eventually(() => expect(world.binding.health().status).toBe('healthy'))
  const skip = skipTime()
  const told: number[] = []
  for (const passed of [0, 30_000, 61_000, 90_000, 122_000]) {
    skip(passed)
    world.raise(`after ${passed} ms`)
    await world.emulator.settled()
    told.push(warnings(world, 'a former event subscription').length)
  }
  expect(told).toEqual([1, 1, 2, 2, 3])
})

it.each(['clientSecret', 'deliveryToken'])(
  'takes the former credential until the new one is written: %s',
  async (field) => {
    const world = await openWithFailures()
    const { emulator, raise } = world
    await world.init({ deliveryToken: field === 'deliveryToken' ? 'a-token-that-is-long-enough' : undefined })
    emulator.failNext({ route: 'arm', times: 10_000, status: 503 })
    await world.update(
      field === 'deliveryToken'
        ? { deliveryToken: 'another-token-that-is-long' }
        : { clientSecret: 'another-client-secret' },
    )
    for (let id = 0; id < 20; id += 1) raise(`${id}`)
    await emulator.settled()
    expect([...statuses(emulator)]).toEqual([200])
    expect(world.binding.health().input?.ready).toBe(true)
  },
)

it.each<{ when: string; provisioning: string; lacks?: true; minutes: number; status: number }>([
  {
    when: 'ten minutes after the event subscription was read with it',
    provisioning: 'manage',
    minutes: 11,
    status: 503,
  },
  { when: 'not before ten minutes are over', provisioning: 'manage', minutes: 9, status: 200 },
  { when: 'never where it is not read', provisioning: 'none', minutes: 600, status: 200 },
  { when: 'never where it cannot be read with it', provisioning: 'check', minutes: 600, status: 200 },
  { when: 'never as long as it cannot be read', provisioning: 'manage', lacks: true, minutes: 600, status: 200 },
])('gives up the former credential $when: $provisioning', async ({ provisioning, lacks, minutes, status }) => {
  const skip = skipTime()
  const world = await openWithFailures()
  const { emulator, binding, fields } = world
  const former = { deliveryToken: 'a-token-that-is-long-enough' }
  await world.init(former)
  const wanted = { ...former, provisioning }
  await world.update(wanted)
  await eventually(() => expect(binding.health().input?.eventSubscription?.state).not.toBe('pending'))
  if (lacks) emulator.failNext({ route: 'arm', times: 10_000, status: 503 })
  await world.update({ ...wanted, deliveryToken: 'another-token-that-is-long' })
  const state = lacks ? 'failed' : provisioning === 'none' ? 'unmanaged' : 'provisioned'
  await eventually(() => expect(binding.health().input?.eventSubscription?.state).toBe(state))
  skip(minutes * 60_000)
  const deliver = (name: string) =>
    fetch(`http://127.0.0.1:${binding.address()?.port}/api/events`, {
      method: 'POST',
      headers: {
        'content-type': 'application/cloudevents+json',
        'aeg-subscription-name': name,
        'x-eventgrid-binding-token': credentialFrom(former.deliveryToken, fields.scope, 'orders').text,
      },
      body: cloudEventText('1'),
    })
  expect((await deliver('ORDERS')).status).toBe(status)
  // It was derived for another name.
  expect((await deliver('other')).status).toBe(401)
})

it.each([
  { what: 'without a credential, under the former name', headers: { 'aeg-subscription-name': 'ORDERS' }, status: 503 },
  { what: 'without a credential, under another name', headers: { 'aeg-subscription-name': 'other' }, status: 401 },
])('accepts nothing $what where deliveryAuthentication was none', async ({ headers, status }) => {
  const world = await openWithFailures()
  await world.init({ deliveryAuthentication: 'none' })
  await world.update({ eventSubscriptionName: 'renamed' })
  const answer = await fetch(`http://127.0.0.1:${world.binding.address()?.port}/api/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json', ...headers },
    body: cloudEventText('1'),
  })
  expect(answer.status).toBe(status)
  expect(world.handled).toEqual([])
})
