import { onTestFinished } from 'vitest'
import { EventGridEmulator, type EventGridEmulatorOptions } from '../../../packages/emulator/src/index.ts'
import { Binding } from '../../../src/index.ts'
import { type CheckId, checkIds, reportSchema } from '../../../src/sidecar/check/report.ts'
import * as check from '../../../src/sidecar/cli/commands/check.ts'
import { createTerminal } from '../../../src/support/command-line/terminal.ts'
import {
  type ComponentFolder,
  componentYaml,
  makeComponentFolder,
  writeSecretStore,
} from '../../support/component-folder.ts'
import { freePort } from '../../support/free-port.ts'

/** What `check` said. */
export interface Checked {
  readonly code: number
  /** By id, over all components. */
  readonly status: Readonly<Partial<Record<CheckId, string>>>
  fieldOf(id: CheckId): string | undefined
  idsThat(status: 'ok' | 'warning' | 'failed' | 'skipped'): readonly CheckId[]
  /** Detail and remedy of a check, in one text. */
  said(id: CheckId): string
  readonly components: readonly (string | null)[]
  /** Everything on stdout. */
  readonly text: string
}

/** An emulator, a folder with the component `orders` for it, and `check` to run on them. */
export interface CheckWorld {
  readonly emulator: EventGridEmulator
  readonly folder: ComponentFolder
  readonly port: number
  /** Writes `orders.yaml` with other fields. */
  write(fields: Readonly<Record<string, string | undefined>>): void
  /** Runs `check` with `--json` against the emulator. */
  check(...args: readonly string[]): Promise<Checked>
}

/** What a client needs so that all may be read: more than the role of the remedies gives. */
const roles = [
  { role: 'EventGrid EventSubscription Contributor' },
  { role: 'EventGrid Data Sender' },
  { role: 'Reader' },
] as const

const client = {
  tenantId: '7e57ed00-0000-4000-8000-000000000001',
  clientId: 'c11e0700-0000-4000-8000-000000000003',
  clientSecret: 'the-secret-of-the-shop',
}

/** Opens a world in which nothing is wrong; the test's end closes it. */
export async function openCheck(options: EventGridEmulatorOptions = {}): Promise<CheckWorld> {
  const emulator = await EventGridEmulator.start({ port: 0, httpPort: 0, clients: [{ ...client, roles }], ...options })
  onTestFinished(() => emulator.close())
  const port = await freePort()
  emulator.setIngress([{ from: 'https://orders.example.com/', to: `http://127.0.0.1:${port}/` }])
  const folder = makeComponentFolder()
  writeSecretStore(folder, emulator, ['orders'])
  const write: CheckWorld['write'] = (fields) =>
    folder.write('orders.yaml', componentYaml(emulator, { handshakePort: String(port), fields }))
  write({})
  return {
    ...{ emulator, folder, port, write },
    check: (...args) =>
      runCheck(['--components', folder.path, '--emulator', emulator.endpoints.resourceManager, '--json', ...args]),
  }
}

/** Runs the command in this process. */
export async function runCheck(args: readonly string[]): Promise<Checked> {
  const written: string[] = []
  const terminal = createTerminal({ write: (more) => written.push(more) })
  const code = await check.run(args, terminal)
  const text = written.join('')
  const report = args.includes('--json') ? reportSchema.parse(JSON.parse(text)) : { components: [] }
  const outcomes = report.components.flatMap(({ checks }) => checks)
  return {
    code,
    text,
    status: Object.fromEntries(outcomes.map(({ id, status }) => [id, status])),
    fieldOf: (id) => outcomes.find((one) => one.id === id && one.field !== undefined)?.field,
    idsThat: (status) => checkIds.filter((id) => outcomes.some((one) => one.id === id && one.status === status)),
    said: (id) =>
      outcomes
        .filter((one) => one.id === id)
        .map(({ detail, remedy = '' }) => `${detail}\n${remedy}`)
        .join('\n'),
    components: report.components.map(({ name }) => name),
  }
}

/** A binding that comes and goes, and leaves its event subscription. */
export async function subscribe(
  { emulator, port }: CheckWorld,
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  const { tenantId, subscriptionId, clientId, clientSecret } = emulator
  const binding = new Binding({ endpoints: emulator.endpoints })
  emulator.useIngress('https://other.example.com/', `http://127.0.0.1:${port}/`)
  await binding.init({
    name: 'orders',
    properties: {
      ...{ tenantId, subscriptionId, clientId, clientSecret, scope: emulator.topic('orders').id },
      ...{ subscriberEndpoint: 'https://orders.example.com/api/events', handshakePort: String(port), ...fields },
    },
  })
  await binding.close()
}
