import { expect, it } from 'vitest'
import { openDaprApp } from '../../support/dapr-app.ts'
import { inputFields } from '../../support/open-world.ts'
import { openHostWorld } from './open-host.ts'

/** The component `orders` publishes to a namespace topic, and receives from it. */
async function openPullWorld() {
  const world = await openHostWorld({
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
  })
  const topic = world.emulator.namespaceTopic('orders')
  world.write('orders.yaml', {
    fields: {
      ...Object.fromEntries(inputFields.map((field) => [field, undefined])),
      deliveryMode: 'pull',
      namespaceTopic: topic.id,
      namespaceEndpoint: topic.namespaceEndpoint,
      namespaceKey: topic.key,
      eventSubscriptionName: 'app',
      topicEndpoint: topic.endpoint,
      accessKey: topic.key,
    },
  })
  return world
}

const order = { operation: 'create', data: { article: 'lamp' } }

it('receives nothing without --app-port, and says so', async () => {
  const world = await openPullWorld()
  const host = world.start()
  await host.line(
    / warn {2}there is no --app-port: no events are received, and Event Grid keeps them component=orders$/,
  )
  expect((await host.invoke('orders', order)).status).toBe(200)
  expect([...world.emulator.queues().values()]).toEqual([{ available: 1, locked: 0, delayed: 0 }])
})

it('receives nothing until the application takes events, and says so', async () => {
  const world = await openPullWorld()
  let wanted = false
  const app = await openDaprApp({ subscribed: () => wanted })
  const host = world.start(['--app-port', String(app.port)])
  await host.line(
    / warn {2}the application answers OPTIONS .*\. Until then no events are received, and Event Grid keeps them component=orders$/,
  )
  expect((await host.invoke('orders', order)).status).toBe(200)
  expect([...world.emulator.queues().values()]).toEqual([{ available: 1, locked: 0, delayed: 0 }])
  wanted = true
  const [post] = await app.received('POST', 1)
  expect(JSON.parse(post?.body ?? '')).toMatchObject({ data: { article: 'lamp' } })
  expect(host.lines.join('\n')).not.toContain('503')
})
