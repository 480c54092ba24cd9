/** Replicas with an old and a new secret share one event subscription. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { type Clock, realClock } from '../../src/emulator/index.ts'
import { Binding } from '../../src/index.ts'
import { credentialOf } from '../support/azure-clients.ts'
import { publicUrl } from '../support/open-world.ts'
import { startEmulator } from '../support/start-emulator.ts'

vi.setConfig({ testTimeout: 90_000 })

type Secrets = { readonly clientSecret: string } | { readonly deliveryToken: string }

/**
 * The machine's clock, with timers in steps of 50 ms. A process that did not run for seconds counts one step: an operation
 * outlasts the requests that were on their way, however slow the machine is.
 */
const steppingClock: Clock = {
  now: realClock.now,
  setTimer(ms, callback) {
    let cancel = () => {}
    const step = (left: number) => {
      cancel = realClock.setTimer(Math.min(left, 50), () => (left > 50 ? step(left - 50) : callback()))
    }
    step(ms)
    return () => cancel()
  },
}

const oldToken = 'the-old-token-of-32-characters--'
const newToken = 'the-new-token-of-32-characters--'

/**
 * An emulator whose operations take time and exclude each other, as Azure's do, and an ingress that spreads deliveries over
 * the open replicas.
 */
async function openFleet() {
  const emulator = await startEmulator({
    clock: steppingClock,
    conflicts: true,
    // Far longer than the time between a replica's read and its write, as in Azure: later writes meet a conflict.
    operationDelayMs: 1_500,
    retrySchedule: [5],
    deadLetterDelay: 0,
  })
  const open: Binding[] = []
  const credential = credentialOf(emulator)
  let turn = 0
  emulator.setIngress(({ pathname }) => {
    const ports = open.flatMap((binding) => binding.address()?.port ?? [])
    return `http://127.0.0.1:${ports[turn++ % ports.length] ?? 1}${pathname}`
  })
  const topic = emulator.topic()
  const replica = async (secrets: Secrets) => {
    const binding = new Binding({ endpoints: emulator.endpoints, credential, onEvent: () => undefined })
    onTestFinished(() => binding.close())
    open.push(binding)
    await binding.init({
      subscriptionId: emulator.subscriptionId,
      subscriberEndpoint: publicUrl,
      handshakePort: '0',
      listenAddress: '127.0.0.1',
      scope: topic.id,
      eventSubscriptionName: 'orders',
      ...secrets,
    })
    return binding
  }
  const { requests, deliveries } = emulator.records
  return {
    start: (count: number, secrets: Secrets) => Promise.all(Array.from({ length: count }, () => replica(secrets))),
    /** Ends replicas, as a roll-out or a rollback does: no ingress leads to them any more. */
    async end(replicas: readonly Binding[]) {
      open.splice(0, open.length, ...open.filter((binding) => !replicas.includes(binding)))
      await Promise.all(replicas.map((binding) => binding.close()))
    },
    /** Publishes a hundred events and gives the statuses that their deliveries were answered. */
    async deliver() {
      deliveries.clear()
      const event = { specversion: '1.0', source: '/shop', type: 'order' }
      emulator.raise(
        topic.id,
        Array.from({ length: 100 }, (_, id) => ({ ...event, id: `${id}` })),
      )
      await emulator.settled()
      return new Set(deliveries.all().map(({ status }) => status))
    },
    /** Changes of the event subscription that ARM accepted so far. */
    writes: () =>
      requests.filter(
        ({ face, method, status }) => face === 'arm' && (method === 'PUT' || method === 'PATCH') && status < 400,
      ).length,
    /** How many credentials the event subscription carries. */
    credentials: () =>
      JSON.stringify(emulator.eventSubscription(topic.id, 'orders')).match(/[0-9a-f]{16}\.[\w-]{43}/g)?.length,
    health: () => new Set(open.map((binding) => binding.health().status)),
  }
}

it.each<{ name: string; before: Secrets; during: Secrets; after: Secrets }>([
  {
    name: 'clientSecret',
    before: { clientSecret: 'the-old-secret' },
    during: { clientSecret: 'the-new-secret' },
    after: { clientSecret: 'the-new-secret' },
  },
  {
    name: 'deliveryToken',
    before: { deliveryToken: oldToken },
    during: { deliveryToken: `${newToken},${oldToken}` },
    after: { deliveryToken: newToken },
  },
])('a rotation of $name costs one write, and no delivery is refused', async ({ before, during, after }) => {
  const fleet = await openFleet()
  const old = await fleet.start(10, before)
  expect(fleet.writes()).toBe(1)
  expect(await fleet.deliver()).toEqual(new Set([200]))

  await fleet.start(10, during)
  expect(fleet.writes()).toBe(2)
  expect(await fleet.deliver()).toEqual(new Set([200]))
  expect(await fleet.deliver()).toEqual(new Set([200]))

  await fleet.end(old)
  await fleet.start(2, after)
  expect(await fleet.deliver()).toEqual(new Set([200]))
  expect(fleet.writes()).toBe(2)
  expect(fleet.health()).toEqual(new Set(['healthy']))
})

it('a rollback in the middle of a rotation writes nothing, and no delivery is refused', async () => {
  const fleet = await openFleet()
  await fleet.start(3, { clientSecret: 'the-old-secret' })
  const fresh = await fleet.start(3, { clientSecret: 'the-new-secret' })
  expect(fleet.writes()).toBe(2)

  await fleet.end(fresh)
  await fleet.start(3, { clientSecret: 'the-old-secret' })
  expect(fleet.writes()).toBe(2)
  expect(await fleet.deliver()).toEqual(new Set([200]))
})

it('replicas of three versions that start at the same moment end up with a credential each', async () => {
  const fleet = await openFleet()
  const versions = ['one', 'two', 'three'].map((version) => ({ clientSecret: `the-secret-of-${version}` }))
  await Promise.all(versions.map((secrets) => fleet.start(4, secrets)))
  // A replica whose credential a write at the same moment replaced adds it again at its next delivery.
  await fleet.deliver()
  await expect.poll(() => fleet.credentials(), { timeout: 20_000 }).toBe(3)
  expect(await fleet.deliver()).toEqual(new Set([200]))
  expect(fleet.writes()).toBeLessThanOrEqual(6)
})
