import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ComponentDescriptor, component } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type Host, startHost } from './host.ts'
import { timer } from './timer.ts'

it('forwards events of two vendors to the application, and again where that failed', async () => {
  const emulator = await EventGridEmulator.start({ retrySchedule: [5] })
  onTestFinished(() => emulator.close())

  const posts: { readonly path: string | undefined; readonly body: string }[] = []
  const app = createServer(async (request, response) => {
    const chunks = await request.toArray()
    posts.push({ path: request.url, body: Buffer.concat(chunks).toString() })
    response.writeHead(posts.length === 1 ? 500 : 200).end()
  })
  await new Promise<void>((listening) => app.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void app.close())
  const address = app.address()
  if (address === null || typeof address === 'string') throw new Error('the application does not listen')

  const topic = emulator.topic('orders')
  const folder = await mkdtemp(join(tmpdir(), 'node-host-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const yaml = `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: shop }
spec:
  type: bindings.azure.eventgrid
  version: v1
  metadata:
    - { name: tenantId, value: "${emulator.tenantId}" }
    - { name: subscriptionId, value: "${emulator.subscriptionId}" }
    - { name: clientId, value: "${emulator.clientId}" }
    - { name: clientSecret, secretKeyRef: { name: clientSecret } }
    - { name: subscriberEndpoint, value: "https://shop.example.com/api/events" }
    - { name: handshakePort, value: "0" }
    - { name: scope, value: "${topic.id}" }
    - { name: topicEndpoint, envRef: TOPIC_ENDPOINT }
    - { name: accessKey, secretKeyRef: { name: accessKey } }
---
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: clock }
spec:
  type: bindings.example.timer
  version: v1
  metadata:
    - { name: everyMs, value: "3600000" }
`
  const file = join(folder, 'shop.yaml')
  await writeFile(file, yaml)
  let host: Host | undefined
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${host?.bindings.get('shop')?.address()?.port}${pathname}`)
  host = await startHost({
    components: folder,
    // What only one of them takes is set where it is registered.
    plugins: [
      timer,
      { ...component, create: (options) => component.create({ ...options, endpoints: emulator.endpoints }) },
    ],
    app: `http://127.0.0.1:${address.port}`,
    load: {
      env: { TOPIC_ENDPOINT: topic.endpoint },
      secrets: { clientSecret: emulator.clientSecret, accessKey: topic.key },
    },
  })
  onTestFinished(() => host?.close())

  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()
  const { count } = await host.invoke('shop', 'create', { type: 'order.placed', order: 'one' })
  await emulator.settled()
  expect(count).toBe('1')
  expect(posts.map(({ path }) => path)).toEqual(['/shop', '/shop'])
  expect(posts.map(({ body }) => JSON.parse(body).data)).toEqual(Array(2).fill({ type: 'order.placed', order: 'one' }))

  // The event subscription is provisioned in the background.
  await expect.poll(() => host?.bindings.get('shop')?.health().status).toBe('healthy')
  const metrics = await host.metrics()
  for (const line of [
    'deliveries_total{component="shop",status="500"} 1',
    'deliveries_total{component="shop",status="200"} 1',
    'eventgrid_binding_deliveries_total{component="shop",status="401"} 0',
    'eventgrid_binding_events_total{component="shop",result="failed"} 1',
    'eventgrid_binding_events_total{component="clock",result="failed"} 0',
    'eventgrid_binding_invokes_total{component="shop",code="OK"} 1',
    'eventgrid_binding_invokes_total{component="clock",code="OK"} 0',
    'eventgrid_binding_health{component="shop",side="input",status="healthy"} 1',
    'eventgrid_binding_input_unhealthy{component="shop",cause="handler"} 0',
    'eventgrid_binding_input_unhealthy{component="clock",cause="closed"} 0',
    'eventgrid_binding_event_subscription{component="shop",state="provisioned"} 1',
    'eventgrid_binding_event_subscription_deleted_total{component="shop"} 0',
    'eventgrid_binding_start_time_seconds{component="shop"} ',
  ])
    expect(metrics).toContain(line)

  const { id } = await host.invoke('clock', 'create', 'now')
  expect(JSON.parse(posts.at(-1)?.body ?? '')).toMatchObject({ id, data: 'now' })
  const statuses = [...host.bindings].map(([name, binding]) => [name, binding.health().status])
  expect(Object.fromEntries(statuses)).toEqual({ shop: 'healthy', clock: 'healthy' })

  // Reloads while events come: nothing is lost, and what can't be read changes nothing.
  const shop = host.bindings.get('shop')
  const publishing = Array.from({ length: 20 }, (_, order) => host?.invoke('shop', 'create', { order }))
  await writeFile(file, yaml.replace('"3600000"', '"7200000"').replace('api/events', 'api/orders'))
  await host.reload()
  await Promise.all(publishing)
  await writeFile(file, yaml.replace('handshakePort', 'handshakeport2'))
  await expect(host.reload()).rejects.toMatchObject({ code: 'METADATA_INVALID' })
  await emulator.settled()
  const orders = posts.filter(({ path }) => path === '/shop').map(({ body }) => JSON.parse(body).data.order)
  expect(new Set(orders)).toEqual(new Set(['one', ...Array(20).keys()]))
  expect(host.bindings.get('shop')).toBe(shop)

  // A component whose type is now another vendor's is another binding.
  const output =
    'metadata: [{ name: topicEndpoint, envRef: TOPIC_ENDPOINT }, { name: accessKey, secretKeyRef: { name: accessKey } }]'
  const [before = ''] = yaml.split('bindings.example.timer')
  await writeFile(file, `${before}bindings.azure.eventgrid\n  version: v1\n  ${output}\n`)
  await host.reload()
  expect(await host.invoke('clock', 'create', 'now')).toMatchObject({ count: '1' })

  // A component that is gone is closed.
  await writeFile(file, yaml.slice(0, yaml.indexOf('---')))
  await host.reload()
  expect([...host.bindings.keys()]).toEqual(['shop'])
})

/** A plugin that writes down what its bindings are told; `hold` keeps updates waiting. */
function recorder() {
  const told: string[] = []
  let held = Promise.resolve()
  const plugin: ComponentDescriptor = {
    types: ['bindings.example.recorder'],
    version: 'v1',
    metadata: [],
    create: () => {
      let of = ''
      return {
        async init({ name, properties }, { sides } = {}) {
          of = name
          told.push(`init ${of} ${sides}`)
          if (properties.broken !== undefined) throw new Error(`${of} is broken`)
        },
        async update({ name }) {
          told.push(`update ${name}`)
          await held
        },
        read() {},
        invoke: async () => ({ metadata: {} }),
        operations: () => [],
        health: () => ({ status: 'healthy' }),
        address: () => undefined,
        async close({ sides } = {}) {
          told.push(`close ${of} ${sides ?? 'all'}`)
        },
        async [Symbol.asyncDispose]() {},
      }
    },
  }
  const hold = (until: Promise<void>) => {
    held = until
  }
  return { told, plugin, hold }
}

const recorded = (name: string, more = '') =>
  `apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: ${name} }
spec: { type: bindings.example.recorder, version: v1, ${more} metadata: [] }
`

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'node-host-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

it('opens all outputs before an input, and ends in the other order', async () => {
  const { told, plugin } = recorder()
  const components = await folderOf({ 'two.yaml': `${recorded('one')}---\n${recorded('two')}` })
  const host = await startHost({ components, plugins: [plugin], app: 'http://127.0.0.1:1' })
  await host.close()
  expect(told).toEqual([
    ...['init one output', 'init two output', 'update one', 'update two'],
    ...['close one input', 'close two input', 'close one all', 'close two all'],
  ])
})

it('begins no load after close, and lets the one that is under way end', async () => {
  const components = await folderOf({ 'one.yaml': recorded('one') })
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  const { told, plugin, hold } = recorder()
  const host = await startHost({ components, plugins: [plugin], app: 'http://127.0.0.1:1' })
  hold(held)
  told.length = 0
  const messageOf = (error: Error) => error.message
  const underWay = host.reload()
  const waiting = host.reload().catch(messageOf)
  await expect.poll(() => told).toEqual(['update one'])
  const closing = host.close().then(() => told.push('closed'))
  const late = host.reload().catch(messageOf)
  goOn()
  await Promise.all([underWay, closing])
  expect([await waiting, await late]).toEqual(['the host is closed', 'the host is closed'])
  expect(told).toEqual(['update one', 'close one input', 'close one all', 'closed'])
})

it('starts with the components that have no fault, as long as the faults are within its budget', async () => {
  const components = await folderOf({
    'good.yaml': recorded('good'),
    'broken.yaml': recorded('broken').replace('metadata: []', 'metadata: [{ name: broken, value: x }]'),
    'faulty.yaml': recorded('faulty').replace(
      'metadata: []',
      'metadata: [{ name: key, secretKeyRef: { name: none } }]',
    ),
  })
  const { told, plugin } = recorder()
  const options = { components, plugins: [plugin], app: 'http://127.0.0.1:1' }
  const lines: unknown[] = []
  const log = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line))
  onTestFinished(() => log.mockRestore())
  await expect(startHost({ ...options, errorBudget: 1 })).rejects.toThrow('broken is broken')
  expect(told.at(-1)).toBe('close good all')
  const host = await startHost({ ...options, errorBudget: 2 })
  expect([...host.bindings.keys()]).toEqual(['good'])
  expect(lines.map(String)).toEqual([
    expect.stringMatching(/faulty\.yaml:4:\d+: key is a secretKeyRef to "none"/),
    'Error: broken is broken',
  ])
  // A reload is whole or not.
  await expect(host.reload()).rejects.toMatchObject({ code: 'METADATA_INVALID' })
  await host.close()
})
