import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { component } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { expect, it, onTestFinished } from 'vitest'
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
    'seconds_count{component="shop",what="event",result="failed"} 1',
    'seconds_count{component="shop",what="create",result="ok"} 1',
    'healthy{component="shop"} 1',
  ])
    expect(metrics).toContain(line)

  const { id } = await host.invoke('clock', 'create', 'now')
  expect(JSON.parse(posts.at(-1)?.body ?? '')).toMatchObject({ id, data: 'now' })
  expect([...host.bindings].map(([name, binding]) => [name, binding.health().status])).toEqual([
    ['shop', 'healthy'],
    ['clock', 'healthy'],
  ])

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
