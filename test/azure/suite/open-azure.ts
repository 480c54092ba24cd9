/** All that a run needs in place of Azure: the emulator, Azurite, and the front before both. The test's end closes it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import {
  type Clock,
  createBlobDeadLetterStore,
  createStorageQueues,
  type DeadLetterStore,
  type EventGridEmulator,
  type EventGridEmulatorOptions,
  type StorageQueues,
} from '../../../packages/emulator/src/index.ts'
import { spawnAzurite } from '../../../packages/emulator/test/support/azurite-process.ts'
import { startAcceleratedClock } from '../../support/accelerated-clock.ts'
import { sendArm } from '../../support/azure-clients.ts'
import { freePort } from '../../support/free-port.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { readOptions } from '../plan/options.ts'
import { runAzure } from '../run.ts'
import { targetOf } from '../wire/target.ts'
import { type Front, type Lie, openFront } from './front.ts'
import { createStorageFace, noStorage } from './storage-face.ts'

export const publicUrl = 'https://probes.example.com'

export interface AzureOptions {
  /** How much faster than the machine's clock. @default 8: five minutes are 38 seconds, and the half minute of a handshake is 4 */
  readonly speed?: number
  /** False: there are no storage accounts, and no Azurite has to start. @default true */
  readonly storage?: boolean
  /** Changes answers of the front. */
  readonly lie?: Lie
  /** Changes what the emulator is asked for. */
  readonly rename?: (url: string) => string
  /** Changes what is written to storage. */
  readonly wrap?: {
    readonly deadLetters?: (store: DeadLetterStore) => DeadLetterStore
    readonly queues?: (queues: StorageQueues) => StorageQueues
    /** The port to which deliveries go first, for the one at which the run listens. */
    readonly push?: (port: number) => Promise<number>
  }
  readonly emulator?: EventGridEmulatorOptions
}

export interface OpenedAzure {
  readonly emulator: EventGridEmulator
  readonly front: Front
  readonly clock: Clock
  /** A folder of the test. */
  readonly folder: string
  /** Arguments that lead a run there. */
  readonly args: readonly string[]
  /** Arguments for what is pushed. */
  readonly pushArgs: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Names of all resources, and of the resource groups but the one of the start. */
  readonly contents: () => Promise<readonly string[]>
}

/** Starts a service of Azurite; the test's end stops it. Its connection string. */
async function startAzurite(service: 'blob' | 'queue'): Promise<string> {
  const { connectionString, stop } = await spawnAzurite(service)
  onTestFinished(stop)
  return connectionString
}

export async function openAzure({
  speed = 8,
  storage: withStorage = true,
  lie,
  rename,
  wrap = {},
  emulator: more = {},
}: AzureOptions = {}): Promise<OpenedAzure> {
  const port = await freePort()
  const [blob, queue] = withStorage ? await Promise.all([startAzurite('blob'), startAzurite('queue')]) : []
  const clock = startAcceleratedClock(speed)
  const { deadLetters = (store) => store, queues = (one) => one, push = async (one) => one } = wrap
  const emulator = await startEmulator({
    clock,
    // As Azure: an operation takes a while, and a change meanwhile is refused.
    ...{ operationDelayMs: 3_000, conflicts: true, topics: [] },
    clients: [{ roles: [{ role: 'Owner' }, { role: 'EventGrid Data Contributor' }] }],
    ...(blob && { deadLetterStore: deadLetters(createBlobDeadLetterStore(blob)) }),
    ...(queue && { storageQueues: queues(createStorageQueues(queue)) }),
    ingress: [{ from: `${publicUrl}/`, to: `http://127.0.0.1:${await push(port)}/` }],
    ...more,
  })
  const storage = blob && queue ? createStorageFace({ blob, queue }) : noStorage
  const front = await openFront(emulator, storage, { ...(lie && { lie }), ...(rename && { rename }) })
  const folder = temporaryFolder()
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, front.ca)
  const env = {
    AZURE_SUBSCRIPTION_ID: emulator.subscriptionId,
    AZURE_TENANT_ID: emulator.tenantId,
    AZURE_CLIENT_ID: emulator.clientId,
    AZURE_CLIENT_SECRET: emulator.clientSecret,
  }
  // The DefaultAzureCredential reads its own process's environment.
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const named = (entries: readonly object[]) => entries.map((one) => ('name' in one ? String(one.name) : ''))
  return {
    ...{ emulator, front, clock, folder, env },
    args: [...['--yes', '--emulator', front.url, '--ca', caFile], ...['--report', join(folder, 'azure-report.json')]],
    pushArgs: ['--public-url', publicUrl, '--port', String(port)],
    contents: async () => [
      ...named([...emulator.topics(), ...emulator.domains(), ...emulator.systemTopics()]),
      ...emulator.namespaceTopics().map(({ id }) => id),
      ...named(storage.accounts()),
      ...(await groupsOf(emulator)).filter((name) => name !== 'rg'),
    ],
  }
}

/** The names of the resource groups. */
async function groupsOf(emulator: EventGridEmulator): Promise<readonly string[]> {
  const { body } = await sendArm(emulator, `/subscriptions/${emulator.subscriptionId}/resourceGroups`)
  return Object(body).value.map(({ name }: { readonly name: string }) => name)
}

/** A run in this process, by the clock of the emulator. */
export async function run({ args, clock, env }: OpenedAzure, ...more: readonly string[]) {
  const options = readOptions([...args, ...more], env)
  const lines: string[] = []
  const end = await runAzure(options, {
    target: await targetOf(options.emulator, env),
    clock,
    signal: new AbortController().signal,
    say: (line) => void lines.push(line),
    confirm: async () => true,
    env,
  })
  return { ...end, lines }
}
