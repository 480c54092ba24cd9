import { createServer } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import type { EventGridEmulatorOptions } from '../../../../packages/emulator/src/index.ts'
import { startCommand } from '../../../support/command.ts'
import { componentYaml, makeComponentFolder, writeSecretStore } from '../../../support/component-folder.ts'
import { openDaprApp } from '../../../support/dapr-app.ts'
import { freePort } from '../../../support/free-port.ts'
import { listen } from '../../../support/listen.ts'
import { fieldsFor } from '../../../support/open-world.ts'
import { quickRetries } from '../../../support/quick-retries.ts'
import { makeSocketFolder } from '../../../support/socket-folder.ts'
import { startEmulator } from '../../../support/start-emulator.ts'
import { connectHost } from '../../pluggable/grpc-host.ts'

/** The endpoint that Azure would give the topic `orders`. */
const topicEndpoint = 'https://orders.westeurope-1.eventgrid.azure.net/api/events'

/** An emulator, and a folder with a component whose endpoints are those of Azure. */
async function openWorld(options: EventGridEmulatorOptions = {}) {
  const emulator = await startEmulator({ retrySchedule: quickRetries, ...options })
  const folder = makeComponentFolder()
  const handshakePort = String(await freePort())
  emulator.setIngress(({ pathname, search }) => `http://127.0.0.1:${handshakePort}${pathname}${search}`)
  writeSecretStore(folder, emulator, ['orders'])
  folder.write('orders.yaml', componentYaml(emulator, { handshakePort, fields: { topicEndpoint } }))
  const fields = { ...fieldsFor(emulator), handshakePort, topicEndpoint }
  return { emulator, folder, fields, handshakePort }
}

it('leads run to an emulator by the YAML for Azure', async () => {
  const port = await freePort()
  const topics = [{ name: 'orders', keys: ['Zmlyc3Q=', 'c2Vjb25k'] }] as const
  const clients = [{ clientSecret: 'the-secret' }]
  const { folder } = await openWorld({ port, topics, clients })
  const app = await openDaprApp()
  const run = startCommand([
    ...['run', '--components', folder.path, '--http-port', '0', '--app-port', String(app.port)],
    ...['--emulator', `https://127.0.0.1:${port}`],
  ])
  const [, url = ''] = await run.line(/ ready: .*url=(http\S+)\/v1\.0/)
  await run.line(/ the event subscription .* is provisioned/)
  const body = JSON.stringify({ operation: 'create', data: { order: 1 } })
  expect((await fetch(`${url}/v1.0/bindings/orders`, { method: 'POST', body })).status).toBe(200)
  const [call] = await app.received('POST', 1)
  expect(JSON.parse(call?.body ?? '')).toMatchObject({ data: { order: 1 } })
})

it('lets serve go on where the emulator is started anew with its state file, which has its certificate and keys', async () => {
  const port = await freePort()
  const state = join(makeComponentFolder().path, 'state.db')
  const { emulator, fields } = await openWorld({ port, state })
  const sockets = makeSocketFolder()
  const serve = startCommand(['serve', '--sockets-folder', sockets, '--emulator', `https://127.0.0.1:${port}`])
  await serve.line(/ ready /)
  const host = connectHost(join(sockets, 'azure.eventgrid.sock'))
  onTestFinished(() => host.close())
  const create = () => host.invoke('orders', { operation: 'create', data: Buffer.from('{"order": 1}') })
  await host.init('output', 'orders', fields)
  await create()
  await emulator.close()
  const again = await startEmulator({ port, state })
  await create()
  expect(again.figures().published).toBe(1)
})

it.each(['run', 'serve', 'check'])(
  'ends %s with an error that names the emulator that does not answer',
  async (command) => {
    const folder = makeComponentFolder()
    const nobody = `https://127.0.0.1:${await freePort()}`
    const place = command === 'serve' ? ['--sockets-folder', makeSocketFolder()] : ['--components', folder.path]
    const started = startCommand([command, ...place, '--emulator', nobody])
    expect(await started.ended).toBe(1)
    expect(started.lines.join('\n')).toContain(`no emulator answers at ${nobody}`)
  },
)

it('reads 64 KiB at the most of what answers in the place of an emulator', async () => {
  let sent = 0
  const server = createServer((_request, response) => {
    Readable.from(endless()).pipe(response)
  })
  function* endless() {
    for (;;) {
      sent += 65_536
      yield ' '.repeat(65_536)
    }
  }
  const port = await listen(server)
  const started = startCommand([
    ...['run', '--components', makeComponentFolder().path],
    ...['--emulator', `http://127.0.0.1:${port}`],
  ])
  expect(await started.ended).toBe(1)
  // What was on its way when the connection ended. Within the time limit of the question it would be gigabytes.
  expect(sent).toBeLessThan(64 * 1_048_576)
})
