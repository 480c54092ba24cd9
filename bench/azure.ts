import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { GoBinding } from './go-binding.ts'
import type { LoadTarget } from './load/generator.ts'
import type { EmulatorReady, Rehearsal } from './servers/emulator.ts'
import type { OursSetup } from './servers/ours.ts'
import { programFile } from './strip-types.ts'

/** The emulator in a process of its own. It shares the load's core: it rests while something is measured. */
export type Azure = Child<EmulatorReady>

/** Each server has a topic of its own as its source. */
const topics = ['entra', 'secret', 'go-binding', 'start', 'instances', 'dapr', 'daprBuiltIn', 'serve', 'run'] as const
type Topic = (typeof topics)[number]

/** A server under test. */
export interface Server extends AsyncDisposable {
  readonly child: Child<{ readonly ports: readonly number[] }>
  /** Where deliveries go and what they carry; one for each instance. */
  readonly targets: readonly LoadTarget[]
}

export const serverFile = (name: string) => programFile(join('servers', name))

export function startAzure(): Promise<Azure> {
  return startChild<EmulatorReady>({
    args: [serverFile('emulator')],
    core: 'load',
    env: { BENCH_SETUP: JSON.stringify({ topics }) },
  })
}

const hostOf = (port: number) => `port-${port}.subscriber.example`

/** Metadata of an input side, whose event subscription has the port's number in its name. */
export function inputMetadata(
  { ready }: Azure,
  topic: Topic,
  port: number,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const { tenantId, subscriptionId, clientId, clientSecret } = ready
  return {
    tenantId,
    subscriptionId,
    clientId,
    clientSecret,
    subscriberEndpoint: `https://${hostOf(port)}/api/events`,
    handshakePort: String(port),
    scope: ready.topics[topic] ?? '',
    eventSubscriptionName: `bench${port}`,
    ...more,
  }
}

/** Headers that belong to one request or connection; the load sets its own. */
const ofOneRequest = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive'])

/** What Event Grid sends to these ports once their event subscriptions stand, as its own deliveries show it. */
export async function targetsOf(azure: Azure, topic: Topic, ports: readonly number[]): Promise<LoadTarget[]> {
  const rehearsal: Rehearsal = { topicId: azure.ready.topics[topic] ?? '', hosts: ports.map(hostOf) }
  const seen = await azure.ask<Record<string, Record<string, string>>>(rehearsal)
  return ports.map((port) => {
    const headers = Object.entries(seen[hostOf(port)] ?? {}).filter(([name]) => !ofOneRequest.has(name))
    return { port, headers: Object.fromEntries(headers) }
  })
}

function server(child: Server['child'], targets: readonly LoadTarget[]): Server {
  return { child, targets, [Symbol.asyncDispose]: () => child.stop() }
}

/**
 * Flags of Node for all servers of ours that take deliveries and for the bare ones beside them: what docs/performance.md advises for the
 * start command.
 */
export const serverFlags: readonly string[] = ['--max-semi-space-size=4']

/** How {@link startOurs} starts our binding. */
export interface OursOptions {
  readonly authentication: 'entra' | 'secret'
  /** Components in the one process. @default 1 */
  readonly instances?: number
  readonly metadata?: Readonly<Record<string, string>>
  /** Flags of Node. */
  readonly nodeFlags?: readonly string[]
  /** @default servers/ours.ts */
  readonly program?: string
}

/** Our binding, subscribed and ready for deliveries. */
export async function startOurs(azure: Azure, options: OursOptions): Promise<Server> {
  const { authentication, instances = 1, metadata, nodeFlags = [], program = serverFile('ours') } = options
  const topic = instances > 1 ? 'instances' : authentication
  const ports = await freePorts(instances)
  const more = { deliveryAuthentication: authentication, ...metadata }
  const setup: OursSetup = {
    endpoints: azure.ready.endpoints,
    components: ports.map((port) => inputMetadata(azure, topic, port, more)),
  }
  const child: Server['child'] = await startChild({
    args: [...serverFlags, ...nodeFlags, program],
    core: 'server',
    env: { BENCH_SETUP: JSON.stringify(setup) },
  })
  return server(child, await targetsOf(azure, topic, ports))
}

/** The environment in which Dapr's Go binding finds the emulator where Azure's hosts should be. */
export async function goEnvironment(azure: Azure, metadata: object, trusted = ''): Promise<Record<string, string>> {
  const file = join(import.meta.dirname, '..', '.cache', 'bench', 'ca.pem')
  await writeFile(file, `${azure.ready.endpoints.ca}\n${trusted}`)
  const hosts = { HTTPS_PROXY: azure.ready.proxy, NO_PROXY: '127.0.0.1,localhost' }
  return { ...hosts, SSL_CERT_FILE: file, BENCH_METADATA: JSON.stringify(metadata) }
}

/** Dapr's Go binding, subscribed and ready. */
export async function startGo(azure: Azure, { program }: GoBinding & { program: string }): Promise<Server> {
  const ports = await freePorts(1)
  const metadata = inputMetadata(azure, 'go-binding', ports[0] ?? 0)
  const child: Server['child'] = await startChild({
    command: program,
    args: [],
    core: 'server',
    env: await goEnvironment(azure, metadata),
  })
  return server(child, await targetsOf(azure, 'go-binding', ports))
}

/** A bare server, or several in one process, that gets just what another server gets. */
export async function startBare(
  name: 'node-http' | 'fastify',
  like: readonly LoadTarget[],
  servers = 1,
  nodeFlags: readonly string[] = [],
): Promise<Server> {
  const child: Server['child'] = await startChild({
    args: [...serverFlags, ...nodeFlags, serverFile(name)],
    core: 'server',
    env: { BENCH_SETUP: JSON.stringify({ servers }) },
  })
  return server(
    child,
    child.ready.ports.map((port, index) => ({ port, headers: like[index]?.headers ?? {} })),
  )
}

/** Ports that were free a moment ago: a subscriber's endpoint has to be known before it listens. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  await Promise.all(servers.map((one) => new Promise<void>((resolve) => one.listen(0, resolve))))
  const ports = servers.map((one) => {
    const address = one.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
  await Promise.all(servers.map((one) => new Promise((resolve) => one.close(resolve))))
  return ports
}
