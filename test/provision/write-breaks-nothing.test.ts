/** A write never breaks what works: the endpoint of an event subscription that delivers is asked before it is written. */
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { Binding, type EventHandler, type InitOptions } from '../../src/index.ts'
import { sendArm } from '../support/azure-clients.ts'
import { captureLog } from '../support/captured-log.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { listen } from '../support/listen.ts'
import { type Fields, fieldsFor, outputFields, without } from '../support/open-world.ts'
import { answer, noBackend, openIngress, type Route } from '../support/public-ingress.ts'
import { quickRetries } from '../support/quick-retries.ts'
import { quickenTime } from '../support/quick-time.ts'
import { refusal } from '../support/refusal.ts'
import { startEmulator } from '../support/start-emulator.ts'

beforeEach(quickenTime)

const untilHandshake = 'Event Grid delivers nothing by it until a handshake succeeds'
const isHandshake = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' || headers['aeg-event-type'] === 'SubscriptionValidation'

/** An emulator, a public address that can be asked, and bindings of one component behind it, one after the other. */
async function openSite(inputSchema: 'CloudEventSchemaV1_0' | 'EventGridSchema' = 'CloudEventSchemaV1_0') {
  const ingress = await openIngress()
  const emulator = await startEmulator({
    trustedCertificates: [ingress.ca],
    retrySchedule: quickRetries,
    deadLetterDelay: 0,
    topics: [{ name: 'orders', inputSchema }],
  })
  const { requests } = emulator.records
  const topic = emulator.topic('orders')
  const handled: string[] = []
  const binding = (endpoints = { ...emulator.endpoints, ca: `${emulator.endpoints.ca}\n${ingress.ca}` }) => {
    const log = captureLog()
    const onEvent: EventHandler = ({ cloudEvent }) => void handled.push(cloudEvent.id)
    const one = new Binding({ endpoints, logger: log, onEvent })
    onTestFinished(() => one.close())
    return {
      log,
      health: () => one.health(),
      reasons: () => one.health().input?.reasons.join('\n') ?? '',
      ready: () => one.health().input?.ready,
      port: () => one.address()?.port ?? 1,
      close: () => one.close(),
      init(changes: Fields = {}, options?: InitOptions) {
        const input = { ...fieldsFor(emulator), ...without(...outputFields), subscriberEndpoint: ingress.url }
        return one.init({ ...input, ...changes }, options)
      },
    }
  }
  return {
    emulator,
    ingress,
    handled,
    binding,
    /** All that was written, by its method. */
    writes: () => requests.filter(({ method }) => method === 'PUT' || method === 'PATCH').map(({ method }) => method),
    state: () => emulator.eventSubscription(topic.id, 'orders')?.provisioningState,
    retries: () => emulator.eventSubscription(topic.id, 'orders')?.properties.retryPolicy,
    raise: (id: string) => emulator.raise(topic.id, [{ specversion: '1.0', type: 'order', source: '/shop', id }]),
    /** A binding that has created the event subscription and delivers. */
    async started(changes: Fields = {}) {
      const first = binding()
      const initialised = first.init(changes)
      ingress.route(() => first.port())
      await initialised
      return first
    },
  }
}

const changed = { maxDeliveryAttempts: '7' }
const background = { subscription: 'background' } as const

/** ask-endpoint.test.ts has the other answers that are no consent. */
const refusals: readonly { name: string; route: Route; says: RegExp }[] = [
  { name: '503 of an ingress', route: noBackend, says: /answered 503 \(page: "no healthy upstream"\)/ },
  {
    name: 'a page that quotes the query',
    route: (response, { url = '' }) => void response.writeHead(403, { 'content-type': 'text/plain' }).end(`no: ${url}`),
    says: /answered 403 \("no: [^"]*\(redacted\)/,
  },
]

it.each(refusals)(
  '$name: nothing is written, deliveries go on, health says what waits, then it is written',
  async ({ route, says }) => {
    const site = await openSite()
    const { ingress } = site
    const query = { subscriberEndpoint: `${ingress.url}?code=hidden-code` }
    const first = await site.started(query)
    const before = site.writes()
    await first.close()
    const second = site.binding()
    ingress.route((request) => (isHandshake(request) ? route : second.port()))
    await second.init({ ...query, ...changed }, background)
    await eventually(() => expect(second.reasons()).toMatch(says))
    expect(second.health().status).toBe('degraded')
    expect(second.reasons()).toMatch(/HANDSHAKE_FAILED.*other retryPolicy\.maxDeliveryAttempts/)
    expect(second.log.text()).toMatch(says)
    expect(second.reasons() + second.log.text()).not.toContain('hidden-code')
    expect(second.ready()).toBe(true)
    site.raise('meanwhile')
    await eventually(() => expect(site.handled).toEqual(['meanwhile']))
    expect([site.writes(), site.state()]).toEqual([before, 'Succeeded'])

    ingress.route(() => second.port())
    await eventually(() => expect(second.health().status).toBe('healthy'))
    expect(site.writes()).toEqual([...before, 'PATCH'])
    expect(site.retries()).toMatchObject({ maxDeliveryAttempts: 7 })
  },
)

it('init that waits ends by HANDSHAKE_FAILED, which names the answer; the event subscription delivers as before', async () => {
  const site = await openSite()
  await (await site.started()).close()
  site.ingress.route(() => noBackend)
  await expect(site.binding().init({ ...changed, subscriptionTimeout: '20s' })).rejects.toMatchObject({
    code: 'HANDSHAKE_FAILED',
    details: { answer: '503', endpoint: site.ingress.url },
    message: expect.not.stringContaining(untilHandshake),
  })
  expect([site.writes(), site.state()]).toEqual([['PUT'], 'Succeeded'])
})

it('a schema of Event Grid is asked for by its validation event alone, as Event Grid asks', async () => {
  const site = await openSite('EventGridSchema')
  const schema = { eventDeliverySchema: 'EventGridSchema' }
  await (await site.started(schema)).close()
  const second = site.binding()
  site.ingress.route((request) => (request.method === 'POST' && isHandshake(request) ? answer(200) : second.port()))
  const { code, message } = await refusal(second.init({ ...schema, ...changed, subscriptionTimeout: '20s' }))
  expect(code).toBe('HANDSHAKE_FAILED')
  expect(message).toContain('POST of the validation event was answered 200 without its code')
  expect(site.writes()).toEqual(['PUT'])
  expect(new Set(site.ingress.asked)).toEqual(new Set(['POST']))

  const third = site.binding()
  site.ingress.route(({ method }) => (method === 'POST' ? third.port() : answer(503)))
  await third.init({ ...schema, ...changed })
  expect(site.writes()).toEqual(['PUT', 'PATCH'])
})

it.each([
  { name: 'nothing listens', port: () => freePort(), says: /ECONNREFUSED/ },
  { name: 'connections end', port: () => listen(createServer((each) => void each.destroy())), says: /ECONNRESET/ },
  { name: 'nobody answers', port: () => listen(createServer(() => {})), says: /no answer in time/ },
])('no answer is no evidence: where $name, it is written after a while, with a warning', async ({ port, says }) => {
  const site = await openSite()
  await (await site.started()).close()
  const second = site.binding()
  const away = `https://localhost:${await port()}/api/events`
  // Event Grid reaches what this machine does not.
  site.emulator.setIngress(({ host }) =>
    away.includes(host) ? `http://127.0.0.1:${second.port()}/api/events` : undefined,
  )
  await second.init({ subscriberEndpoint: away, subscriptionTimeout: '20s' })
  expect(site.writes()).toEqual(['PUT', 'PATCH'])
  const warnings = second.log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  expect(warnings.find((text) => text.includes('could not be reached from here'))).toMatch(says)
  expect(warnings.join()).toContain(away)
})

it('a certificate that is not trusted here is no answer either, and NODE_EXTRA_CA_CERTS or endpoints.ca have it trusted', async () => {
  const site = await openSite()
  await (await site.started()).close()
  const untrusting = site.binding(site.emulator.endpoints)
  site.ingress.route(() => untrusting.port())
  await untrusting.init({ ...changed, subscriptionTimeout: '20s' })
  expect(untrusting.log.text()).toMatch(/could not be reached from here \(\w*SELF_SIGNED\w*\)/)
  expect(site.ingress.asked).toEqual([])
  await untrusting.close()
  const trusting = site.binding()
  site.ingress.route(() => trusting.port())
  await trusting.init({ maxDeliveryAttempts: '8' })
  expect(trusting.log.text()).not.toContain('could not be reached')
  expect(site.ingress.asked).toHaveLength(2)
})

it('the names of an emulator lead nowhere: what is changed is written at once, without a warning about them', async () => {
  const site = await openSite()
  const away = { subscriberEndpoint: 'https://no-such-host.invalid/api/events' }
  const first = site.binding()
  site.emulator.setIngress(() => `http://127.0.0.1:${first.port()}/api/events`)
  await first.init(away)
  await first.close()
  const second = site.binding()
  site.emulator.setIngress(() => `http://127.0.0.1:${second.port()}/api/events`)
  await second.init({ ...away, ...changed })
  expect(site.writes()).toEqual(['PUT', 'PATCH'])
  expect(second.log.lines.filter(({ level }) => level === 'warn')).toEqual([])
})

it('a new event subscription, and one that is Failed, are written without a question, and what is left is said', async () => {
  const site = await openSite()
  const first = site.binding()
  await first.init(changed, background)
  await eventually(() => expect(first.reasons()).toContain(untilHandshake))
  expect(first.log.text()).toContain(untilHandshake)
  // Also where the next attempt fails for another reason.
  site.emulator.failNext({ route: 'arm', status: 500, times: 50, matches: ({ method }) => method === 'PUT' })
  await eventually(() => expect(first.reasons()).toMatch(/Resource Manager answered 500/))
  expect(first.reasons()).toContain(untilHandshake)
  expect(site.ingress.asked).toEqual([])
})

it('a destination elsewhere that delivers is not given up for an endpoint that does not consent', async () => {
  const site = await openSite()
  await (await site.started()).close()
  const other = await openIngress()
  const { endpoints } = site.emulator
  const second = site.binding({ ...endpoints, ca: `${endpoints.ca}\n${site.ingress.ca}\n${other.ca}` })
  site.ingress.route(() => second.port())
  await second.init({ subscriberEndpoint: other.url }, background)
  await eventually(() => expect(second.reasons()).toMatch(/HANDSHAKE_FAILED.*503/))
  expect(other.asked.length).toBeGreaterThan(0)
  expect([site.writes(), site.state()]).toEqual([['PUT'], 'Succeeded'])
})

const [oldToken, newToken] = ['old', 'new'].map((name) => name.padEnd(32, '-'))

it('a replica waits while another one serves, and is ready when its credential is in', async () => {
  const site = await openSite()
  const old = await site.started({ deliveryToken: oldToken })
  const fresh = site.binding()
  const looks: (boolean | undefined)[] = []
  site.ingress.route((request) => {
    if (isHandshake(request)) looks.push(fresh.ready())
    return old.port()
  })
  await fresh.init({ deliveryToken: newToken })
  // Two questions of its own, and Event Grid's handshake.
  expect(looks).toEqual([false, false, false])
  expect(fresh.ready()).toBe(true)
})

it('a replica that waits for the change of somebody else asks again: who answered at first may be gone', async () => {
  const site = await openSite()
  await (await site.started({ deliveryToken: oldToken })).close()
  const fresh = site.binding()
  const consent = answer(200, { 'webhook-allowed-origin': '*' })
  const serves = () => (fresh.ready() === true ? fresh.port() : undefined)
  site.ingress.route(({ headers }) => {
    if (headers.connection === 'close') return site.ingress.asked.length > 1 ? (serves() ?? noBackend) : consent
    // The handshake of somebody's change needs a replica that is routed to.
    return (response) =>
      void eventually(() => expect(fresh.ready()).toBe(true)).then(() =>
        response.writeHead(200, { 'webhook-allowed-origin': '*' }).end(),
      )
  })
  const path = `${site.emulator.topic('orders').id}/providers/Microsoft.EventGrid/eventSubscriptions/orders?api-version=2025-02-15`
  await sendArm(site.emulator, path, { method: 'PATCH', body: JSON.stringify({ labels: ['somebody'] }) })
  expect(site.state()).toBe('Updating')
  await fresh.init({ deliveryToken: newToken })
  expect(site.emulator.records.handshakes.all().map(({ outcome }) => outcome)).not.toContain('failed')
  expect(site.state()).toBe('Succeeded')
})

it('a lone replica is ready as soon as nobody answers for the endpoint, and is written when it is routed to', async () => {
  const site = await openSite()
  await (await site.started({ deliveryToken: oldToken })).close()
  const fresh = site.binding()
  site.ingress.route(() => (fresh.ready() === true ? fresh.port() : noBackend))
  await fresh.init({ deliveryToken: newToken })
  expect(site.ingress.asked).toHaveLength(3)
  expect(site.emulator.records.handshakes.all().map(({ outcome }) => outcome)).not.toContain('failed')
  expect(fresh.log.text()).not.toContain('HANDSHAKE_FAILED')
})

it.each(['CloudEventSchemaV1_0', 'EventGridSchema'] as const)(
  'with %s replicas that wait themselves are nobody who serves: a reload of all at once makes them ready',
  async (eventDeliverySchema) => {
    const site = await openSite(eventDeliverySchema)
    const fields = { eventDeliverySchema, subscriptionTimeout: '30s' }
    await (await site.started({ ...fields, deliveryToken: oldToken })).close()
    const [one, two] = [site.binding(), site.binding()]
    let turn = 0
    const replicas = [one, two]
    // A balancer whose view is old at first.
    site.ingress.route(() => {
      const open = turn < 4 ? replicas : replicas.filter(({ ready }) => ready())
      return open[turn++ % Math.max(open.length, 1)]?.port() ?? noBackend
    })
    await Promise.all(replicas.map((replica) => replica.init({ ...fields, deliveryToken: newToken })))
    expect(site.state()).toBe('Succeeded')
    expect(site.emulator.records.handshakes.filter(({ outcome }) => outcome !== 'validated')).toEqual([])
  },
)

it.each(['CloudEventSchemaV1_0', 'EventGridSchema'] as const)(
  'with %s its own consent, by a balancer whose view is old, is nobody else: it is ready, and is asked again',
  async (eventDeliverySchema) => {
    const site = await openSite(eventDeliverySchema)
    await (await site.started({ eventDeliverySchema, deliveryToken: oldToken })).close()
    const fresh = site.binding()
    const looks: (boolean | undefined)[] = []
    site.ingress.route((request) => {
      if (isHandshake(request)) looks.push(fresh.ready())
      return fresh.port()
    })
    await fresh.init({ eventDeliverySchema, deliveryToken: newToken })
    // Three questions of its own, and Event Grid's handshake.
    expect(looks).toEqual([false, true, true, true])
  },
)

it('a field that changes makes nobody wait: the credential is there', async () => {
  const site = await openSite()
  await (await site.started()).close()
  const fresh = site.binding()
  site.ingress.route(() => (fresh.ready() === true ? fresh.port() : noBackend))
  await fresh.init(changed)
  expect(site.ingress.asked).toHaveLength(2)
})

it('consent of a listener that goes away between the two questions is none', async () => {
  const site = await openSite()
  await (await site.started()).close()
  const fresh = site.binding()
  const consent = answer(200, { 'webhook-allowed-origin': '*' })
  site.ingress.route((request) => (isHandshake(request) && site.ingress.asked.length > 1 ? noBackend : consent))
  expect((await refusal(fresh.init({ ...changed, subscriptionTimeout: '20s' }))).code).toBe('HANDSHAKE_FAILED')
  expect(site.writes()).toEqual(['PUT'])
})
