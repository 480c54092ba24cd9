import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { captureLog } from '../../support/captured-log.ts'
import { eventually } from '../../support/eventually.ts'
import { listen } from '../../support/listen.ts'
import { loadTexts } from '../../support/load-texts.ts'
import { openHostWorld } from './open-host.ts'
import { openHost, publisherFile } from './open-sidecar.ts'

/** A topic that takes connections and is silent. Counts them. */
async function startSilentTopic() {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  })
  const port = await listen(server)
  return { endpoint: `http://127.0.0.1:${port}/api/events`, connections: () => connections }
}

it('changes a component over and over while its topic is silent, and calls meanwhile end as the topic lets them', async () => {
  const world = await openHostWorld()
  const topic = await startSilentTopic()
  const silent = { topicEndpoint: topic.endpoint, publishTimeout: '2s' }
  world.write('orders.yaml', { fields: silent })
  const host = world.start()
  const create = () => host.invoke('orders', { operation: 'create', data: 'sent' })
  const opened = (count: number) =>
    eventually(() =>
      expect(host.lines.filter((line) => / v1: input and output component=orders$/.test(line))).toHaveLength(count),
    )
  const waiting = [create()]
  await eventually(() => expect(topic.connections()).toBe(1))
  for (const [index, route] of ['/one', '/two', '/three'].entries()) {
    world.write('orders.yaml', { fields: { ...silent, route } })
    await opened(index + 2)
    waiting.push(create())
  }
  world.write('orders.yaml')
  await opened(5)
  expect((await create()).status).toBe(200)
  for (const { body } of await Promise.all(waiting)) expect(body).toContain('PUBLISH_UNAVAILABLE')
  host.process.kill('SIGTERM')
  expect(await host.ended).toBe(0)
})

it('makes the next change though one failed for a reason that nobody thought of', async () => {
  const load = (names: readonly string[], publishTimeout: string) =>
    loadTexts(Object.fromEntries(names.map((name) => [`${name}.yaml`, publisherFile(name, { publishTimeout })])))
  const log = captureLog()
  let broken: string | undefined
  const { host } = openHost({
    loggerOf: (name) => {
      if (name !== broken) return log
      broken = undefined
      throw new Error('no logger')
    },
  })
  await host.start(load(['a', 'b'], '1s'))
  broken = 'a'
  const failed = host.change(load(['a', 'b'], '2s'))
  const next = host.change(load(['b', 'c'], '3s'))
  await expect(failed).rejects.toThrow('no logger')
  await next
  expect(
    host.components().map(({ loaded }) => [loaded.component.name, loaded.metadata.output?.publishTimeoutMs]),
  ).toEqual([
    ['b', 3_000],
    ['c', 3_000],
  ])
})
