import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { status } from '@grpc/grpc-js'
import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { createInstances } from '../../../src/sidecar/pluggable/instances.ts'
import { createPluggable } from '../../../src/sidecar/pluggable/server.ts'
import { createMetrics } from '../../../src/sidecar/shared/metrics.ts'
import { startHeldTopic } from '../../publisher/scripted-topic.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { listeningServers } from '../../support/listening-servers.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { makeSocketFolder } from '../../support/socket-folder.ts'
import { beginReading, openComponent } from './open-component.ts'

async function openBusy() {
  const open = await openComponent()
  const reading = await beginReading(open)
  return { ...open, reading, event: await reading.next() }
}

it('takes nothing new meanwhile, and leaves its place to the next process at once', async () => {
  const { pluggable, reading, event, emulator, publish } = await openBusy()
  const closed = pluggable.close()
  expect(pluggable.sockets.filter((path) => existsSync(path))).toEqual([])
  await publish('2')
  await emulator.records.deliveries.waitFor(({ eventIds, status }) => eventIds[0] === '2' && status === 503)
  reading.acknowledge(event)
  await closed
  expect(reading.events).toHaveLength(1)
})

it('does not wait for events whose stream has ended', async () => {
  const { pluggable, reading, emulator } = await openBusy()
  const closed = pluggable.close()
  reading.cancel()
  await closed
  expect(emulator.records.deliveries.last?.status).not.toBe(200)
})

it('refuses Init and Invoke once it is over with a side', async () => {
  const { pluggable, host, fields, reading, event } = await openBusy()
  const closed = pluggable.close()
  await expect(host.init('input', 'orders', { ...fields, maxConcurrency: '3' })).rejects.toMatchObject({
    code: status.UNAVAILABLE,
  })
  reading.acknowledge(event)
  await closed
  await eventually(() => expect(host.ping('input')).rejects.toMatchObject({ code: status.UNAVAILABLE }))
})

it('opens no listener for an Init that waits for another one', async () => {
  const { fields, port } = await openComponent()
  const instances = createInstances({ loggerOf: () => silentLogger, metrics: createMetrics() })
  const instance = instances.obtain('orders')
  const inits = ['7', '8', '9'].map((maxConcurrency) => instance.init('input', { ...fields, maxConcurrency }))
  const outcomes = Promise.allSettled(inits)
  await instances.close()
  expect(await outcomes).toMatchObject(inits.map(() => ({ reason: { code: 'CLOSED' } })))
  await expect(fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS' })).rejects.toThrow()
})

it('is over only when a replaced output side has published what it had', async () => {
  const { topic, open } = await startHeldTopic()
  const instances = createInstances({ loggerOf: () => silentLogger, metrics: createMetrics() })
  const instance = instances.obtain('orders')
  const fields = { topicEndpoint: topic.endpoint, accessKey: 'a2V5' }
  await instance.init('output', fields)
  const order: string[] = []
  const request = { operation: 'create', data: Buffer.from('{}'), metadata: {} }
  const published = instance.invoke(request, new AbortController().signal).then(() => order.push('published'))
  await topic.arrived(1)
  await instance.init('output', { ...fields, publishTimeout: '59s' })
  const closed = instances.close().then(() => order.push('closed'))
  // A close that does not wait is over before this is.
  await fetch(topic.origin, { method: 'POST', body: '[]' })
  open()
  await Promise.all([published, closed])
  expect(order).toEqual(['published', 'closed'])
})

it('takes no component meanwhile that it does not know, whose listener nobody would close', async () => {
  const { host, fields, reading, event, pluggable } = await openBusy()
  const closed = pluggable.close()
  const port = await freePort()
  const outcome = await host
    .init('input', 'other', { ...fields, handshakePort: String(port) })
    .catch((error: unknown) => error)
  reading.acknowledge(event)
  await closed
  expect(outcome).toMatchObject({ code: status.UNAVAILABLE })
  await expect(fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS' })).rejects.toThrow()
})

it.each([
  { what: 'has said nothing', said: [] },
  { what: 'has begun to speak HTTP/2', said: [Buffer.from('PRI * HTTP/2.0\r\n')] },
  // Settings, all by default; those of the other side it leaves unread.
  {
    what: 'has opened its session',
    said: [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])],
  },
])('leaves no connection to a host that $what and does nothing any more, as one that is stopped', async ({ said }) => {
  quickenTime()
  const { result: pluggable, servers } = await listeningServers(() =>
    createPluggable({ folder: makeSocketFolder(), loggerOf: () => silentLogger }),
  )
  const frozen = connect({ path: pluggable.sockets[0] ?? '', allowHalfOpen: true }).on('error', () => {})
  onTestFinished(() => void frozen.destroy())
  for (const bytes of said) frozen.write(bytes)
  await once(frozen, 'readable')
  const connections = () => Promise.all(servers.map((server) => promisify(server.getConnections.bind(server))()))
  expect(await connections()).toEqual([1, 0])
  await pluggable.close()
  expect(await connections()).toEqual([0, 0])
})
