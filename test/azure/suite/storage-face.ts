/** Storage accounts of Resource Manager, which the emulator does not have, with Azurite behind them. */
import { createHmac, randomUUID } from 'node:crypto'
import { isRecord } from '../../../src/support/text/json-text.ts'

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

/** The emulator's own answer: it does not have them. */
export const noStorage: StorageFace = { accounts: () => [], answer: async () => undefined }

const accountPath =
  /^(\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Storage\/storageAccounts\/([^/]+))(\/.*)?$/i
const operationPath = /\/providers\/Microsoft\.Storage\/locations\/[^/]+\/asyncoperations\//i

const partOf = (connection: string, name: string) => new RegExp(`${name}=([^;]+)`).exec(connection)?.[1] ?? ''

/** @param connections of Azurite's services, which all accounts share */
export function createStorageFace(connections: { readonly blob: string; readonly queue: string }): StorageFace {
  const accounts = new Map<string, Readonly<Record<string, unknown>>>()
  const polled = new Set<string>()
  const groupPath = /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+$/i
  const account = partOf(connections.blob, 'AccountName')
  const endpoints = {
    blob: `${partOf(connections.blob, 'BlobEndpoint').replace(/\/$/, '')}/`,
    queue: `${partOf(connections.queue, 'QueueEndpoint').replace(/\/$/, '')}/`,
  }

  /** The signature of an account (Azure Storage: create an account SAS). */
  function signature({ signedExpiry: se = '', signedPermission: sp = '' }: Readonly<Record<string, unknown>>): string {
    const fields = {
      sp: String(sp),
      ss: 'bq',
      srt: 'sco',
      st: '',
      se: String(se),
      sip: '',
      spr: 'https,http',
      sv: '2019-12-12',
    }
    const key = Buffer.from(partOf(connections.blob, 'AccountKey'), 'base64')
    const text = `${[account, ...Object.values(fields)].join('\n')}\n`
    const sig = createHmac('sha256', key).update(text).digest('base64')
    const given = Object.entries({ ...fields, sig }).filter(([, value]) => value !== '')
    return new URLSearchParams(given).toString()
  }

  /** Asks Azurite itself. */
  async function ask(method: string, service: keyof typeof endpoints, path: string, query = ''): Promise<number> {
    const signedExpiry = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '')
    const signed = signature({ signedExpiry, signedPermission: 'rwdlac' })
    const { status } = await fetch(`${endpoints[service]}${path}?${query}${signed}`, { method })
    return status
  }

  async function answerPart(part: string, { method, body }: FaceCall): Promise<FaceAnswer> {
    const container = /^\/blobServices\/default\/containers\/([^/]+)$/i.exec(part)?.[1]
    if (container !== undefined && method === 'PUT') {
      return { status: await ask('PUT', 'blob', container, 'restype=container&'), body: { name: container } }
    }
    const queue = /^\/queueServices\/default\/queues\/([^/]+)$/i.exec(part)?.[1]
    if (queue !== undefined && method === 'PUT') {
      return { status: await ask('PUT', 'queue', queue), body: { name: queue } }
    }
    if (queue !== undefined && method === 'DELETE') {
      return { status: await ask('DELETE', 'queue', queue) }
    }
    if (/^\/listAccountSas$/i.test(part))
      return { status: 200, body: { accountSasToken: signature(isRecord(body) ? body : {}) } }
    if (/\/roleAssignments\//i.test(part)) return { status: method === 'PUT' ? 201 : 200, body: { properties: {} } }
    return { status: 404, body: { error: { code: 'ResourceNotFound', message: part } } }
  }

  return {
    accounts: () =>
      [...accounts.values()].map(({ id, name, type, location, tags }) => ({ id, name, type, location, tags })),
    async answer(call) {
      const { method, path, body } = call
      // Resource Manager deletes a group with all that is in it.
      if (method === 'DELETE' && groupPath.test(path)) {
        for (const id of accounts.keys()) if (id.startsWith(`${path.toLowerCase()}/`)) accounts.delete(id)
        return undefined
      }
      // The first answer of an operation says that it still runs.
      if (operationPath.test(path)) {
        if (polled.has(path)) return { status: 200, body: {} }
        polled.add(path)
        return { status: 202, headers: { location: path } }
      }
      const [, id = '', name = '', part] = accountPath.exec(path) ?? []
      if (id === '') return undefined
      const made = accounts.get(id.toLowerCase())
      if (part === undefined && method === 'PUT' && isRecord(body)) {
        const properties = {
          provisioningState: 'Succeeded',
          primaryEndpoints: endpoints,
        }
        accounts.set(id.toLowerCase(), { ...body, id, name, type: 'Microsoft.Storage/storageAccounts', properties })
        const [, subscriptions, subscription] = id.split('/')
        const operation = `providers/Microsoft.Storage/locations/any/asyncoperations/${randomUUID()}`
        return { status: 202, headers: { location: `/${subscriptions}/${subscription}/${operation}` } }
      }
      if (!made)
        return { status: method === 'DELETE' ? 204 : 404, body: { error: { code: 'ResourceNotFound', message: name } } }
      if (part !== undefined) return answerPart(part, call)
      if (method === 'DELETE') accounts.delete(id.toLowerCase())
      return method === 'DELETE' ? { status: 200 } : { status: 200, body: made }
    },
  }
}
