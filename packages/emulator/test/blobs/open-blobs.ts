/** An emulator in front of a real Azurite, and a webhook that gets the events of the account's blobs. */
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import type { EventGridEmulator, EventGridEmulatorOptions, StorageView } from '../../src/index.ts'
import { shareAzurite } from '../delivery/azurite.ts'
import { type Subscriber, startSubscriber } from '../subscriber.ts'
import { azuriteAccount, azuriteKey } from '../support/azurite-process.ts'

export const accountId = `/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/${azuriteAccount}`

/** An event as a webhook gets it. */
export interface BlobEvent {
  readonly type: string
  readonly subject: string
  readonly source: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface Blobs {
  readonly emulator: EventGridEmulator
  readonly storage: StorageView
  /** With the account's key, through the emulator. */
  readonly service: BlobServiceClient
  /** The container `uploads`, through the emulator; it exists. */
  readonly uploads: ContainerClient
  /** The same at Azurite itself. */
  readonly direct: ContainerClient
  readonly subscriber: Subscriber
  /** What the webhook got since the last call, as CloudEvents, in the order of their sequencers. */
  events(): Promise<readonly BlobEvent[]>
}

const connectionStringOf = (blobEndpoint: string) =>
  `DefaultEndpointsProtocol=http;AccountName=${azuriteAccount};AccountKey=${azuriteKey};BlobEndpoint=${blobEndpoint};`

/** No client of these tests tries again: each request is seen once. */
export const clientOptions = { retryOptions: { maxTries: 1 } }

let shared = { connectionString: '', address: '' }

/** Has the tests of a file share an Azurite. Called once, at the top of the file. */
export function shareBlobs(): void {
  shared = shareAzurite()
}

/** All that blobs raise: without them an event subscription gets those of the default set. */
const includedEventTypes = [
  'BlobCreated',
  'BlobDeleted',
  'BlobTierChanged',
  'AsyncOperationInitiated',
  'DirectoryDeleted',
].map((type) => `Microsoft.Storage.${type}`)

/**
 * The container `uploads` is new.
 *
 * @param filter of the webhook's event subscription, beside its event types
 * @param accounts whose blobs raise events
 */
export async function openBlobs(
  options: EventGridEmulatorOptions = {},
  filter: object = {},
  accounts: readonly string[] = [azuriteAccount],
): Promise<Blobs> {
  const { connectionString, address } = shared
  const subscriber = await startSubscriber()
  const emulator = await startEmulator({
    storage: accounts.map((account) => ({ account, azurite: address })),
    ingress: [{ from: 'https://subscriber.example/', to: `${subscriber.url}/` }],
    eventSubscriptions: [
      {
        name: 'app',
        scope: accountId,
        endpoint: 'https://subscriber.example/',
        properties: {
          eventDeliverySchema: 'CloudEventSchemaV1_0',
          filter: { includedEventTypes, ...filter },
        },
      },
    ],
    ...options,
  })
  await emulator.idle()
  const [storage] = emulator.storage()
  if (!storage) throw new Error('the emulator has no storage account')
  const service = BlobServiceClient.fromConnectionString(connectionStringOf(storage.blobEndpoint), clientOptions)
  const uploads = service.getContainerClient('uploads')
  const direct = BlobServiceClient.fromConnectionString(connectionString, clientOptions).getContainerClient('uploads')
  await direct.deleteIfExists()
  await uploads.create()
  let seen = 0
  return {
    ...{ emulator, storage, service, uploads, direct, subscriber },
    async events() {
      await emulator.settled({ timeout: 60_000 })
      const all: BlobEvent[] = subscriber.deliveries().map(({ body }) => JSON.parse(body))
      const news = all.slice(seen)
      seen = all.length
      // Deliveries run side by side; the sequencer says what came first.
      return news.toSorted((one, other) => (sequencerOf(one) < sequencerOf(other) ? -1 : 1))
    },
  }
}

const sequencerOf = ({ data }: BlobEvent) => String(data.sequencer)
