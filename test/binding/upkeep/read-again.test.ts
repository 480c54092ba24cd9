/** Before each write the event subscription is read and decided again: what stands there now is kept, whoever wrote it meanwhile. */
import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../../src/index.ts'
import { managementOf } from '../../support/azure-clients.ts'
import { captureLog } from '../../support/captured-log.ts'
import { eventually } from '../../support/eventually.ts'
import { type Fields, fieldsFor } from '../../support/open-world.ts'
import { noBackend, openIngress } from '../../support/public-ingress.ts'
import { quickRetries } from '../../support/quick-retries.ts'
import { refusal } from '../../support/refusal.ts'
import { startEmulator } from '../../support/start-emulator.ts'

/** An emulator, and replicas behind a public address that can be asked. */
async function openFleet() {
  const ingress = await openIngress()
  const emulator = await startEmulator({ trustedCertificates: [ingress.ca], retrySchedule: quickRetries })
  const scope = emulator.topic('orders').id
  const { eventSubscriptions } = managementOf(emulator)
  return {
    emulator,
    ingress,
    standing: () => emulator.eventSubscription(scope, 'orders')?.properties,
    credentials: () =>
      JSON.stringify(emulator.eventSubscription(scope, 'orders')).match(/[0-9a-f]{16}\.[\w-]{43}/g)?.length,
    change: (parameters: Parameters<typeof eventSubscriptions.beginUpdateAndWait>[2]) =>
      eventSubscriptions.beginUpdateAndWait(scope.slice(1), 'orders', parameters),
    raise: (id: string) => emulator.raise(scope, [{ specversion: '1.0', type: 'order', source: '/shop', id }]),
    replica(fields: Fields = {}) {
      const log = captureLog()
      const endpoints = { ...emulator.endpoints, ca: `${emulator.endpoints.ca}\n${ingress.ca}` }
      const binding = new Binding({ endpoints, logger: log, onEvent: () => undefined })
      onTestFinished(() => binding.close())
      const given = { ...fieldsFor(emulator), subscriberEndpoint: ingress.url, ...fields }
      return { binding, log, given, port: () => binding.address()?.port ?? 1 }
    },
  }
}

const [oldToken, newToken] = ['old', 'new'].map((name) => name.padEnd(32, '-'))

const shown = { filter: { subjectBeginsWith: '/ours', subjectEndsWith: '.json' } }

it.each<{ name: string; ours: Fields; theirs: object; seen: object }>([
  { name: 'labels', ours: { maxDeliveryAttempts: '7' }, theirs: { labels: ['theirs'] }, seen: { labels: ['theirs'] } },
  {
    name: 'a filter beside one of ours',
    ours: { subjectBeginsWith: '/ours' },
    theirs: { filter: { subjectEndsWith: '.json' } },
    seen: shown,
  },
  {
    name: 'the size of batches, beside our credential',
    ours: { deliveryToken: newToken },
    theirs: { destination: { endpointType: 'WebHook', maxEventsPerBatch: 17 } },
    seen: { destination: { properties: { maxEventsPerBatch: 17 } } },
  },
])('what an operator changes while the endpoint is asked stays: $name', async ({ ours, theirs, seen }) => {
  const { emulator, ingress, replica, standing, change } = await openFleet()
  const first = replica({ deliveryToken: oldToken })
  ingress.route(() => first.port())
  await first.binding.init(first.given)
  const second = replica({ deliveryToken: oldToken, ...ours })
  let changed: Promise<unknown> | undefined
  ingress.route(({ headers }) => {
    // The first question of the binding itself; Event Grid's handshake, because of the operator's change, goes on.
    if (headers.connection === 'close') changed ??= change(withEndpoint(theirs, ingress.url))
    return first.port()
  })
  await second.binding.init(second.given)
  await changed
  await emulator.idle()
  await eventually(() => expect(second.binding.health().status).toBe('healthy'))
  expect(standing()).toMatchObject(seen)
  expect(JSON.stringify(standing())).toContain('X-EventGrid-Binding-Token')
})

const withEndpoint = (theirs: object, endpointUrl: string) =>
  'destination' in theirs ? { destination: { ...Object(theirs.destination), endpointUrl } } : theirs

it('two replicas with other tokens that start 0.3 s apart both find their credential', async () => {
  const { ingress, replica, credentials } = await openFleet()
  const first = replica({ deliveryToken: oldToken })
  let turn = 0
  const replicas = [first]
  ingress.route(() => replicas[turn++ % replicas.length]?.port() ?? noBackend)
  await first.binding.init(first.given)
  const [one, two] = ['one', 'two'].map((name) => replica({ deliveryToken: name.padEnd(32, '-') }))
  if (!one || !two) throw new Error('two replicas')
  const ones = one.binding.init(one.given)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await Promise.all([ones, two.binding.init(two.given)])
  expect(credentials()).toBe(3)
})

it('while a write waits for consent, health and log say within 5 s what the endpoint answered; an aborted init too', async () => {
  const { ingress, replica } = await openFleet()
  const first = replica({ deliveryToken: oldToken })
  ingress.route(() => first.port())
  await first.binding.init(first.given)
  await first.binding.close()
  ingress.route(() => noBackend)
  const { binding, log, given } = replica({ deliveryToken: newToken })
  const aborting = new AbortController()
  const refused = refusal(binding.init(given, { signal: aborting.signal }))
  const says = /OPTIONS was answered 503.*nothing is written/
  await expect.poll(() => binding.health().input?.reasons.join('\n'), { timeout: 5_000 }).toMatch(says)
  expect(log.text()).toMatch(says)
  aborting.abort()
  const { code, message } = await refused
  expect(code).toBe('ABORTED')
  expect(message).toMatch(says)
})

it('an endpoint that does not answer at all is told within 5 s', async () => {
  const { ingress, replica } = await openFleet()
  const first = replica({ deliveryToken: oldToken })
  ingress.route(() => first.port())
  await first.binding.init(first.given)
  await first.binding.close()
  ingress.route(() => () => {})
  const { binding, given, log } = replica({ deliveryToken: newToken })
  await binding.init(given, { subscription: 'background' })
  const says = /gives no answer \(no answer in time\)/
  await expect.poll(() => binding.health().input?.reasons.join('\n'), { timeout: 6_000 }).toMatch(says)
  expect(log.text()).toMatch(says)
})

it('an init that its signal ends names the last failure', async () => {
  const { emulator, replica } = await openFleet()
  const { binding, given, log } = replica()
  emulator.failNext({ route: 'arm', status: 500, times: 100 })
  const aborting = new AbortController()
  const refused = refusal(binding.init(given, { signal: aborting.signal }))
  await eventually(() => expect(log.text()).toContain('answered 500'))
  aborting.abort()
  expect(await refused).toMatchObject({
    code: 'ABORTED',
    message: expect.stringMatching(/the last failure: Azure Resource Manager answered 500/),
    cause: { code: 'TIMEOUT' },
  })
})
