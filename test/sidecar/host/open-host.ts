import type { EventGridEmulator, EventGridEmulatorOptions } from '../../../packages/emulator/src/index.ts'
import { type Command, startCommand } from '../../support/command.ts'
import {
  type ComponentFolder,
  type ComponentParts,
  componentYaml,
  emulatorVariables,
  makeComponentFolder,
  writeSecretStore,
} from '../../support/component-folder.ts'
import { freePort } from '../../support/free-port.ts'
import { quickRetries } from '../../support/quick-retries.ts'
import { startEmulator } from '../../support/start-emulator.ts'

/** An emulator, and a folder with one component `orders` for it. */
export interface HostWorld {
  readonly emulator: EventGridEmulator
  readonly folder: ComponentFolder
  /** Writes a component's file. `handshakePort` is a free one unless said. */
  write(file: string, parts?: Partial<ComponentParts>): void
  /** Starts `run` on the folder; what it says of its ports is followed by the emulator's ingress. */
  start(args?: readonly string[], env?: Readonly<Record<string, string>>): RunningHost
}

/** The command `run`, and its API once it is ready. */
export interface RunningHost extends Command {
  /** Base URL of the API, once it is ready. */
  readonly api: Promise<string>
  /** Resolves when a component's event subscription stands and the application has asked for its events. */
  takesEvents(name: string): Promise<unknown>
  /** The port on which a component listens, once it does; by the first line that says so. */
  port(name: string): Promise<string>
  /** Invokes a binding by a request by hand. */
  invoke(name: string, body: unknown): Promise<{ status: number; headers: Headers; body: string }>
}

/** Options of `run` that have the application's health asked for every 50 ms; `threshold` failures make it unwell. */
export const healthChecked = (threshold: number): readonly string[] => [
  ...['--app-health-check-path', '/well', '--app-health-probe-interval', '0.05'],
  ...['--app-health-threshold', String(threshold)],
]

const listens = (name: string) => new RegExp(` listening .*component=${name} .*port=(\\d+)`)

/** The port on which a component listens, by the last line that says so. */
function portOf(lines: readonly string[], name: string): number | undefined {
  const ports = lines.flatMap((line) => {
    const [, port] = listens(name).exec(line) ?? []
    return port === undefined ? [] : [Number(port)]
  })
  return ports.at(-1)
}

/** Opens them; the test's end closes all. */
export async function openHostWorld(options: EventGridEmulatorOptions = {}): Promise<HostWorld> {
  const emulator = await startEmulator({
    retrySchedule: quickRetries,
    deadLetterDelay: 0,
    topics: [{ name: 'orders' }, { name: 'parcels' }],
    ...options,
  })
  const folder = makeComponentFolder()
  const variables = emulatorVariables(emulator, folder.path)
  const ports = new Map([
    ['orders', await freePort()],
    ['parcels', await freePort()],
  ])
  const write: HostWorld['write'] = (file, parts = {}) =>
    folder.write(file, componentYaml(emulator, { handshakePort: String(ports.get(parts.name ?? 'orders')), ...parts }))
  writeSecretStore(folder, emulator, ['orders', 'parcels'])
  write('orders.yaml')
  return {
    emulator,
    folder,
    write,
    start(args = [], env = {}) {
      const given = ['run', '--components', folder.path, '--http-port', '0', ...args]
      const command = startCommand(given, { ...variables, ...env })
      emulator.setIngress(({ hostname, pathname, search }) => {
        const [name = ''] = hostname.split('.')
        return `http://127.0.0.1:${portOf(command.lines, name) ?? 1}${pathname}${search}`
      })
      const api = command.line(/ ready: .*url=(http\S+)\/v1\.0/).then(([, url = '']) => url)
      // A test that expects the command to end does not look at the API.
      api.catch(() => {})
      return {
        ...command,
        api,
        takesEvents: (name) =>
          Promise.all([
            command.line(new RegExp(` the event subscription .* is provisioned.* component=${name}`)),
            command.line(new RegExp(` events go to the application.* component=${name}`)),
          ]),
        async port(name) {
          const [, port = ''] = await command.line(listens(name))
          return port
        },
        async invoke(name, body) {
          const text = typeof body === 'string' ? body : JSON.stringify(body)
          const answer = await fetch(`${await api}/v1.0/bindings/${name}`, { method: 'POST', body: text })
          return { status: answer.status, headers: answer.headers, body: await answer.text() }
        },
      }
    },
  }
}
