import { expect, vi } from 'vitest'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { componentYaml, makeComponentFolder, writeSecretStore } from '../support/component-folder.ts'
import { type DaprApp, openDaprApp } from '../support/dapr-app.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { makeSocketFolder } from '../support/socket-folder.ts'
import { idsOf, openOrders, openStack, withDaprd } from './stack.ts'

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

/** Notes every event that Event Grid was told is handled while the application had not answered 200 for it. */
function watchAcknowledged(emulator: EventGridEmulator, app: DaprApp): readonly string[] {
  const unhandled: string[] = []
  emulator.records.deliveries.listen(({ status, eventIds }) => {
    if (status !== 200) return
    const handled = new Set(idsOf(app.calls))
    unhandled.push(...eventIds.filter((id) => !handled.has(id)))
  })
  return unhandled
}

withDaprd(
  'daprd killed and started again under load: nothing acknowledged was unhandled, and nothing is lost',
  async () => {
    const app = await openDaprApp()
    const stack = await openOrders({ daprd: { appPort: app.port } })
    const { daprd, emulator, subscribed, publish, sockets, serving } = stack
    await daprd.ready()
    await subscribed()
    await serving.line(/the host reads events/)
    const unhandled = watchAcknowledged(emulator, app)

    await publish(ids('before-', 300))
    await app.received('POST', 50)
    daprd.process.kill('SIGKILL')
    await daprd.ended
    await publish(ids('between-', 50))
    const again = await stack.startDaprd({ sockets, appPort: app.port })
    await again.ready()
    await publish(ids('after-', 50))
    await emulator.settled()

    expect(unhandled).toEqual([])
    expect(new Set(idsOf(app.calls))).toEqual(
      new Set([...ids('before-', 300), ...ids('between-', 50), ...ids('after-', 50)]),
    )
    expect(emulator.figures()).toMatchObject({ delivered: 400, deadLettered: 0, dropped: 0 })
    expect((await again.create('orders', { a: 1 })).status).toBe(200)
  },
)

withDaprd('our process killed: create says to restart daprd, events wait in Event Grid until it is', async () => {
  const app = await openDaprApp()
  const stack = await openOrders({ daprd: { appPort: app.port } })
  const { daprd, emulator, subscribed, publish, sockets, serving } = stack
  await daprd.ready()
  await subscribed()
  await publish(['before'])
  await emulator.settled()
  const unhandled = watchAcknowledged(emulator, app)

  serving.process.kill('SIGKILL')
  await serving.ended
  await publish(['between'])
  const fresh = await stack.serve(sockets)
  // It finds the new process by itself.
  await vi.waitFor(
    async () => expect(await (await daprd.create('orders', {})).text()).toMatch(/NOT_INITIALIZED.*restart daprd/),
    { timeout: 30_000, interval: 100 },
  )
  await fresh.line(/warn.*was not initialised in this process; restart daprd/)
  expect(idsOf(app.calls)).toEqual(['before'])

  daprd.process.kill('SIGTERM')
  await daprd.ended
  const again = await stack.startDaprd({ sockets, appPort: app.port })
  await again.ready()
  expect((await again.create('orders', { a: 1 }, { id: 'after' })).status).toBe(200)
  await emulator.settled()
  expect(idsOf(app.calls).toSorted()).toEqual(['after', 'before', 'between'])
  expect(unhandled).toEqual([])
})

withDaprd('SIGTERM to our process: what the application has is acknowledged, and it ends with 0', async () => {
  const app = await openDaprApp()
  const release = Promise.withResolvers<number>()
  app.answerWith(() => release.promise)
  const { daprd, emulator, subscribed, publish, serving } = await openOrders({ daprd: { appPort: app.port } })
  await daprd.ready()
  await subscribed()
  await publish(['one'])
  await app.received('POST', 1)
  serving.process.kill('SIGTERM')
  await serving.line(/no more events are taken/)
  release.resolve(200)
  expect(await serving.ended).toBe(0)
  expect(emulator.records.deliveries.all().map(({ status }) => status)).toEqual([200])
})

withDaprd('SIGTERM to daprd: what the application has is awaited, or comes again', async () => {
  const app = await openDaprApp()
  const release = Promise.withResolvers<number>()
  app.answerWith((_call, index) => (index === 0 ? release.promise : 200))
  const stack = await openOrders({ daprd: { appPort: app.port } })
  const { daprd, emulator, subscribed, publish, sockets, serving } = stack
  await daprd.ready()
  await subscribed()
  const unhandled = watchAcknowledged(emulator, app)
  await publish(['one'])
  await app.received('POST', 1)
  daprd.process.kill('SIGTERM')
  await serving.line(/the host stopped reading events/)
  release.resolve(200)
  await daprd.ended
  const again = await stack.startDaprd({ sockets, appPort: app.port })
  await again.ready()
  await publish(['two'])
  await emulator.settled()
  expect(new Set(idsOf(app.calls))).toEqual(new Set(['one', 'two']))
  expect(unhandled).toEqual([])
})

withDaprd('a hot-reloaded YAML takes effect under load, on the same port, and nothing is lost', async () => {
  const app = await openDaprApp()
  const { daprd, emulator, subscribed, publish, serving, write, port } = await openOrders({
    daprd: { appPort: app.port },
  })
  await daprd.ready()
  await subscribed()
  const unhandled = watchAcknowledged(emulator, app)
  await publish(ids('a', 200))
  await app.received('POST', 20)
  write({ includedEventTypes: 't,u' })
  await serving.line(/the input side starts anew/)
  await eventually(() => expect(serving.lines.filter((line) => line.includes('listening for')).length).toBe(2))
  await publish(ids('b', 20))
  await emulator.settled()
  expect(new Set(idsOf(app.calls))).toEqual(new Set([...ids('a', 200), ...ids('b', 20)]))
  expect(unhandled).toEqual([])
  // The event subscription is changed in the background.
  await eventually(() =>
    expect(emulator.eventSubscription(emulator.topic('orders').id, 'orders')).toMatchObject({
      properties: { filter: { includedEventTypes: ['t', 'u'] } },
    }),
  )
  expect((await fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS' })).status).toBe(200)
  expect((await daprd.create('orders', { a: 1 })).status).toBe(200)
})

withDaprd('a component that is renamed while daprd runs keeps its port', async () => {
  const app = await openDaprApp()
  const { daprd, emulator, subscribed, publish, serving, components, port } = await openOrders({
    daprd: { appPort: app.port },
  })
  await daprd.ready()
  await subscribed()
  components.remove('orders.yaml')
  await serving.line(/the host stopped reading events/)
  const fields = { eventSubscriptionName: 'orders', subscriberEndpoint: 'https://orders.example.com/api/events' }
  const renamed = componentYaml(emulator, { name: 'shop', topic: 'orders', handshakePort: String(port), fields })
  components.write('shop.yaml', renamed.replaceAll('shop-', 'orders-'))
  await serving.line(/the host reads events component=shop/)
  await publish(['one'])
  await emulator.settled()
  const [call] = await app.received('POST', 1)
  expect(call?.path).toBe('/shop')
})

withDaprd('two replicas behind one ingress share one event subscription and its events', async () => {
  const stack = await openStack()
  const { emulator } = stack
  const replicas = await Promise.all(
    ['one', 'two'].map(async () => {
      const [app, port, sockets] = [await openDaprApp(), await freePort(), makeSocketFolder()]
      const components = makeComponentFolder()
      writeSecretStore(components, emulator, ['orders'])
      const fields = { eventSubscriptionName: 'orders' }
      components.write('orders.yaml', componentYaml(emulator, { handshakePort: String(port), fields }))
      return { app, port, sockets, components }
    }),
  )
  stack.route('orders', ...replicas.map(({ port }) => port))
  const sidecars = await Promise.all(
    replicas.map(async ({ app, sockets, components }) => {
      const serving = await stack.serve(sockets)
      const daprd = await stack.startDaprd({ sockets, components, appPort: app.port })
      await daprd.ready()
      await serving.line(/the host reads events/)
      return { serving, daprd }
    }),
  )
  await stack.subscribed()
  await stack.publish(ids('a', 40))
  await emulator.settled()
  expect(emulator.eventSubscriptions()).toHaveLength(1)
  for (const { app } of replicas) expect(idsOf(app.calls).length).toBeGreaterThan(0)

  // One of them leaves, and the other one takes everything.
  const [leaving] = sidecars
  leaving?.serving.process.kill('SIGTERM')
  expect(await leaving?.serving.ended).toBe(0)
  await stack.publish(ids('b', 40))
  await emulator.settled()
  const all = replicas.flatMap(({ app }) => idsOf(app.calls))
  expect(all.toSorted()).toEqual([...ids('a', 40), ...ids('b', 40)].toSorted())
})
