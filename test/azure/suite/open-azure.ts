/** All that a run needs in place of Azure: the emulator, Azurite, and the front before both. The test's end closes it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import {
  type Clock,
  createBlobDeadLetterStore,
  createStorageQueues,
  type EventGridEmulator,
  type EventGridEmulatorOptions,
} from '../../../src/emulator/index.ts'
import { startAzurite } from '../../emulator/delivery/azurite.ts'
import { startAcceleratedClock } from '../../support/accelerated-clock.ts'
import { freePort } from '../../support/free-port.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Front, type Lie, openFront } from './front.ts'
import { createStorageFace } from './storage-face.ts'

/** How much faster than the machine's clock: five minutes are fifteen seconds. */
const speed = 20

export const publicUrl = 'https://probes.example.com'

export interface OpenedAzure {
  readonly emulator: EventGridEmulator
  readonly front: Front
  readonly clock: Clock
  /** A folder of the test. */
  readonly folder: string
  readonly caFile: string
  /** Where the tunnel of `publicUrl` leads. */
  readonly port: number
  readonly env: Readonly<Record<string, string>>
  /** Names of what is in the group. */
  readonly contents: () => readonly string[]
}

export async function openAzure({
  lie,
  options = {},
}: {
  readonly lie?: Lie
  readonly options?: EventGridEmulatorOptions
} = {}): Promise<OpenedAzure> {
  const [blob, queue, port] = await Promise.all([startAzurite('blob'), startAzurite('queue'), freePort()])
  const clock = startAcceleratedClock(speed)
  const emulator = await startEmulator({
    clock,
    // As Azure: an operation takes a while, and a change meanwhile is refused.
    ...{ operationDelayMs: 1_000, conflicts: true, topics: [] },
    clients: [{ roles: [{ role: 'Owner' }, { role: 'EventGrid Data Contributor' }] }],
    deadLetterStore: createBlobDeadLetterStore(blob),
    storageQueues: createStorageQueues(queue),
    ingress: [{ from: `${publicUrl}/`, to: `http://127.0.0.1:${port}/` }],
    ...options,
  })
  const storage = createStorageFace({ blob, queue })
  const front = await openFront(emulator, storage, lie)
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
    ...{ emulator, front, clock, folder, caFile, port, env },
    contents: () => [
      ...named([...emulator.topics(), ...emulator.domains(), ...emulator.systemTopics()]),
      ...emulator.namespaceTopics().map(({ id }) => id),
      ...named(storage.accounts()),
    ],
  }
}
