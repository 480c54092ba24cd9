/** A lone replica behind a balancer that obeys readiness rotates its secret under load: nothing is lost. */
import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../src/index.ts'
import { freePort } from '../support/free-port.ts'
import { fieldsFor } from '../support/open-world.ts'
import { noBackend, openIngress } from '../support/public-ingress.ts'
import { startEmulator } from '../support/start-emulator.ts'

const rotations = 10
const eventsPerSecond = 20

it.each([
  { how: 'a new process on another port', fixedPort: false, probeMs: 250 },
  { how: 'a hot reload on the same port, and a balancer that notices late', fixedPort: true, probeMs: 1_000 },
])(`${rotations} rotations by $how`, { timeout: 600_000 }, async ({ fixedPort, probeMs }) => {
  const ingress = await openIngress()
  const emulator = await startEmulator({
    trustedCertificates: [ingress.ca],
    // Seconds in Azure.
    operationDelayMs: 300,
    retrySchedule: [200, 1_000, 2_000],
    deadLetterDelay: 0,
  })
  const topic = emulator.topic('orders')
  const handled = new Set<string>()
  const port = fixedPort ? await freePort() : 0
  const { accessKey: _key, topicEndpoint: _topic, ...fields } = fieldsFor(emulator)
  const endpoints = { ...emulator.endpoints, ca: `${emulator.endpoints.ca}\n${ingress.ca}` }
  let current: Binding | undefined
  /** What the balancer saw at its last probe. */
  let routed: number | undefined
  const look = () => {
    routed = current?.health().input?.ready === true ? current.address()?.port : undefined
  }
  const probing = setInterval(look, probeMs)
  ingress.route(() => routed ?? noBackend)
  const start = async (round: number) => {
    const binding = new Binding({
      endpoints,
      onEvent: ({ cloudEvent }) => void handled.add(cloudEvent.id),
    })
    onTestFinished(() => binding.close())
    current = binding
    await binding.init({
      ...fields,
      ...{ subscriberEndpoint: ingress.url, handshakePort: String(port), listenAddress: '127.0.0.1' },
      deliveryToken: `the-token-of-round-${round}`.padEnd(32, '-'),
      subscriptionTimeout: '2m',
    })
    return binding
  }

  let binding = await start(0)
  // The first of all is written without a question: nothing works that could break.
  emulator.records.handshakes.clear()
  let raised = 0
  const load = setInterval(() => {
    emulator.raise(topic.id, [{ specversion: '1.0', type: 'load', source: '/shop', id: `event-${raised++}` }])
  }, 1_000 / eventsPerSecond)
  onTestFinished(() => {
    clearInterval(load)
    clearInterval(probing)
  })
  for (let round = 1; round <= rotations; round++) {
    await binding.close()
    binding = await start(round)
    expect(emulator.eventSubscription(topic.id, 'orders')?.provisioningState).toBe('Succeeded')
  }
  clearInterval(load)
  await emulator.settled()
  const handshakes = emulator.records.handshakes.all()
  console.log(`${raised} events, ${handshakes.length} handshakes of Event Grid`)
  expect(handshakes.filter(({ outcome }) => outcome !== 'validated')).toEqual([])
  expect(handled.size).toBe(raised)
})
