/** Makes what the probes share: topics of both schemas, a domain, a storage account, a namespace. */
import { randomUUID } from 'node:crypto'
import { messageOf } from '../../../src/support/process/error-code.ts'
import { isRecord } from '../../../src/support/text/json-text.ts'
import { type Names, nameOf, type Place, tagName } from '../plan/names.ts'
import type { Need } from '../probes/probe.ts'
import type { Arm, Written } from '../wire/arm.ts'
import type { WireClock } from '../wire/wire-clock.ts'
import type { Made, MadeNamespace, MadeStorage, MadeTopic } from './made.ts'

export const container = 'dead-letters'
const blobContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'

export interface Making {
  readonly arm: Arm
  readonly place: Place
  readonly names: Names
  readonly clock: WireClock
  /** What the probes that were chosen need. */
  readonly needs: ReadonlySet<Need>
  /** Why needs beyond this room can't be met. */
  readonly unmet: ReadonlyMap<Need, string>
  readonly say: (line: string) => void
  /** A value that no record may show. */
  readonly learn: (secret: string) => void
  /** Called with the id of what is made beside the names of the run. */
  readonly owns: (id: string) => void
}

/** Something that could not be made. `unsupported`: by an emulator that says so. */
export class NotMadeError extends Error {
  readonly unsupported: boolean
  constructor(message: string, { unsupported = false } = {}) {
    super(message)
    this.unsupported = unsupported
  }
}

/** What could not be made beside the topics, which no run can do without. */
export type MakingFailure = { readonly what: string; readonly why: string; readonly unsupported: boolean }

/** Makes it all at once. Rejects where a topic can't be made. */
export async function makeAll(making: Making): Promise<{ made: Made; failures: readonly MakingFailure[] }> {
  const { names, place, needs, unmet } = making
  const failures: MakingFailure[] = []
  const missing = new Map<Need, string>(unmet)
  const wants = (...some: readonly Need[]) => some.some((need) => needs.has(need) && !unmet.has(need))
  const optional = async <T>(need: Need, what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      const unsupported = error instanceof NotMadeError && error.unsupported
      failures.push({ what, why: messageOf(error), unsupported })
      missing.set(need, `${what} could not be made: ${messageOf(error)}`)
      return undefined
    }
  }
  const started = {
    cloud: makeTopic(making, names.cloudTopic, { inputSchema: 'CloudEventSchemaV1_0' }),
    grid: makeTopic(making, names.gridTopic, { inputSchema: 'EventGridSchema' }),
    domain: makeTopic(making, names.domain, { inputSchema: 'CloudEventSchemaV1_0' }),
    storage: wants('storage', 'namespace dead letters')
      ? optional('storage', 'the storage account', () => makeStorage(making))
      : undefined,
    namespace: wants('namespace', 'namespace dead letters')
      ? optional('namespace', 'the namespace', () => makeNamespace(making))
      : undefined,
  }
  // All are awaited before the first failure is thrown: what is under way must not outlive the run.
  await Promise.allSettled(Object.values(started))
  const [cloud, grid, domain] = [await started.cloud, await started.grid, await started.domain]
  const [storage, namespace] = [await started.storage, await started.namespace]
  if (wants('namespace dead letters')) {
    const why = missing.get('storage') ?? missing.get('namespace')
    if (why !== undefined) missing.set('namespace dead letters', why)
    else await optional('namespace dead letters', 'the role of the namespace', () => giveRole(making))
  }
  return { made: { place, names, missing, cloud, grid, domain, storage, namespace }, failures }
}

/** Makes the run's own resource group, with its mark. */
export async function makeGroup(
  arm: Arm,
  {
    group,
    location,
    begun,
    say,
  }: { readonly group: string; readonly location: string; readonly begun: string } & Pick<Making, 'say'>,
): Promise<void> {
  requireMade(group, await arm.write('PUT', group, { body: { location, tags: { [tagName]: begun } } }))
  say(`  made ${nameOf(group)}`)
}

const tagsOf = ({ suffix }: Place) => ({ [tagName]: suffix })

/** Throws where a write did not succeed. */
function requireMade(id: string, { end, error, first }: Written): void {
  if (end.toLowerCase() === 'succeeded') return
  const unsupported = error?.code === 'NotSupportedByEmulator'
  const why = error ? `${error.code}: ${error.message.slice(0, 300)}` : `it ended as ${end}`
  throw new NotMadeError(`${nameOf(id)}: ${first.status}, ${why}`, { unsupported })
}

async function makeTopic({ arm, place, say, learn }: Making, id: string, properties: object): Promise<MadeTopic> {
  const body = { location: place.location, tags: tagsOf(place), properties }
  requireMade(id, await arm.write('PUT', id, { body }))
  const endpoint = propertyOf((await arm.send('GET', id)).body, 'endpoint')
  const keys = (await arm.send('POST', `${id}/listKeys`)).body
  const key = memberOf(keys, 'key1')
  for (const one of [key, memberOf(keys, 'key2')]) learn(one)
  say(`  made ${nameOf(id)}`)
  return { id, name: nameOf(id), endpoint, key }
}

async function makeStorage({ arm, place, names, clock, say, learn }: Making): Promise<MadeStorage> {
  const id = names.storage
  const body = {
    ...{ location: place.location, tags: tagsOf(place), kind: 'StorageV2', sku: { name: 'Standard_LRS' } },
    properties: { minimumTlsVersion: 'TLS1_2', allowBlobPublicAccess: false },
  }
  requireMade(id, await arm.write('PUT', id, { body }))
  const { body: account } = await arm.send('GET', id)
  const endpoints = isRecord(account) && isRecord(account.properties) ? account.properties.primaryEndpoints : undefined
  const made = await arm.write('PUT', `${id}/blobServices/default/containers/${container}`, {
    body: { properties: {} },
  })
  requireMade(`${id}/${container}`, made)
  const signed = await arm.send('POST', `${id}/listAccountSas`, {
    body: {
      ...{
        signedServices: 'bq',
        signedResourceTypes: 'sco',
        signedPermission: 'rwdlacup',
        signedProtocol: 'https,http',
      },
      signedExpiry: new Date(clock.now() + 6 * 3_600_000).toISOString().replace(/\.\d+/, ''),
      keyToSign: 'key1',
    },
  })
  const signature = memberOf(signed.body, 'accountSasToken')
  learn(signature)
  const sig = new URLSearchParams(signature).get('sig')
  if (sig !== null) learn(sig)
  say(`  made ${nameOf(id)}`)
  return { id, signature, blobs: memberOf(endpoints, 'blob'), queues: memberOf(endpoints, 'queue') }
}

async function makeNamespace({ arm, place, names, say, learn }: Making): Promise<MadeNamespace> {
  const id = names.namespace
  const topicId = `${id}/topics/orders`
  const body = {
    ...{ location: place.location, tags: tagsOf(place), sku: { name: 'Standard', capacity: 1 } },
    identity: { type: 'SystemAssigned' },
    properties: {},
  }
  requireMade(id, await arm.write('PUT', id, { body }))
  const properties = { publisherType: 'Custom', inputSchema: 'CloudEventSchemaV1_0', eventRetentionInDays: 1 }
  requireMade(topicId, await arm.write('PUT', topicId, { body: { properties } }))
  const queue = { deliveryConfiguration: { deliveryMode: 'Queue', queue: { receiveLockDurationInSeconds: 60 } } }
  const queueId = `${topicId}/eventSubscriptions/app`
  requireMade(queueId, await arm.write('PUT', queueId, { body: { properties: queue } }))
  const { body: shown } = await arm.send('GET', id)
  const configuration = isRecord(shown) && isRecord(shown.properties) ? shown.properties.topicsConfiguration : undefined
  const keys = (await arm.send('POST', `${id}/listKeys`)).body
  const key = memberOf(keys, 'key1')
  for (const one of [key, memberOf(keys, 'key2')]) learn(one)
  say(`  made ${nameOf(id)}`)
  return { id, topicId, topic: 'orders', queue: 'app', key, endpoint: `https://${memberOf(configuration, 'hostname')}` }
}

/** Lets the namespace write dead letters. */
async function giveRole({ arm, names, owns }: Making): Promise<void> {
  const { body } = await arm.send('GET', names.namespace)
  const identity = isRecord(body) ? body.identity : undefined
  const role = `${names.storage}/providers/Microsoft.Authorization/roleAssignments/${randomUUID()}`
  owns(role)
  const roleDefinitionId = `/subscriptions/${names.group.split('/')[2]}/providers/Microsoft.Authorization/roleDefinitions/${blobContributor}`
  const properties = {
    roleDefinitionId,
    principalId: memberOf(identity, 'principalId'),
    principalType: 'ServicePrincipal',
  }
  requireMade(role, await arm.write('PUT', role, { body: { properties } }))
}

const propertyOf = (body: unknown, name: string) => memberOf(isRecord(body) ? body.properties : undefined, name)

/** A text of an answer, without which nothing goes on. */
function memberOf(value: unknown, name: string): string {
  const found = isRecord(value) ? value[name] : undefined
  if (typeof found === 'string' && found !== '') return found
  throw new NotMadeError(`an answer has no ${name}`)
}
