/** After an update, what the former settings brought goes on being taken: another secret, another name, another scope. */
import { expect, it } from 'vitest'
import type { EventGridEmulator } from '../../../packages/emulator/src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { type Fields, openWorld, type World } from '../../support/open-world.ts'
import { quickenTime } from '../../support/quick-time.ts'

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
const statuses = ({ records }: EventGridEmulator) => new Set(records.deliveries.all().map(({ status }) => status))
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
  'takes what the former event subscription delivers, and says how to delete it: $what',
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
    expect(warning?.fields).toMatchObject({
      eventSubscription: 'orders',
      remedy: expect.stringContaining(
        `az eventgrid event-subscription delete --name orders --source-resource-id ${emulator.topic('orders').id}`,
      ),
    })
  },
)

it('warns of a former event subscription once a minute, as long as it delivers', async () => {
  quickenTime()
  const world = await openWithFailures()
  await world.init()
  await world.update({ eventSubscriptionName: 'renamed' })
  const started = Date.now()
  for (let id = 0; Date.now() - started < 130_000; id += 1) {
    world.raise(`${id}`)
    await world.emulator.settled()
  }
  expect(warnings(world, 'a former event subscription').length).toBeGreaterThanOrEqual(2)
  expect(warnings(world, 'a former event subscription').length).toBeLessThanOrEqual(4)
})

it.each(['clientSecret', 'deliveryToken'])(
  'takes the former credential until the new one is written: %s',
  async (field) => {
    const world = await openWithFailures()
    const { emulator, raise } = world
    await world.init({ deliveryToken: field === 'deliveryToken' ? 'a-token-that-is-long-enough' : undefined })
    const { value: secret } = emulator.addSecret()
    emulator.failNext({ route: 'arm', times: 10_000, status: 503 })
    await world.update(
      field === 'deliveryToken' ? { deliveryToken: 'another-token-that-is-long' } : { clientSecret: secret },
    )
    for (let id = 0; id < 20; id += 1) raise(`${id}`)
    await emulator.settled()
    expect([...statuses(emulator)]).toEqual([200])
    expect(world.binding.health().input?.ready).toBe(true)
  },
)
