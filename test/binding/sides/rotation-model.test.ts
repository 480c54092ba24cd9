/** Two components in one process are rotated, renamed, exchange their ports and are closed while they change: no event is lost. */
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { EventGridEmulator } from '../../../packages/emulator/src/index.ts'
import { Binding, isBindingError } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { fieldsFor, outputFields, without } from '../../support/open-world.ts'
import { quickRetries } from '../../support/quick-retries.ts'
import { tryWorlds } from '../../support/random-worlds.ts'

const names = ['orders', 'returns']
const which = fc.constantFrom(0, 1)
const changes = fc.record(
  {
    deliveryToken: fc.constantFrom(
      'a-token-that-is-long-enough',
      'another-token-that-is-long',
      'the-third-token-of-all',
    ),
    eventSubscriptionName: fc.constantFrom('first', 'second', 'third'),
    maxConcurrency: fc.constantFrom('2', '16'),
  },
  { requiredKeys: [] },
)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('update'), which, changes }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('raise'), which, how: fc.constantFrom('ends', 'throws', 'holds') }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('exchange') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('closeWhileUpdating'), which, changes }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('azureFails'), times: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('endHandlers') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('turn') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('endUpdates') }) },
)

/** What a delivery may be answered: never an answer that ends an event. `undefined`: it found no listener. */
const allowed = new Set([200, 500, 503, undefined])

it('takes every event, whatever changes', async () => {
  const emulator = await EventGridEmulator.start({
    topics: names.map((name) => ({ name })),
    retrySchedule: quickRetries,
    deadLetterDelay: 0,
  })
  onTestFinished(() => emulator.close())
  const { deliveries } = emulator.records
  const topics = names.map((name) => emulator.topic(name).id)
  const host = (index: number) => `${names[index]}.example.com`
  let worlds = 0

  await tryWorlds(fc.array(step, { maxLength: 30 }), { count: 10 }, async (script) => {
    worlds += 1
    const ports = [String(await freePort()), String(await freePort())]
    const world = `w${worlds}`
    const raised = new Set<string>()
    const handled = new Set<string>()
    const failed = new Set<string>()
    let held: (() => void)[] = []
    let holds = true
    let events = 0
    const components = topics.map((scope, index) => {
      const binding = new Binding({
        endpoints: emulator.endpoints,
        async onEvent({ cloudEvent: { id, type } }) {
          if (type === 'throws' && !failed.has(id)) {
            failed.add(id)
            throw new Error('once')
          }
          if (type === 'holds' && holds) await new Promise<void>((release) => held.push(release))
          handled.add(id)
        },
      })
      const fields: Record<string, unknown> = {
        ...fieldsFor(emulator),
        ...without(...outputFields),
        ...{ scope, eventSubscriptionName: 'first', deliveryToken: 'a-token-that-is-long-enough' },
        ...{ subscriberEndpoint: `https://${host(index)}/api/events`, handshakePort: ports[index] },
      }
      return { binding, fields }
    })
    emulator.setIngress(({ hostname, pathname }) => {
      const found = components.find((_one, index) => host(index) === hostname)
      return `http://127.0.0.1:${found?.binding.address()?.port ?? 1}${pathname}`
    })
    const endHandlers = () => {
      for (const release of held) release()
      held = []
    }
    let updates: Promise<unknown>[] = []
    /** Fails by a close alone. */
    const update = (index: number, more: Record<string, unknown>) => {
      const component = components[index]
      if (!component) throw new Error('there are two')
      Object.assign(component.fields, more)
      const outcome = component.binding.update({ ...component.fields }).catch((error: unknown) => {
        if (!isBindingError(error) || error.code !== 'CLOSED') throw error
      })
      updates.push(outcome)
      return component.binding
    }
    async function endUpdates(): Promise<void> {
      await Promise.all(updates)
      updates = []
      expect(components.map(({ binding }) => String(binding.address()?.port))).toEqual(
        components.map(({ fields }) => fields.handshakePort),
      )
    }
    try {
      await Promise.all(components.map(({ binding, fields }) => binding.init(fields)))
      for (const one of script) {
        if (one.kind === 'turn') await new Promise(setImmediate)
        else if (one.kind === 'endHandlers') endHandlers()
        else if (one.kind === 'endUpdates') await endUpdates()
        else if (one.kind === 'azureFails') emulator.failNext({ route: 'arm', times: one.times, status: 503 })
        else if (one.kind === 'update') update(one.which, one.changes)
        else if (one.kind === 'closeWhileUpdating') {
          const binding = update(one.which, one.changes)
          updates.push(binding.close({ sides: ['input'] }))
          update(one.which, {})
        } else if (one.kind === 'exchange') {
          // Two exchanges at once would be two components that want one port.
          await endUpdates()
          ports.reverse()
          for (const [index, handshakePort] of ports.entries()) update(index, { handshakePort })
        } else {
          events += 1
          const id = `${world}-${events}`
          raised.add(id)
          emulator.raise(topics[one.which] ?? '', [{ specversion: '1.0', source: '/shop', type: one.how, id }])
        }
      }
      await endUpdates()
      holds = false
      endHandlers()
      emulator.clearFaults()
      await eventually(() =>
        expect(components.map(({ binding }) => binding.health().status)).toEqual(['healthy', 'healthy']),
      )
      await emulator.settled()
      expect([...raised].filter((id) => !handled.has(id))).toEqual([])
      const own = deliveries.filter(({ eventIds }) => eventIds.some((id) => id.startsWith(`${world}-`)))
      expect(own.filter(({ status, outcome }) => !allowed.has(status) || outcome === 'dropped')).toEqual([])
      const acknowledged = own.filter(({ status }) => status === 200).flatMap(({ eventIds }) => eventIds)
      expect(acknowledged.filter((id) => !handled.has(id))).toEqual([])
    } finally {
      holds = false
      endHandlers()
      await Promise.all(components.map(({ binding }) => binding.close()))
      // The event subscriptions of this world would deliver the events of the next one.
      for (const name of names) {
        emulator.removeTopic(name)
        emulator.addTopic({ name })
      }
    }
  })
})
