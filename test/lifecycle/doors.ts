import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { Binding } from '../../src/index.ts'
import { connectHost, type ReadSession } from '../sidecar/pluggable/grpc-host.ts'
import { captureLog } from '../support/captured-log.ts'
import { startCommand } from '../support/command.ts'
import { componentYaml, emulatorVariables, makeComponentFolder, writeSecretStore } from '../support/component-folder.ts'
import { openDaprApp } from '../support/dapr-app.ts'
import { inputFields, without } from '../support/open-world.ts'
import { makeSocketFolder } from '../support/socket-folder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The application: gets an event's data and metadata. What it throws makes Event Grid deliver again. */
export type Handler = (data: unknown, metadata: Readonly<Record<string, unknown>>) => Promise<void> | void

/** What a door opens for. */
export interface DoorWorld {
  readonly emulator: EventGridEmulator
  /** Where the component listens; deliveries are led there. */
  readonly handshakePort: string
  readonly handle: Handler
  /** Receive from the namespace topic `orders`, with its key, in place of listening. */
  readonly pull?: boolean
  /** @default manage */
  readonly provisioning?: 'manage' | 'check' | 'none'
}

/** A component that runs, whatever it runs in. */
export interface Opened {
  /** Publishes a payload by the operation `create`. Rejects when that fails. */
  create(payload: object, metadata?: Readonly<Record<string, string>>): Promise<void>
  /** What it has logged. */
  log(): string
  /** Ends it as its user does: `close`, or SIGTERM to the process. Resolves when it has ended well. */
  close(): Promise<void>
}

/** One way to use the binding. */
export interface Door {
  readonly name: string
  open(world: DoorWorld): Promise<Opened>
}

function fieldsOf({ emulator, handshakePort, pull, provisioning }: DoorWorld): Record<string, string> {
  if (pull) return pullFieldsOf(emulator)
  const { tenantId, subscriptionId, clientId, clientSecret } = emulator
  const topic = emulator.topic('orders')
  return {
    ...{ tenantId, subscriptionId, clientId, clientSecret, handshakePort, scope: topic.id },
    ...{ subscriberEndpoint: 'https://orders.example.com/api/events', eventSubscriptionName: 'orders' },
    ...{ topicEndpoint: topic.endpoint, accessKey: topic.key, ...(provisioning && { provisioning }) },
  }
}

function pullFieldsOf(emulator: EventGridEmulator): Record<string, string> {
  const { id: namespaceTopic, namespaceEndpoint, endpoint: topicEndpoint, key } = emulator.namespaceTopic('orders')
  return {
    ...{ deliveryMode: 'pull', namespaceTopic, namespaceEndpoint, namespaceKey: key, eventSubscriptionName: 'app' },
    ...{ topicEndpoint, accessKey: key },
  }
}

async function openLibrary(world: DoorWorld): Promise<Opened> {
  const log = captureLog()
  const binding = new Binding({
    endpoints: world.emulator.endpoints,
    logger: log,
    onEvent: ({ cloudEvent, metadata }) => world.handle(cloudEvent.data, metadata),
  })
  onTestFinished(() => binding.close())
  await binding.init(fieldsOf(world))
  return {
    create: async (payload, metadata) => void (await binding.invoke('create', payload, metadata && { metadata })),
    log: log.text,
    close: () => binding.close(),
  }
}

async function terminated({ process, ended, lines }: ReturnType<typeof startCommand>): Promise<void> {
  process.kill('SIGTERM')
  const code = await ended
  if (code !== 0) throw new Error(`it ended with ${code}:\n${lines.join('\n')}`)
}

async function openServe(world: DoorWorld): Promise<Opened> {
  const folder = makeSocketFolder()
  const environment = emulatorVariables(world.emulator, temporaryFolder())
  const command = startCommand(['serve', '--sockets-folder', folder], environment)
  await command.line(/\bready\b/)
  const host = connectHost(join(folder, 'azure.eventgrid.sock'))
  onTestFinished(() => host.close())
  for (const side of ['input', 'output'] as const) await host.init(side, 'orders', fieldsOf(world))
  void acknowledgeAll(await host.read('orders'), world.handle)
  return {
    create: async (payload, metadata = {}) => {
      const data = Buffer.from(JSON.stringify(payload))
      await host.invoke('orders', { operation: 'create', data, metadata })
    },
    log: () => command.lines.join('\n'),
    close: () => terminated(command),
  }
}

/** What a sidecar does with events: each goes to the application, and its answer back. */
async function acknowledgeAll(reading: ReadSession, handle: Handler): Promise<void> {
  for (;;) {
    const event = await reading.next()
    const answer = async () => {
      try {
        await handle(JSON.parse(event.data.toString()).data, event.metadata)
        reading.acknowledge(event)
      } catch (error) {
        reading.acknowledge(event, String(error))
      }
    }
    void answer()
  }
}

async function openRun(world: DoorWorld): Promise<Opened> {
  const { emulator, handshakePort, handle, pull, provisioning } = world
  const folder = makeComponentFolder()
  const fields = pull
    ? { ...without(...inputFields), ...pullFieldsOf(emulator) }
    : { eventSubscriptionName: 'orders', ...(provisioning && { provisioning }) }
  folder.write('orders.yaml', componentYaml(emulator, { handshakePort, fields }))
  writeSecretStore(folder, emulator, ['orders'])
  const app = await openDaprApp()
  app.answerWith(async ({ body, headers }) => {
    try {
      await handle(JSON.parse(body).data, headers)
      return 200
    } catch {
      return 500
    }
  })
  const args = ['run', '--components', folder.path, '--http-port', '0', '--app-port', String(app.port)]
  const command = startCommand(args, emulatorVariables(emulator, folder.path))
  const [, api = ''] = await command.line(/ready: .*url=(http\S+)\/v1\.0/)
  return {
    async create(data, metadata) {
      const body = JSON.stringify({ operation: 'create', data, metadata })
      const answer = await fetch(`${api}/v1.0/bindings/orders`, { method: 'POST', body })
      if (!answer.ok) throw new Error(`create was answered ${answer.status}: ${await answer.text()}`)
    },
    log: () => command.lines.join('\n'),
    close: () => terminated(command),
  }
}

/** Every way to use the binding. */
export const doors: readonly Door[] = [
  { name: 'the library', open: openLibrary },
  { name: 'serve', open: openServe },
  { name: 'run', open: openRun },
]
