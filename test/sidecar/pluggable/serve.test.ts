import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import * as serve from '../../../src/sidecar/cli/commands/serve.ts'
import { UsageError } from '../../../src/support/command-line/options.ts'
import { deliverBrackets } from '../../support/bracket-event.ts'
import { type Command, startCommand } from '../../support/command.ts'
import { emulatorVariables } from '../../support/component-folder.ts'
import { makeSocketFolder } from '../../support/socket-folder.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { connectHost } from './grpc-host.ts'
import { type OpenComponent, openComponent } from './open-component.ts'

/** Starts `serve`; daprd's variable names the folder. */
async function start(folder: string, args: readonly string[] = []): Promise<Command> {
  const serving = startCommand(['serve', ...args], { DAPR_COMPONENTS_SOCKETS_FOLDER: folder })
  await serving.line(/\bready\b/)
  return serving
}

type Serving = Awaited<ReturnType<typeof startBeside>>

/** Starts `serve` for a world with an emulator, with a host connected to it. */
async function startBeside(
  { emulator }: OpenComponent,
  env: Readonly<Record<string, string>> = {},
  folder = makeSocketFolder(),
) {
  const variables = emulatorVariables(emulator, temporaryFolder())
  const serving = startCommand(['serve', '--sockets-folder', folder], { ...variables, ...env })
  await serving.line(/\bready\b/)
  const host = connectHost(join(folder, 'azure.eventgrid.sock'))
  onTestFinished(() => host.close())
  return { folder, serving, host }
}

it('serves the folder that daprd is told of, and ends with 0 and no sockets on SIGTERM', async () => {
  const folder = makeSocketFolder()
  const serving = await start(folder)
  expect(readdirSync(folder)).toHaveLength(2)
  serving.process.kill('SIGTERM')
  expect(await serving.ended).toBe(0)
  expect(readdirSync(folder)).toEqual([])
})

it.each(['win32', 'aix', 'sunos'])(
  'says at once on %s that it needs Linux or macOS, and what works there',
  async (platform) => {
    const started = serve.run([], undefined, platform)
    await expect(started).rejects.toThrow(
      `serve needs Linux or macOS, and this is ${platform}; use "eventgrid-binding run"`,
    )
  },
)

it.each([
  { moment: 'before it listens', until: (_: OpenComponent, { host }: Serving) => host.ping('input') },
  { moment: 'when it listens', until: (_: OpenComponent, { serving }: Serving) => serving.line(/listening/) },
  {
    moment: 'when it has asked Azure',
    until: ({ emulator }: OpenComponent) => emulator.records.requests.waitFor(({ route }) => route === 'arm'),
  },
  {
    moment: 'in the handshake',
    until: ({ emulator }: OpenComponent) => emulator.records.handshakes.waitFor(() => true),
  },
])('hinders no later process when it is killed in the middle of Init: $moment', async ({ until }) => {
  const world = await openComponent()
  const { emulator, fields } = world
  const killed = await startBeside(world)
  const init = killed.host.init('input', 'orders', fields).catch(() => {})
  await until(world, killed)
  killed.serving.process.kill('SIGKILL')
  await Promise.all([killed.serving.ended, init])

  const { host, serving } = await startBeside(world, {}, killed.folder)
  await host.init('input', 'orders', fields)
  await serving.line(/the event subscription orders is provisioned/)
  const subscription = emulator.eventSubscription(emulator.topic('orders').id, 'orders')
  expect(subscription).toMatchObject({ provisioningState: 'Succeeded' })
})

it('ends with 0 on SIGTERM in the middle of Init, while Entra does not answer', async () => {
  const world = await openComponent()
  world.emulator.failNext({ route: 'entra', delayMs: 600_000, times: 100 })
  const { serving, host, folder } = await startBeside(world)
  const init = host.init('input', 'orders', world.fields).catch(() => {})
  await serving.line(/listening/)
  serving.process.kill('SIGTERM')
  expect(await serving.ended).toBe(0)
  await init
  expect(readdirSync(folder)).toEqual([])
})

it('ends at once on a second signal, with 143, and takes its sockets along', async () => {
  const world = await openComponent()
  const { fields, emulator, publish } = world
  const { folder, serving, host } = await startBeside(world)
  await host.init('input', 'orders', fields)
  const reading = await host.read('orders')
  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()
  await publish('1')
  await reading.next()

  serving.process.kill('SIGTERM')
  await serving.line(/waiting for what is under way/)
  serving.process.kill('SIGTERM')
  expect(await serving.ended).toBe(143)
  expect(readdirSync(folder)).toEqual([])
})

it('gets by with a heap of 128 MB for ten events under way that would take 280 MB when parsed', async () => {
  const world = await openComponent()
  const { fields, port } = world
  const { serving, host } = await startBeside(world, { NODE_OPTIONS: '--max-old-space-size=128' })
  await host.init('input', 'orders', { ...fields, deliveryAuthentication: 'none' })
  const reading = await host.read('orders')
  await serving.line(/the host reads events/)
  const statuses = deliverBrackets(port)
  const events = [await reading.next()]
  while (events.length < 10) events.push(await reading.next())
  for (const event of events) reading.acknowledge(event)
  expect(await statuses).toEqual(Array(10).fill(200))
})

it('writes its log as JSON lines on demand, with the component that a line is about', async () => {
  const folder = makeSocketFolder()
  const serving = await start(folder, ['--log-format', 'json', '--log-level', 'debug', '--socket-mode', '600'])
  const host = connectHost(join(folder, 'azure.eventgrid.sock'))
  onTestFinished(() => host.close())
  await expect(host.init('input', 'orders', { scope: 'nowhere' })).rejects.toThrow('scope')
  const [line = ''] = await serving.line(/.*METADATA_INVALID.*/)
  expect(JSON.parse(line)).toMatchObject({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    level: 'error',
    component: 'orders',
    msg: expect.stringContaining('scope'),
  })
})

it('serves health and metrics where it is told to', async () => {
  const serving = await start(makeSocketFolder(), ['--metrics-port', '0'])
  const [, port] = await serving.line(/health and metrics.* port=(\d+)/)
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toContain('process_cpu_seconds_total')
})

it('ends with 1, and leaves no sockets, where the port for metrics is taken', async () => {
  const { port, host, fields } = await openComponent()
  await host.init('input', 'orders', { ...fields, handshakePort: String(port), listenAddress: '127.0.0.1' })
  const folder = makeSocketFolder()
  const serving = startCommand(['serve', '--sockets-folder', folder, '--metrics-port', String(port)])
  expect(await serving.ended).toBe(1)
  expect(serving.lines.join('\n')).toContain(`port ${port} is in use; free it, or choose another by --metrics-port`)
  expect(readdirSync(folder)).toEqual([])
})

it.each([
  { args: ['--socket-mode', 'rw'], says: '--socket-mode takes three octal digits' },
  { args: ['--metrics-address', '0.0.0.0'], says: '--metrics-address needs --metrics-port' },
  { args: ['--metrics-port', '70000'], says: '--metrics-port takes a number' },
  { args: ['--log-level', 'loud'], says: '--log-level takes debug or info or warn or error' },
  { args: ['--log-format', 'xml'], says: '--log-format takes text or json' },
  { args: ['--port', '1'], says: "Unknown option '--port'" },
  { args: ['extra'], says: "Unexpected argument 'extra'" },
])('refuses $args as wrong usage', async ({ args, says }) => {
  const running = serve.run(args)
  await expect(running).rejects.toBeInstanceOf(UsageError)
  await expect(running).rejects.toThrow(says)
})
