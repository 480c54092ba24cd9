/** Replicas with an old and a new secret share one event subscription. */
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { type Clock, realClock } from '../../../packages/emulator/src/index.ts'
import { Binding, type Logger } from '../../../src/index.ts'
import { credentialOf } from '../../support/azure-clients.ts'
import { publicUrl } from '../../support/open-world.ts'
import { quickRetries } from '../../support/quick-retries.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { startEmulator } from '../../support/start-emulator.ts'

vi.setConfig({ testTimeout: 90_000 })
beforeEach(quickenTime)

type Secrets = { readonly clientSecret: string } | { readonly deliveryToken: string }

/** Of the emulator. Only operations take so long. */
const operationDelayMs = 3_600_000

/**
 * The machine's clock, on which an operation ends when every other replica that starts has seen that it is under way. In Azure it takes
 * seconds, far longer than the time between a replica's read and its write; here that must not depend on the speed of the machine.
 */
function createOperationClock() {
  const held = new Set<() => void>()
  const starting = new Set<object>()
  const waiting = new Set<object>()
  const look = () => {
    if (held.size === 0 || waiting.size < starting.size - 1) return
    waiting.clear()
    const ended = [...held]
    held.clear()
    for (const end of ended) end()
  }
  const clock: Clock = {
    now: realClock.now,
    setTimer(ms, callback) {
      if (ms !== operationDelayMs) return realClock.setTimer(ms, callback)
      held.add(callback)
      // Later: a clock never calls back while its timer is set.
      setImmediate(look)
      return () => held.delete(callback)
    },
  }
  return {
    clock,
    /** A logger for a replica that starts; the log says that it has seen an operation. */
    starts(replica: object): Logger {
      starting.add(replica)
      const debug = (message: string) => {
        if (!/ is (Creating|Updating); /.test(message)) return
        waiting.add(replica)
        look()
      }
      return { debug, info() {}, warn() {}, error() {} }
    },
    hasStarted(replica: object): void {
      starting.delete(replica)
      waiting.delete(replica)
      look()
    },
  }
}

const oldToken = 'the-old-token-of-32-characters--'
const newToken = 'the-new-token-of-32-characters--'

/**
 * An emulator whose operations take time and exclude each other, as Azure's do, and an ingress that spreads deliveries over
 * the open replicas.
 */
async function openFleet() {
  const { clock, starts, hasStarted } = createOperationClock()
  const quick = { retrySchedule: quickRetries, deadLetterDelay: 0 }
  const emulator = await startEmulator({ clock, conflicts: true, operationDelayMs, ...quick })
  const open: Binding[] = []
  const credential = credentialOf(emulator)
  let turn = 0
  emulator.setIngress(({ pathname }) => {
    const ports = open.flatMap((binding) => binding.address()?.port ?? [])
    return `http://127.0.0.1:${ports[turn++ % ports.length] ?? 1}${pathname}`
  })
  const topic = emulator.topic()
  const replica = async (secrets: Secrets) => {
    const replica = {}
    const logger = starts(replica)
    const binding = new Binding({ endpoints: emulator.endpoints, credential, logger, onEvent: () => undefined })
    onTestFinished(() => binding.close())
    open.push(binding)
    const { subscriptionId } = emulator
    await binding.init({
      ...{ subscriptionId, scope: topic.id, subscriberEndpoint: publicUrl, eventSubscriptionName: 'orders' },
      ...{ handshakePort: '0', ...secrets },
    })
    hasStarted(replica)
    return binding
  }
  const { requests, deliveries } = emulator.records
  const event = { specversion: '1.0', source: '/shop', type: 'order' }
  const events = Array.from({ length: 100 }, (_, id) => ({ ...event, id: `${id}` }))
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
      emulator.raise(topic.id, events)
      await emulator.settled()
      return new Set(deliveries.all().map(({ status }) => status))
    },
    /** Changes of the event subscription that ARM accepted so far. */
    writes: () =>
      requests.filter(
        ({ route, method, status }) => route === 'arm' && (method === 'PUT' || method === 'PATCH') && status < 400,
      ).length,
    /** How many credentials the event subscription carries. */
    credentials: () =>
      JSON.stringify(emulator.eventSubscription(topic.id, 'orders')).match(/[0-9a-f]{16}\.[\w-]{43}/g)?.length,
    health: () => new Set(open.map((binding) => binding.health().status)),
  }
}

it.each<[name: string, before: Secrets, during: Secrets, after: Secrets]>([
  ['clientSecret', { clientSecret: oldToken }, { clientSecret: newToken }, { clientSecret: newToken }],
  [
    'deliveryToken',
    { deliveryToken: oldToken },
    { deliveryToken: `${newToken},${oldToken}` },
    { deliveryToken: newToken },
  ],
])('a rotation of %s costs one write, and no delivery is refused', async (_name, before, during, after) => {
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
  await expect.poll(() => fleet.credentials(), { timeout: 30_000 }).toBe(3)
  expect(await fleet.deliver()).toEqual(new Set([200]))
  expect(fleet.writes()).toBeLessThanOrEqual(6)
})
