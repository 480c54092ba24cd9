import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Azure, freePorts, inputMetadata, serverFile, targetsOf } from './azure.ts'
import { type Child, startChild } from './child.ts'
import { startDaemon } from './daemon.ts'
import type { DaprPrograms } from './dapr-programs.ts'
import type { LoadTarget } from './load/generator.ts'
import type { BareSetup } from './servers/bare-component.ts'
import { componentFile, makeFolder, outputMetadata, packageFile, startServe, type Topic } from './shipped-command.ts'

/** What all of Dapr's doors have in common. */
export interface DaprWorld {
  readonly azure: Azure
  readonly programs: Exclude<DaprPrograms, { missing: string }>
  readonly nodeFlags: readonly string[]
  /** The application that events reach. */
  readonly app: Child<{ readonly port: number }>
  /** Where `create` publishes to. */
  readonly topic: Topic
}

/** A door of Dapr's: daprd, with a component beside it or in it. */
export interface Door extends AsyncDisposable {
  readonly processes: readonly { readonly pid: number }[]
  /** Where deliveries go, and what they carry. */
  readonly deliveries: LoadTarget
  /** Where `create` is called. */
  readonly create: LoadTarget
}

interface DaprdOptions {
  readonly type: string
  readonly metadata: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
}

/** Starts daprd with one component, and waits until it and the application have found each other. */
async function startDaprd({ programs, app }: DaprWorld, options: DaprdOptions, stack: AsyncDisposableStack) {
  const folder = await makeFolder(stack)
  const resources = join(folder, 'components')
  await mkdir(resources)
  await writeFile(join(resources, 'orders.yaml'), componentFile(options))
  const config = join(folder, 'config.yaml')
  // JSON is YAML. Without a resolver of names daprd announces itself to nobody.
  const spec = { nameResolution: { component: 'none' } }
  const head = { apiVersion: 'dapr.io/v1alpha1', kind: 'Configuration', metadata: { name: 'bench' } }
  await writeFile(config, JSON.stringify({ ...head, spec }))
  const [http = 0, grpc = 0, internal = 0] = await freePorts(3)
  const flags = {
    'app-id': 'bench',
    'app-port': app.ready.port,
    'resources-path': resources,
    config,
    'dapr-http-port': http,
    'dapr-grpc-port': grpc,
    'dapr-internal-grpc-port': internal,
    'dapr-listen-addresses': '127.0.0.1',
    'dapr-internal-grpc-listen-address': '127.0.0.1',
    'dapr-graceful-shutdown-seconds': 1,
    'log-level': 'warn',
  }
  const daemon = stack.use(
    await startDaemon({
      command: programs.daprd,
      args: [
        ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]),
        '--enable-metrics=false',
      ],
      env: options.env,
      core: 'server',
      ready: async () => (await fetch(`http://127.0.0.1:${http}/v1.0/healthz`).catch(() => undefined))?.status === 204,
    }),
  )
  const create: LoadTarget = {
    port: http,
    path: '/v1.0/bindings/orders',
    headers: { 'content-type': 'application/json' },
  }
  return { daemon, create }
}

async function deliveriesTo(azure: Azure, topic: Parameters<typeof targetsOf>[1], port: number): Promise<LoadTarget> {
  const [target] = await targetsOf(azure, topic, [port])
  if (!target) throw new Error('no delivery was rehearsed')
  return target
}

/** daprd with our component, as `serve` serves it. */
export async function openOurDoor(world: DaprWorld): Promise<Door> {
  const stack = new AsyncDisposableStack()
  const [port = 0] = await freePorts(1)
  const { daemon, sockets } = await startServe(world, stack)
  const metadata = { ...inputMetadata(world.azure, 'dapr', port), ...outputMetadata(world.topic) }
  const env = { DAPR_COMPONENTS_SOCKETS_FOLDER: sockets }
  const daprd = await startDaprd(world, { type: 'bindings.cloud.eventrouter', metadata, env }, stack)
  return {
    processes: [daprd.daemon, daemon],
    deliveries: await deliveriesTo(world.azure, 'dapr', port),
    create: daprd.create,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** daprd with its own Event Grid binding. It finds the emulator where Azure's hosts should be. */
export async function openBuiltInDoor(world: DaprWorld): Promise<Door> {
  const { azure, topic } = world
  const stack = new AsyncDisposableStack()
  const [port = 0] = await freePorts(1)
  const folder = await makeFolder(stack)
  const trusted = join(folder, 'ca.pem')
  await writeFile(trusted, `${azure.ready.endpoints.ca}\n${topic.ca}`)
  const metadata = { ...inputMetadata(azure, 'daprBuiltIn', port), ...outputMetadata(world.topic) }
  const env = {
    HTTPS_PROXY: azure.ready.proxy,
    NO_PROXY: '127.0.0.1,localhost',
    SSL_CERT_FILE: trusted,
    DAPR_COMPONENTS_SOCKETS_FOLDER: folder,
  }
  const daprd = await startDaprd(world, { type: 'bindings.azure.eventgrid', metadata, env }, stack)
  return {
    processes: [daprd.daemon],
    deliveries: await deliveriesTo(azure, 'daprBuiltIn', port),
    create: daprd.create,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** daprd with a component that does nothing. It gets what another door gets. */
export async function openBareDoor(world: DaprWorld, like: LoadTarget): Promise<Door> {
  const stack = new AsyncDisposableStack()
  const folder = await makeFolder(stack)
  const setup: BareSetup = {
    socket: join(folder, 'nothing.sock'),
    proto: packageFile('./sidecar/pluggable/grpc/proto/bindings.proto'),
  }
  const child = stack.use(
    await startChild<{ ports: readonly number[] }>({
      args: [serverFile('bare-component')],
      core: 'server',
      env: { BENCH_SETUP: JSON.stringify(setup) },
    }),
  )
  const env = { DAPR_COMPONENTS_SOCKETS_FOLDER: folder }
  const daprd = await startDaprd(
    world,
    { type: 'bindings.nothing', metadata: { direction: 'input, output' }, env },
    stack,
  )
  return {
    processes: [daprd.daemon, child],
    deliveries: { port: child.ready.ports[0] ?? 0, headers: like.headers },
    create: daprd.create,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** `serve` with daprd's side of the hop alone, for either authentication of deliveries. */
export interface Hop extends AsyncDisposable {
  readonly serve: { readonly pid: number }
  readonly deliveries: Readonly<Record<'entra' | 'secret', LoadTarget>>
}

export async function openHop(world: DaprWorld): Promise<Hop> {
  const stack = new AsyncDisposableStack()
  const { daemon, sockets } = await startServe(world, stack)
  const read = async (deliveryAuthentication: 'entra' | 'secret') => {
    const [port = 0] = await freePorts(1)
    const metadata = inputMetadata(world.azure, 'dapr', port, { deliveryAuthentication })
    stack.use(
      await startChild<object>({
        command: world.programs.reader,
        args: [join(sockets, 'cloud.eventrouter.sock'), deliveryAuthentication],
        core: 'load',
        env: { BENCH_METADATA: JSON.stringify(metadata) },
      }),
    )
    return deliveriesTo(world.azure, 'dapr', port)
  }
  return {
    serve: daemon,
    deliveries: { entra: await read('entra'), secret: await read('secret') },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
