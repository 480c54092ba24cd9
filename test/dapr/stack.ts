import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CommunicationProtocolEnum, DaprServer } from '@dapr/dapr'
import { onTestFinished, test, vi } from 'vitest'
import { EventGridEmulator, type EventGridEmulatorOptions } from '../../packages/emulator/src/index.ts'
import { type Command, startCommand, startProcess } from '../support/command.ts'
import {
  type ComponentFolder,
  componentYaml,
  emulatorVariables,
  makeComponentFolder,
  writeSecretStore,
} from '../support/component-folder.ts'
import { freePort } from '../support/free-port.ts'
import { quickRetries } from '../support/quick-retries.ts'
import { makeSocketFolder } from '../support/socket-folder.ts'
import { obtainDaprd } from './daprd-program.ts'

const program = await obtainDaprd()

/** A test with a stock daprd; skipped where none can be built. */
export const withDaprd = test.skipIf(program === undefined)

/** A running daprd. */
export interface Daprd extends Command {
  readonly httpPort: number
  readonly grpcPort: number
  /** Calls `create` by Dapr's HTTP API. */
  create(component: string, data: unknown, metadata?: Readonly<Record<string, string>>): Promise<Response>
  /** Resolves when its API is there; with an application, when that is too. */
  ready(): Promise<void>
}

export interface DaprdOptions {
  readonly sockets: string
  readonly appPort?: number
  readonly appProtocol?: 'http' | 'grpc'
  readonly args?: readonly string[]
  /** @default the stack's */
  readonly components?: ComponentFolder
}

/** An emulator with the topic `orders`, and a folder of component files for it. */
export interface Stack {
  readonly emulator: EventGridEmulator
  readonly components: ComponentFolder
  /** Where deliveries for each component go, by its handshakePort; several are taken in turn. */
  route(component: string, ...ports: number[]): void
  /** Starts `eventgrid-binding serve` on a folder for sockets, and waits until it is ready. */
  serve(sockets: string, args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Command>
  startDaprd(options: DaprdOptions): Promise<Daprd>
  /** Publishes past daprd. */
  publish(ids: readonly string[]): Promise<void>
  /** Resolves when the event subscription of a component stands. */
  subscribed(component?: string): Promise<void>
}

/** Starts the emulator; the test's end stops everything. */
export async function openStack(options: EventGridEmulatorOptions = {}): Promise<Stack> {
  const emulator = await EventGridEmulator.start({
    retrySchedule: [100, 100, 100, ...quickRetries.slice(-5)],
    deadLetterDelay: 0,
    ...options,
  })
  onTestFinished(() => emulator.close())
  const components = makeComponentFolder()
  writeSecretStore(
    components,
    emulator,
    emulator.topics().map(({ name }) => name),
  )
  const variables = emulatorVariables(emulator, makeSocketFolder())
  const config = join(makeSocketFolder(), 'config.yaml')
  writeFileSync(config, configuration)

  const routes = new Map<string, number[]>()
  emulator.setIngress(({ hostname, pathname, search }) => {
    const ports = routes.get(hostname.split('.')[0] ?? '') ?? []
    const port = ports.shift() ?? 1
    ports.push(port)
    return `http://127.0.0.1:${port}${pathname}${search}`
  })

  return {
    emulator,
    components,
    route: (component, ...ports) => void routes.set(component, ports),
    async serve(sockets, args = [], env = {}) {
      const serving = startCommand(['serve', '--sockets-folder', sockets, ...args], { ...variables, ...env })
      await serving.line(/ ready /)
      return serving
    },
    async startDaprd({ sockets, appPort, appProtocol = 'http', args = [], components: resources = components }) {
      const [httpPort, grpcPort, internalPort] = [await freePort(), await freePort(), await freePort()]
      const app = appPort === undefined ? [] : ['--app-port', String(appPort), '--app-protocol', appProtocol]
      const ports = [
        ...['--dapr-http-port', httpPort, '--dapr-grpc-port', grpcPort],
        ...['--dapr-internal-grpc-port', internalPort],
      ]
      const daprd = startProcess(
        program ?? '',
        [
          ...['--app-id', 'shop', '--resources-path', resources.path, '--config', config, ...ports.map(String), ...app],
          ...['--enable-metrics=false', '--dapr-graceful-shutdown-seconds', '1'],
          ...['--dapr-listen-addresses', '127.0.0.1', '--dapr-internal-grpc-listen-address', '127.0.0.1', ...args],
        ],
        { DAPR_COMPONENTS_SOCKETS_FOLDER: sockets },
      )
      const api = `http://127.0.0.1:${httpPort}/v1.0`
      return {
        ...daprd,
        httpPort,
        grpcPort,
        create: (component, data, metadata = {}) =>
          fetch(`${api}/bindings/${component}`, {
            method: 'POST',
            body: JSON.stringify({ operation: 'create', data, metadata }),
          }),
        ready: () =>
          vi.waitFor(
            async () => {
              const health = `${api}/healthz${appPort === undefined ? '/outbound' : ''}`
              const status = await fetch(health).then(
                (answer) => answer.status,
                (error: Error) => error.cause,
              )
              if (status !== 204) throw new Error(`daprd is not ready: ${status}\n${daprd.lines.join('\n')}`)
            },
            { timeout: 30_000, interval: 50 },
          ),
      }
    },
    async publish(ids) {
      const topic = emulator.topic('orders')
      const answer = await fetch(topic.httpEndpoint, {
        method: 'POST',
        headers: { 'aeg-sas-key': topic.key, 'content-type': 'application/cloudevents-batch+json' },
        body: JSON.stringify(ids.map((id) => ({ specversion: '1.0', id, source: '/t', type: 't', data: { id } }))),
      })
      if (!answer.ok) throw new Error(`publishing was answered ${answer.status}`)
    },
    async subscribed(component = 'orders') {
      await emulator.records.handshakes.waitFor(
        ({ outcome, url }) => outcome === 'validated' && url.includes(`//${component}.`),
      )
      await emulator.idle()
    },
  }
}

/** The usual: one component `orders` with both sides, served, with daprd and an application beside it. */
export async function openOrders(
  options: {
    readonly emulator?: EventGridEmulatorOptions
    readonly fields?: Readonly<Record<string, string | undefined>>
    readonly type?: string
    readonly daprd?: Partial<DaprdOptions>
    readonly serve?: readonly string[]
    /** Environment of `serve`. */
    readonly env?: Readonly<Record<string, string>>
  } = {},
) {
  const stack = await openStack(options.emulator)
  const port = await freePort()
  const sockets = makeSocketFolder()
  const write = (fields: Readonly<Record<string, string | undefined>> = {}) =>
    stack.components.write(
      'orders.yaml',
      componentYaml(stack.emulator, {
        handshakePort: String(port),
        ...(options.type !== undefined && { type: options.type }),
        fields: { eventSubscriptionName: 'orders', ...options.fields, ...fields },
      }),
    )
  write()
  stack.route('orders', port)
  const serving = await stack.serve(sockets, options.serve, options.env)
  const daprd = await stack.startDaprd({ sockets, ...options.daprd })
  return { ...stack, port, sockets, write, serving, daprd }
}

/** An application with Dapr's SDK, unmodified, and the events that it got. Its handler fails for the first one. */
export async function openSdkApp(appPort: number, daprPort: number, communicationProtocol: CommunicationProtocolEnum) {
  const server = new DaprServer({
    ...{ serverHost: '127.0.0.1', serverPort: String(appPort), communicationProtocol, logger: { service: quiet } },
    clientOptions: {
      ...{ daprHost: '127.0.0.1', daprPort: String(daprPort), communicationProtocol, logger: { service: quiet } },
    },
  })
  onTestFinished(() => server.stop())
  const handled: unknown[] = []
  await server.binding.receive('orders', async (event: unknown) => {
    handled.push(event)
    if (handled.length === 1) throw new Error('not yet')
  })
  await server.start()
  return handled
}

/** Ids of the events that an application was sent, in order. */
export function idsOf(calls: readonly { readonly method: string; readonly body: string }[]): string[] {
  return calls.flatMap(({ method, body }) => (method === 'POST' ? [String(JSON.parse(body).id)] : []))
}

/** Without a resolver of names daprd announces itself to nobody; it logs that there is none of that name. */
const configuration = `apiVersion: dapr.io/v1alpha1
kind: Configuration
metadata: { name: tests }
spec:
  nameResolution: { component: none }
`

/** A logger for Dapr's client and server. */
export const quiet = { error() {}, warn() {}, info() {}, verbose() {}, debug() {} }
