/**
 * The dashboard and the alert rules of docs/observability on a real Prometheus server, which reads a real `run` and a real `serve`.
 * A minute of the rules is a second here; what a process itself takes two minutes for is in rehearsal.test.ts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { credentialFrom } from '../listener/open-listener.ts'
import { openHostWorld } from '../sidecar/host/open-host.ts'
import { connectHost } from '../sidecar/pluggable/grpc-host.ts'
import { managementOf } from '../support/azure-clients.ts'
import { startCommand } from '../support/command.ts'
import { emulatorVariables } from '../support/component-folder.ts'
import { openDaprApp } from '../support/dapr-app.ts'
import { freePort } from '../support/free-port.ts'
import { inputFields, without } from '../support/open-world.ts'
import { makeSocketFolder } from '../support/socket-folder.ts'
import { obtainPrometheus } from './prometheus-program.ts'
import { startPrometheus } from './prometheus-server.ts'

const program = await obtainPrometheus()

const docs = (file: string) => readFileSync(new URL(`../../docs/observability/${file}`, import.meta.url), 'utf8')
const fixture = readFileSync(new URL('../fixtures/components/ignore-errors.yaml', import.meta.url), 'utf8')
const [ignoreErrors = ''] = fixture.split('---')
const inSeconds = (text: string) =>
  text
    .replaceAll(/interval: 15s|for: 30s/g, (found) => found.replace(/\d+s/, '500ms'))
    .replace(/\b(\d+)m\b/g, '$1s')
    .replaceAll('< 600', '< 10')
    .replaceAll('< 120', '< 2')

const rules = z
  .object({
    groups: z.array(
      z.object({ rules: z.array(z.object({ alert: z.string().optional(), record: z.string().optional() })) }),
    ),
  })
  .parse(parse(inSeconds(docs('alerts.yaml'))))
  .groups.flatMap(({ rules }) => rules)
const alerts = rules.flatMap(({ alert }) => alert ?? [])
const dashboard = z
  .object({
    panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
    templating: z.object({ list: z.array(z.object({ name: z.string(), query: z.unknown() })) }),
  })
  .parse(JSON.parse(docs('dashboard.json')))
const queries = dashboard.panels.flatMap(({ title, targets }) =>
  // What Grafana puts in place of its variables: all components, and a time that holds several readings.
  targets.map(({ expr }) => ({
    title,
    expression: expr.replaceAll('$component', '.*').replaceAll('$__rate_interval', '10s'),
  })),
)

/** Repeats a step ten times a second until the test ends. */
function repeat(step: () => unknown): void {
  const timer = setInterval(step, 100)
  onTestFinished(() => clearInterval(timer))
}

/** A `run` with the component `orders`, and `pulled` by pull, and a `serve` with the component `sidecar`. */
async function openWorld() {
  const world = await openHostWorld({
    retrySchedule: [1_000],
    namespaces: [{ name: 'shop', topics: [{ name: 'pulled', eventSubscriptions: [{ name: 'pulled' }] }] }],
  })
  const { emulator } = world
  const queue = emulator.namespaceTopic('pulled')
  world.write('pulled.yaml', {
    ...{ name: 'pulled', topic: 'orders' },
    fields: {
      ...without(...inputFields),
      ...{ deliveryMode: 'pull', namespaceTopic: queue.id, namespaceEndpoint: queue.namespaceEndpoint },
      ...{ namespaceKey: queue.key, topicEndpoint: queue.endpoint, accessKey: queue.key },
    },
  })
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port), '--metrics-port', '0'])
  const [, hostMetrics] = await host.line(/health and metrics.* port=(\d+)/)
  await host.takesEvents('orders')

  const sockets = makeSocketFolder()
  // A port of its own choice would change with a restart, and Prometheus reads one address.
  const serveMetrics = await freePort()
  async function serve() {
    const serving = startCommand(
      ['serve', '--sockets-folder', sockets, '--metrics-port', String(serveMetrics)],
      emulatorVariables(emulator, world.folder.path),
    )
    await serving.line(/\bready\b/)
    return serving
  }
  const serving = await serve()
  const daprd = connectHost(join(sockets, 'azure.eventgrid.sock'))
  onTestFinished(() => daprd.close())
  const port = await freePort()
  emulator.useIngress('https://sidecar.example.com/', `http://127.0.0.1:${port}/`)
  const topic = emulator.topic('parcels')
  const { tenantId, subscriptionId, clientId, clientSecret } = emulator
  await daprd.init('input', 'sidecar', {
    ...{ tenantId, subscriptionId, clientId, clientSecret, scope: topic.id },
    ...{ subscriberEndpoint: 'https://sidecar.example.com/api/events', handshakePort: String(port) },
  })
  const reading = await daprd.read('sidecar')
  await serving.line(/the event subscription .* is provisioned/)
  const targets = [hostMetrics, serveMetrics].map((metricsPort) => `127.0.0.1:${metricsPort}`)
  async function restartServe() {
    serving.process.kill()
    await serving.ended
    await serve()
  }
  return { ...world, app, host, daprd, reading, topic, targets, restartServe }
}

test.skipIf(program === undefined)(
  'each query of the dashboard has data, and each alert fires after the fault that it is for, not before',
  { timeout: 600_000 },
  async () => {
    const { emulator, app, folder, host, daprd, reading, topic, targets, write, restartServe } = await openWorld()
    const prometheus = await startPrometheus(program ?? '', { targets, ruleText: inSeconds(docs('alerts.yaml')) })
    const event = { specversion: '1.0', source: '/load', type: 'load', data: {} }
    let sent = 0
    repeat(() => host.invoke('orders', { operation: 'create', data: { order: ++sent } }).catch(() => {}))
    repeat(() => host.invoke('pulled', { operation: 'create', data: { order: ++sent } }).catch(() => {}))
    repeat(() => emulator.raise(topic.id, [{ ...event, id: `sidecar-${++sent}` }]))
    const acknowledgeAll = async (): Promise<never> => {
      for (;;) reading.acknowledge(await reading.next())
    }
    void acknowledgeAll()

    const listener = `http://127.0.0.1:${await host.port('orders')}`
    const type = { 'content-type': 'application/cloudevents+json' }
    const post = (path: string, headers = {}) =>
      fetch(`${listener}${path}`, { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(event) })
    // A scanner is there all the time, and pages nobody.
    for (const path of ['/api/events', '/admin']) repeat(() => post(path).catch(() => {}))

    for (const { title, expression } of queries) {
      await expect.poll(() => prometheus.query(expression), { message: title }).not.toEqual([])
    }
    const variable = dashboard.templating.list.find(({ name }) => name === 'component')
    expect(variable?.query).toMatchObject({ query: 'label_values(eventgrid_binding_health, component)' })
    const components = () => prometheus.labelValues('component', 'eventgrid_binding_health')
    await expect.poll(components).toEqual(['orders', 'pulled', 'sidecar'])
    await expect.poll(prometheus.healthyRules).toEqual(rules.map(({ alert, record }) => alert ?? record))
    // Each rule has had more than the time that it waits.
    const age = 'min(count_over_time(eventgrid_binding_health[1m]))'
    await expect.poll(async () => (await prometheus.query(age))[0], { timeout: 60_000 }).toBeGreaterThan(50)
    expect(await prometheus.firing()).toEqual([])

    // Our event subscription delivers with a token that is wrong.
    const { keyId } = credentialFrom(emulator.clientSecret, emulator.topic('orders').id)
    const refuse = async () =>
      expect((await post('/api/events', { 'x-eventgrid-binding-token': `${keyId}.x` })).status).toBe(401)
    await refuse()
    await expect.poll(prometheus.firing).toEqual(['EventGridFewDeliveriesRefused orders'])
    for (const _ of [1, 2, 3, 4, 5]) await refuse()
    // daprd does not read any more.
    reading.cancel()
    // daprd goes on without a component that it could not initialise.
    await expect(daprd.init('input', 'broken', { scope: 'none' })).rejects.toThrow()
    // The application fails for every other event.
    let asked = 0
    app.answerWith(() => (++asked % 2 === 0 ? 200 : 500))
    // An event subscription can't be provisioned.
    write('parcels.yaml', { name: 'parcels', fields: { clientSecret: 'wrong' } })
    // Another does not exist, and nothing may create it.
    const { clientSecret } = emulator
    const { endpoint: topicEndpoint } = emulator.topic('parcels')
    write('letters.yaml', {
      ...{ name: 'letters', topic: 'parcels', handshakePort: String(await freePort()) },
      fields: { provisioning: 'check', clientSecret, topicEndpoint, accessKey: 'd3Jvbmc=' },
    })
    // Its key is wrong too.
    repeat(() => host.invoke('letters', { operation: 'create', data: {} }).catch(() => {}))
    // One may be missing, and its file has a fault.
    folder.write('spare.yaml', ignoreErrors.replace('name: orders', 'name: spare'))
    // A third is deleted by somebody: a delivery with another credential has it read again.
    await managementOf(emulator).eventSubscriptions.beginDeleteAndWait(emulator.topic('orders').id.slice(1), 'orders')
    // They are more than half of all that come.
    for (let each = 0; each < 4; each++)
      repeat(() => post('/api/events', { 'aeg-subscription-name': 'ORDERS' }).catch(() => {}))
    // The namespace takes no acknowledgement any more.
    emulator.failNext({
      route: 'namespace',
      status: 400,
      times: 1_000,
      matches: ({ url }) => /:(acknowledge|release)/.test(url),
    })
    // The application sends something that is no event.
    repeat(() => host.invoke('orders', { operation: 'create', data: { specversion: '1.0' } }).catch(() => {}))

    const faults = [
      'EventGridComponentGone sidecar',
      'EventGridNoSubscription letters',
      'EventGridDeliveriesNotTaken orders',
      'EventGridNothingHandled sidecar',
      'EventGridNothingReceived pulled',
      'EventGridNotInitialised',
      'EventGridInitFailed broken',
      'EventGridDeliveriesRefused orders',
      'EventGridFewDeliveriesRefused orders',
      'EventGridSubscriptionDeleted orders',
      'EventGridSubscriptionNotProvisioned parcels',
      'EventGridDeliveriesPutOff sidecar',
      'EventGridHandlerFails orders',
      'EventGridSettlementsFail pulled',
      'EventGridPublishFails orders',
      'EventGridNotPublishing letters',
      'EventGridNoReader sidecar',
      'EventGridReloadFailed',
      'EventGridComponentLeftOut spare',
    ]
    // The first takes a process that is started again and again, the other a port that is taken in between.
    const elsewhere = ['EventGridRestarts', 'EventGridInputClosed']
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual(alerts.filter((alert) => !elsewhere.includes(alert)))
    const seen = new Set(['EventGridFewDeliveriesRefused orders'])
    const missing = async () => {
      for (const alert of await prometheus.firing()) seen.add(alert)
      return faults.filter((fault) => !seen.has(fault))
    }
    // Half of the deliveries of two minutes have to be put off.
    await expect
      .poll(missing, { timeout: 150_000 })
      .toEqual([
        'EventGridComponentGone sidecar',
        'EventGridNothingReceived pulled',
        'EventGridNotInitialised',
        'EventGridReloadFailed',
      ])
    // A file whose fault nothing forgives. Only now: run takes nothing of any other file over while it is there.
    write('torn.yaml', { name: 'torn', topic: 'parcels', handshakePort: 'none' })
    // serve is restarted alone: its component has no series any more.
    await restartServe()
    // The namespace gives no event any more: what it gave could not be acknowledged until now.
    emulator.failNext({ route: 'namespace', status: 503, times: 1_000, matches: ({ url }) => url.includes(':receive') })
    // Receives have to fail for a minute.
    await expect.poll(missing, { timeout: 150_000 }).toEqual([])
  },
)
