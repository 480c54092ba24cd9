/** Storage accounts of Resource Manager, which the emulator does not have, with Azurite behind them. */
import { randomUUID } from 'node:crypto'
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  BlobServiceClient,
  generateAccountSASQueryParameters,
  SASProtocol,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { QueueServiceClient } from '@azure/storage-queue'
import { isRecord } from '../../../src/support/text/is-record.ts'

export interface FaceAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface FaceCall {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly body: unknown
}

/** The accounts that were made, as a list of resources shows them. */
export interface StorageFace {
  readonly accounts: () => readonly object[]
  /** `undefined` for what is not about storage. */
  answer(call: FaceCall): Promise<FaceAnswer | undefined>
}

const accountPath =
  /^(\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Storage\/storageAccounts\/([^/]+))(\/.*)?$/i
const operationPath = /\/providers\/Microsoft\.Storage\/locations\/[^/]+\/asyncoperations\//i

const partOf = (connection: string, name: string) => new RegExp(`${name}=([^;]+)`).exec(connection)?.[1] ?? ''

/** @param connections of Azurite's services, which all accounts share */
export function createStorageFace(connections: { readonly blob: string; readonly queue: string }): StorageFace {
  const accounts = new Map<string, Readonly<Record<string, unknown>>>()
  const polled = new Set<string>()
  const blobs = BlobServiceClient.fromConnectionString(connections.blob)
  const queues = QueueServiceClient.fromConnectionString(connections.queue)
  const credential = new StorageSharedKeyCredential(
    partOf(connections.blob, 'AccountName'),
    partOf(connections.blob, 'AccountKey'),
  )

  function signature(body: unknown): string {
    const { signedExpiry, signedPermission } = isRecord(body) ? body : {}
    return generateAccountSASQueryParameters(
      {
        expiresOn: new Date(String(signedExpiry)),
        permissions: AccountSASPermissions.parse(String(signedPermission)),
        resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
        services: 'bq',
        protocol: SASProtocol.HttpsAndHttp,
      },
      credential,
    ).toString()
  }

  async function answerPart(part: string, { method, body }: FaceCall): Promise<FaceAnswer> {
    const container = /^\/blobServices\/default\/containers\/([^/]+)$/i.exec(part)?.[1]
    if (container !== undefined && method === 'PUT') {
      await blobs.getContainerClient(container).createIfNotExists()
      return { status: 201, body: { name: container } }
    }
    const queue = /^\/queueServices\/default\/queues\/([^/]+)$/i.exec(part)?.[1]
    if (queue !== undefined && method === 'PUT') {
      await queues.getQueueClient(queue).createIfNotExists()
      return { status: 200, body: { name: queue } }
    }
    if (queue !== undefined && method === 'DELETE') {
      await queues.getQueueClient(queue).deleteIfExists()
      return { status: 204 }
    }
    if (/^\/listAccountSas$/i.test(part)) return { status: 200, body: { accountSasToken: signature(body) } }
    if (/\/roleAssignments\//i.test(part)) return { status: method === 'PUT' ? 201 : 200, body: { properties: {} } }
    return { status: 404, body: { error: { code: 'ResourceNotFound', message: part } } }
  }

  return {
    accounts: () =>
      [...accounts.values()].map(({ id, name, type, location, tags }) => ({ id, name, type, location, tags })),
    async answer(call) {
      const { method, path, body } = call
      // The first answer of an operation says that it still runs.
      if (operationPath.test(path)) {
        if (polled.has(path)) return { status: 200, body: {} }
        polled.add(path)
        return { status: 202, headers: { location: path } }
      }
      const [, id = '', name = '', part] = accountPath.exec(path) ?? []
      if (id === '') return undefined
      const account = accounts.get(id.toLowerCase())
      if (part === undefined && method === 'PUT' && isRecord(body)) {
        const properties = {
          provisioningState: 'Succeeded',
          primaryEndpoints: {
            blob: `${partOf(connections.blob, 'BlobEndpoint').replace(/\/$/, '')}/`,
            queue: `${partOf(connections.queue, 'QueueEndpoint').replace(/\/$/, '')}/`,
          },
        }
        accounts.set(id.toLowerCase(), { ...body, id, name, type: 'Microsoft.Storage/storageAccounts', properties })
        const [, subscriptions, subscription] = id.split('/')
        const operation = `providers/Microsoft.Storage/locations/any/asyncoperations/${randomUUID()}`
        return { status: 202, headers: { location: `/${subscriptions}/${subscription}/${operation}` } }
      }
      if (!account)
        return { status: method === 'DELETE' ? 204 : 404, body: { error: { code: 'ResourceNotFound', message: name } } }
      if (part !== undefined) return answerPart(part, call)
      if (method === 'DELETE') accounts.delete(id.toLowerCase())
      return method === 'DELETE' ? { status: 200 } : { status: 200, body: account }
    },
  }
}
