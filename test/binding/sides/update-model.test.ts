/** Whatever updates come, valid or not, and whatever is under way meanwhile: nothing is lost, and what works goes on. */
import { createServer } from 'node:net'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { EventGridEmulator } from '../../../packages/emulator/src/index.ts'
import { Binding, isBindingError } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { listen } from '../../support/listen.ts'
import { fieldsFor } from '../../support/open-world.ts'
import { quickRetries } from '../../support/quick-retries.ts'
import { tryWorlds } from '../../support/random-worlds.ts'

const fields = fc.record(
  {
    handshakePort: fc.constantFrom('one', 'other', 'taken', '0'),
    deliveryToken: fc.constantFrom('a-token-that-is-long-enough', 'another-token-that-is-long'),
    maxConcurrency: fc.constantFrom('1', '16', 'none'),
    accessKey: fc.constantFrom('right', 'wrong'),
    publishTimeout: fc.constantFrom('9s', '10s', 'soon'),
    direction: fc.constantFrom('input, output', 'output', 'nowhere'),
  },
  { requiredKeys: [] },
)
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('update'), fields, aborts: fc.constantFrom('no', 'no', 'soon') }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('create'),
      how: fc.constantFrom('ends', 'throws once', 'holds', 'publishes'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('endHandlers') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('turn') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('endUpdates') }) },
)
type Fields = typeof fields extends fc.Arbitrary<infer T> ? T : never

const isValid = ({ maxConcurrency, publishTimeout, direction }: Fields) =>
  publishTimeout !== 'soon' && direction !== 'nowhere' && (maxConcurrency !== 'none' || direction === 'output')
const isRefused = ({ handshakePort, direction }: Fields) => handshakePort === 'taken' && direction !== 'output'

it('loses no event, acknowledges none falsely, and goes on as before where an update fails', async () => {
  const emulator = await EventGridEmulator.start({ retrySchedule: quickRetries, deadLetterDelay: 0 })
  onTestFinished(() => emulator.close())
  const topic = emulator.topic('orders')
  const { deliveries } = emulator.records
  const taken = String(await listen(createServer(), '::'))
  const ports = { one: String(await freePort()), other: String(await freePort()), taken, '0': '0' }
  let worlds = 0
  let events = 0

  await tryWorlds(fc.array(step, { maxLength: 25 }), { count: 25 }, async (script) => {
    worlds += 1
    const handled = new Set<string>()
    const thrown = new Set<string>()
    const published = new Set<string>()
    let held: (() => void)[] = []
    let holds = true
    const binding = new Binding({
      endpoints: emulator.endpoints,
      async onEvent({ cloudEvent: { id, subject } }) {
        if (subject === 'throws once' && !thrown.has(id)) {
          thrown.add(id)
          throw new Error('once')
        }
        if (subject === 'holds' && holds) await new Promise<void>((release) => held.push(release))
        // It is delivered again until the key is right.
        if (subject === 'publishes' && !(await create('ends'))) throw new Error('it could not publish')
        handled.add(id)
      },
    })
    const all = ({ handshakePort = 'one', accessKey, ...others }: Fields) => ({
      ...fieldsFor(emulator),
      ...others,
      handshakePort: ports[handshakePort],
      accessKey: accessKey === 'wrong' ? 'd3Jvbmc=' : topic.key,
    })
    /** Fails by the wrong key alone. */
    const create = async (subject: string) => {
      events += 1
      const id = `${worlds}-${events}`
      try {
        await binding.invoke('create', {}, { metadata: { id, subject } })
        return published.add(id)
      } catch (error) {
        if (!isBindingError(error) || error.code !== 'CREDENTIALS_REJECTED') throw error
        return undefined
      }
    }
    const endHandlers = () => {
      for (const release of held) release()
      held = []
    }

    emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port ?? 1}${pathname}`)
    let current: Fields = {}
    const calls: Promise<unknown>[] = []
    let updates: Promise<unknown>[] = []
    async function endUpdates(): Promise<void> {
      holds = false
      endHandlers()
      await Promise.all(updates)
      updates = []
      holds = true
      const { input, output } = binding.health()
      const isOpen = current.direction !== 'output'
      expect([input !== undefined, output !== undefined]).toEqual([isOpen, true])
      const { handshakePort = 'one' } = current
      if (isOpen && handshakePort !== '0') expect(binding.address()?.port).toBe(Number(ports[handshakePort]))
    }
    try {
      await binding.init(all(current))
      for (const one of script) {
        if (one.kind === 'turn') await new Promise(setImmediate)
        else if (one.kind === 'endHandlers') endHandlers()
        else if (one.kind === 'endUpdates') await endUpdates()
        else if (one.kind === 'create') calls.push(create(one.how))
        else {
          const aborting = new AbortController()
          const outcome = binding.update(all(one.fields), { signal: aborting.signal })
          if (one.aborts === 'soon') setImmediate(() => aborting.abort())
          updates.push(
            outcome.then(
              () => {
                expect([isValid(one.fields), isRefused(one.fields)]).toEqual([true, false])
                current = one.fields
              },
              (error) => {
                const codes = [
                  isValid(one.fields) ? '' : 'METADATA_INVALID',
                  isRefused(one.fields) ? 'PORT_UNAVAILABLE' : '',
                ]
                expect([...codes, one.aborts === 'soon' ? 'ABORTED' : '']).toContain(error.code)
              },
            ),
          )
        }
      }
      await endUpdates()
      // The last one finds all as it should be.
      current = {}
      updates.push(binding.update(all(current)))
      await endUpdates()
      await eventually(() => expect(binding.health().status).toBe('healthy'))
      calls.push(create('ends'))
      holds = false
      endHandlers()
      await Promise.all(calls)
      await emulator.settled()
      expect([...published].filter((id) => !handled.has(id))).toEqual([])
      const acknowledged = deliveries.filter(({ status }) => status === 200).flatMap(({ eventIds }) => eventIds)
      expect(acknowledged.filter((id) => id.startsWith(`${worlds}-`) && !handled.has(id))).toEqual([])
      expect(deliveries.filter(({ outcome }) => outcome === 'dropped')).toEqual([])
    } finally {
      holds = false
      endHandlers()
      await binding.close()
    }
  })
})
