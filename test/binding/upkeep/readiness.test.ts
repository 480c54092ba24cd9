/** When a replica is ready for deliveries: not while they would lack its credential. */
import { expect, it, onTestFinished } from 'vitest'
import { type Fault, ManualClock } from '../../../packages/emulator/src/index.ts'
import { Binding } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { type Fields, fieldsFor } from '../../support/open-world.ts'
import { startEmulator } from '../../support/start-emulator.ts'

/** An emulator whose changes end when the test says so, and replicas behind one address. */
async function openFleet() {
  const clock = new ManualClock()
  const emulator = await startEmulator({ clock, operationDelayMs: 1_000 })
  const { requests } = emulator.records
  const written = (count: number) =>
    eventually(() =>
      expect(requests.filter(({ method }) => method === 'PUT' || method === 'PATCH')).toHaveLength(count),
    )
  return {
    emulator,
    written,
    /** Ends the change that is under way. */
    endChange: () => clock.advance(1_000),
    async start(fields: Fields) {
      const binding = new Binding({ endpoints: emulator.endpoints, onEvent: () => undefined })
      onTestFinished(() => binding.close())
      expect(binding.health().input?.ready).toBeUndefined()
      await binding.init({ ...fieldsFor(emulator), ...fields }, { subscription: 'background' })
      emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port}${pathname}`)
      return binding
    },
  }
}

const ready = (binding: Binding) => binding.health().input?.ready
const [oldToken, newToken] = ['old', 'new'].map((name) => name.padEnd(32, '-'))

it('where the endpoint cannot be asked, a replica with a new secret is ready at once: nobody is known to serve', async () => {
  const { start, written, endChange } = await openFleet()
  const old = await start({ deliveryToken: oldToken })
  await written(1)
  await endChange()
  await eventually(() => expect(old.health().status).toBe('healthy'))
  expect(ready(old)).toBe(true)

  const fresh = await start({ deliveryToken: newToken })
  await written(2)
  expect(ready(fresh)).toBe(true)
  await endChange()
  expect(ready(old)).toBe(true)
})

it.each<{ name: string; fault: Fault }>([
  { name: 'Resource Manager throttles', fault: { route: 'arm', status: 429, retryAfter: 60 } },
  { name: 'Entra has trouble', fault: { route: 'entra', status: 503 } },
  { name: 'an answer is not to be read', fault: { route: 'arm', status: 200 } },
  { name: 'the client may not read', fault: { route: 'arm', status: 403 } },
  { name: 'nobody answers', fault: { route: 'arm', delayMs: 60_000 } },
  { name: 'the network is closed', fault: { route: 'arm', drop: true } },
  { name: 'the network to Entra is closed', fault: { route: 'entra', drop: true } },
])('a lone replica whose credential is unchanged is ready at once where $name', async ({ fault }) => {
  const { start, written, endChange, emulator } = await openFleet()
  const first = await start({ deliveryToken: oldToken })
  await written(1)
  await endChange()
  await eventually(() => expect(first.health().status).toBe('healthy'))
  await first.close()
  emulator.failNext({ ...fault, times: 1_000 })
  const again = await start({ deliveryToken: oldToken })
  expect(ready(again)).toBe(true)
  await expect.poll(() => again.health().status, { timeout: 15_000 }).not.toBe('healthy')
  expect(ready(again)).toBe(true)
})

it('an update keeps the replica ready: the credential of the former side goes on being taken', async () => {
  const { start, written, endChange, emulator } = await openFleet()
  const binding = await start({ deliveryToken: oldToken })
  await written(1)
  await endChange()
  await eventually(() => expect(binding.health().status).toBe('healthy'))
  await binding.update({ ...fieldsFor(emulator), deliveryToken: newToken })
  expect(ready(binding)).toBe(true)
  await written(2)
  expect(ready(binding)).toBe(true)
  await endChange()
})

it('the first replica of all is ready before its event subscription exists, because the handshake has to reach it', async () => {
  const { start, written, emulator } = await openFleet()
  const first = await start({ deliveryToken: oldToken })
  await written(1)
  expect(emulator.eventSubscription(emulator.topic().id, 'orders')?.provisioningState).toBe('Creating')
  expect(ready(first)).toBe(true)
})

it.each([{ deliveryAuthentication: 'none' }, { deliveryAuthentication: 'entra' }])(
  'with $deliveryAuthentication a replica is ready at once: there is no credential to add',
  async (fields) => {
    const { start } = await openFleet()
    const binding = await start(fields)
    expect(ready(binding)).toBe(true)
    await binding.close()
    expect(ready(binding)).toBeUndefined()
  },
)
