import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { startCommand } from '../../support/command.ts'
import { makeComponentFolder } from '../../support/component-folder.ts'
import { openDaprApp } from '../../support/dapr-app.ts'
import { listen } from '../../support/listen.ts'
import { openConnection } from '../../support/open-connection.ts'
import { openHostWorld } from './open-host.ts'

it('names everything that is wrong in one go, what was left out, and what is not read', async () => {
  const folder = makeComponentFolder()
  const head = 'apiVersion: dapr.io/v1alpha1\nkind: Component\n'
  folder.write('a.yaml', `${head}metadata: { name: a }\nspec:\n  type: bindings.azure.eventgird\n`)
  folder.write('b.yaml', 'kind: Componet')
  folder.write(
    'c.yaml',
    `${head}metadata: { name: c }\nspec:\n  type: bindings.azure.eventgrid\n  metadata:\n` +
      '    - { name: accessKey, secretKeyRef: { name: event-grid, key: key } }\n',
  )
  const command = startCommand(['run', '--components', folder.path, '--secrets', 'gone.json'])
  expect(await command.ended).toBe(2)
  expect(command.lines.map((line) => line.replaceAll(`${folder.path}/`, ''))).toEqual([
    "eventgrid-binding run: --secrets: gone.json can't be read: ENOENT: no such file or directory, " +
      `open 'gone.json'; a relative path counts from the working folder, ${process.cwd()}`,
    'c.yaml:6:3: topicEndpoint is required on the output side; write { name: topicEndpoint, value: ' +
      '"https://TOPIC.westeurope-1.eventgrid.azure.net/api/events" }',
    '  6 |   metadata:',
    '    |   ^',
    'a.yaml:5:9: component "a" has the unknown type "bindings.azure.eventgird"; did you mean bindings.azure.eventgrid?',
    'b.yaml:1:7: kind "Componet" is unknown; did you mean Component?',
  ])
})

it('ends with 1 where the port of the API or of a component is taken', async () => {
  const port = String(await listen(createServer()))
  const api = startCommand(['run', '--components', makeComponentFolder().path, '--http-port', port])
  expect(await api.ended).toBe(1)
  expect(api.lines).toEqual([
    `eventgrid-binding run: port ${port} is in use; free it, or choose another by --http-port`,
  ])

  const world = await openHostWorld()
  world.write('orders.yaml', { handshakePort: port, fields: { listenAddress: '127.0.0.1' } })
  const host = world.start()
  expect(await host.ended).toBe(1)
  expect(host.lines.join('\n')).toMatch(/ error could not be started component=orders$/m)
  expect(host.lines.at(-1)).toMatch(/PORT_UNAVAILABLE/)
})

/** `run` whose application has an event that it answers at the end only. */
async function startWithEvent() {
  const world = await openHostWorld()
  const app = await openDaprApp()
  const { promise: answered, resolve: answer } = Promise.withResolvers<number>()
  app.answerWith(() => answered)
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')
  await host.invoke('orders', { operation: 'create', data: 'held' })
  await app.received('POST', 1)
  return { host, answer }
}

it('ends at once at a second signal', async () => {
  const { host } = await startWithEvent()
  host.process.kill('SIGINT')
  await host.line(/ info {2}SIGINT: no more events/)
  host.process.kill('SIGTERM')
  expect(await host.ended).toBe(143)
})

it('waits for the events under way at the first signal after a request to shut down', async () => {
  const { host, answer } = await startWithEvent()
  await fetch(`${await host.api}/v1.0/shutdown`, { method: 'POST' })
  await host.line(/ info {2}shutdown: no more events/)
  host.process.kill('SIGTERM')
  const { status } = await host.invoke('orders', { operation: 'create', data: 'by the handler' })
  answer(200)
  expect([status, await host.ended]).toEqual([200, 0])
})

it('says what runs, and prints no secret, whatever goes wrong', async () => {
  const world = await openHostWorld()
  const marks = { APP_API_TOKEN: 'marked-app-token', DAPR_API_TOKEN: 'marked-api-token' }
  const { key } = world.emulator.topic('orders')
  world.folder.remove('local-secrets.yaml')
  const host = world.start(['--secrets', `${world.folder.path}/secrets.json`], marks)
  const base = await host.api
  const headers = { 'dapr-api-token': marks.DAPR_API_TOKEN }
  const answers = await Promise.all(
    ['orders', 'none'].map((name) =>
      fetch(`${base}/v1.0/bindings/${name}`, { method: 'POST', headers, body: '{"operation":"create","data":1}' }),
    ),
  )
  const metadata = await fetch(`${base}/v1.0/metadata`, { headers })
  world.write('orders.yaml', { fields: { clientSecret: `marked-client-secret`, handshakePort: 'x' } })
  await host.line(/ warn {2}nothing is changed: all components go on as before/)
  await fetch(`${base}/v1.0/shutdown`, { method: 'POST', headers })
  expect(await host.ended).toBe(0)
  const answered = await Promise.all([...answers, metadata].map((answer) => answer.text()))
  const texts = [...host.lines, ...answered].join('\n')
  expect(texts).toMatch(/ info {2}bindings\.azure\.eventgrid v1: input and output component=orders$/m)
  expect(texts).toContain('"capabilities":["INPUT_BINDING","OUTPUT_BINDING"]')
  for (const secret of ['marked-', key, world.emulator.clientSecret]) expect(texts).not.toContain(secret)
})

it.each([
  { name: 'no byte', bytes: '' },
  { name: 'half a head', bytes: 'POST /v1.0/bindings/orders HTTP/1.1\r\nhost: ' },
  {
    name: 'half a body',
    bytes: 'POST /v1.0/bindings/orders HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{',
  },
])('ends though a connection to its API has brought $name and stays open', async ({ bytes }) => {
  const world = await openHostWorld()
  const host = world.start()
  const { port } = new URL(await host.api)
  await openConnection(Number(port), bytes)
  host.process.kill('SIGTERM')
  expect(await host.ended).toBe(0)
})

it.each([
  { env: { APP_API_TOKEN: 'marked-token\n' } },
  { env: { DAPR_API_TOKEN: ' marked-token' } },
  { env: { DAPR_API_TOKEN: 'marked-tokén' } },
])('refuses a token that no header can hold: $env', async ({ env }) => {
  const host = startCommand(['run', '--components', makeComponentFolder().path, '--http-port', '0'], env)
  expect(await host.ended).toBe(2)
  const [variable] = Object.keys(env)
  expect(host.lines).toEqual([
    `eventgrid-binding run: ${variable} must be printable ASCII, without a line break and without a space at its ends`,
  ])
})

it.each([
  { env: {}, warns: true },
  { env: { DAPR_API_TOKEN: 'the-token' }, warns: false },
])('warns of an API that listens on every address without a token, with $env: $warns', async ({ env, warns }) => {
  const host = startCommand(
    ['run', '--components', makeComponentFolder().path, '--http-port', '0', '--http-address', '0.0.0.0'],
    env,
  )
  await host.line(/ ready/)
  expect(host.lines.some((line) => line.includes('--http-address 0.0.0.0 without DAPR_API_TOKEN'))).toBe(warns)
})
