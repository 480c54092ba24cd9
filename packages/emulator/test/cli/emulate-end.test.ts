import { spawn } from 'node:child_process'
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { listen } from '../../../../test/support/listen.ts'
import { openConnection } from '../../../../test/support/open-connection.ts'
import { startSubscriber } from '../subscriber.ts'
import { startProgram } from '../support/program.ts'
import { auditConfig, configFile, publish, startEmulate } from './emulate-command.ts'

/** A subscriber that leaves each delivery unanswered, for the test to answer. */
async function startSlowSubscriber() {
  const first = Promise.withResolvers<ServerResponse>()
  const server = createHttpServer((request, response) => {
    if (request.method !== 'OPTIONS') return first.resolve(response)
    response.setHeader('webhook-allowed-origin', request.headers['webhook-request-origin'] ?? '').end()
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, delivery: first.promise }
}

const namespaces = 'namespaces: [{ name: shop, keys: [Zmlyc3Q=, c2Vjb25k], topics: [{ name: parcels }] }]'

/** An emulator with a delivery under way. */
async function startBusy() {
  const subscriber = await startSlowSubscriber()
  const emulate = await startEmulate(['--config', configFile(auditConfig(subscriber.url, namespaces))])
  await emulate.line(/handshake audit .* validated$/)
  const topic = await emulate.topic('orders')
  await publish(topic, ['a'])
  return { emulate, topic, delivery: await subscriber.delivery }
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  'takes no more events after %s, waits for deliveries, and ends well',
  async (signal) => {
    const { emulate, topic, delivery } = await startBusy()
    emulate.process.kill(signal)
    await emulate.line(new RegExp(`^${signal}: no more events are taken; waiting .* \\(1 event pending\\)$`))
    expect((await publish(topic, ['b'])).status).toBe(503)
    const url = `${emulate.proxy}/namespaces/shop/topics/parcels:publish?api-version=2024-06-01`
    const event = { specversion: '1.0', id: 'c', source: '/shop', type: 'order.placed', data: {} }
    const pulled = await fetch(url, {
      method: 'POST',
      headers: { authorization: 'SharedAccessKey Zmlyc3Q=', 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify(event),
    })
    expect(pulled.status).toBe(503)
    delivery.end()
    expect(await emulate.ended).toBe(0)
    expect(emulate.lines.at(-1)).toBe('ended: 1 delivered, 0 dead-lettered, 0 dropped, 0 undelivered and lost')
  },
)

it('counts at its end what was dropped', async () => {
  const { emulate, delivery } = await startBusy()
  delivery.writeHead(400).end()
  await emulate.line(/lost audit gave up 1 event {2}dropped/)
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
  expect(emulate.lines.at(-1)).toBe('ended: 0 delivered, 0 dead-lettered, 1 dropped, 0 undelivered and lost')
})

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('ends at once after a second %s', async (signal, code) => {
  const { emulate } = await startBusy()
  emulate.process.kill(signal)
  await emulate.line(/no more events are taken/)
  emulate.process.kill(signal)
  expect(await emulate.ended).toBe(code)
})

it('ends where a port is in use, and says what to do', async () => {
  const port = await listen(createServer())
  const command = startProgram(['--port', '0', '--http-port', `${port}`])
  expect(await command.ended).toBe(1)
  expect(command.lines).toEqual([
    `eventgrid-emulator: port ${port} is in use; free it, or choose others by --port, --http-port and --blob-port`,
  ])
})

it('goes on when nobody reads its lines any more', async () => {
  const subscriber = await startSubscriber()
  const emulate = await startEmulate(['--config', configFile(auditConfig(subscriber.url))])
  await emulate.line(/handshake audit .* validated$/)
  const topic = await emulate.topic('orders')
  emulate.process.stdout?.destroy()
  await publish(topic, ['a'])
  await subscriber.received(1)
  await publish(topic, ['b'])
  await subscriber.received(2)
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
})

it('prints its help into a pipe that is closed early without a complaint', async () => {
  const main = resolve(import.meta.dirname, '../../src/cli/main.ts')
  const shell = spawn(
    'sh',
    ['-c', '{ sleep 0.1; "$0" "$1" --help; echo "exit code $?" >&2; } | true', process.execPath, main],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  expect((await text(shell.stderr)).trim()).toBe('exit code 1')
})

it('ends though connections have brought nothing, or half a request', async () => {
  const emulate = await startEmulate()
  for (const url of [emulate.resourceManager, emulate.proxy]) {
    const port = Number(new URL(url).port)
    await openConnection(port)
    await openConnection(port, 'POST / HTTP/1.1\r\nhost: ')
  }
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
})
