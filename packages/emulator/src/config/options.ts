// Options of `EventGridEmulator.start`: those of the configuration file and those that are code; defaults of ids, roles and `orders`.

import { randomBytes } from 'node:crypto'
import { plainAddress } from '../../../../src/support/net/loopback.ts'
import { checkNames } from '../../../../src/support/process/option-checks.ts'
import type { DeadLetterStore } from '../dead-letters/write-dead-letters.ts'
import type { ProbationOptions } from '../delivery/queue/probation.ts'
import { type Ingress, type IngressRule, ingressOf } from '../delivery/send/ingress.ts'
import type { StorageQueues } from '../delivery/send/storage-queues.ts'
import { partOfHeap } from '../model/held-bytes.ts'
import type { Client, DeclaredSubscription, RoleGrant } from '../model/resources/client.ts'
import { resourceGroupId, resourceId, sameName } from '../model/resources/resource-ids.ts'
import { stableGuid } from '../model/stable-guid.ts'
import { type Clock, realClock } from '../model/time/clock.ts'
import { defaultRecordBytes } from '../records/records.ts'
import { type PersistedValues, persistedOr, valuesInMemory } from '../state/persisted-values.ts'
import {
  type AzureSubscriptionOptions,
  type ClientOptions,
  type ConfigOptions,
  type NamespaceOptions,
  namesAt,
  type StorageOptions,
} from './config-schema.ts'
import { deliverTo } from './deliver.ts'

/** The options that are code, or that a file has in another form. */
export interface CodeOptions {
  /** The real addresses of public URLs: rules, tried in order, or a function that is called for each request. @default none */
  readonly ingress?: readonly IngressRule[] | Ingress
  /** PEM certificates (their text) to trust at subscribers' https endpoints beside Node's own. @default none */
  readonly trustedCertificates?: readonly string[]
  /** @default the machine's */
  readonly clock?: Clock
  /** From 0 to just under 1, for jitter. @default `Math.random` */
  readonly random?: () => number
  /** Where dead-lettered events are written, in addition to the emulator's records. @default nowhere */
  readonly deadLetterStore?: DeadLetterStore
  /** Where events for storage queues are sent. @default nowhere: event subscriptions of storage queues get a warning */
  readonly storageQueues?: StorageQueues
  /** Delayed delivery to endpoints that keep failing; `false` turns it off. @default on, unless `retrySchedule` is given */
  readonly probation?: ProbationOptions | false
}

type FileOnly = 'deadLetterConnectionString' | 'deadLetterCreatesContainer' | 'storageQueueConnectionString'

/**
 * The options of an emulator. Each has a default: `EventGridEmulator.start()` alone gives a working emulator. The fields of the
 * configuration file have the same names, meanings and units here, but for the ports, which are free ones.
 */
export type EventGridEmulatorOptions = Omit<ConfigOptions, FileOnly | keyof CodeOptions> & CodeOptions

/** The ids that are used where none are given; the same at every start. */
export const emulatorDefaults = {
  tenantId: '11111111-1111-4111-8111-111111111111',
  clientId: '22222222-2222-4222-8222-222222222222',
  subscriptionId: '33333333-3333-4333-8333-333333333333',
  resourceGroup: 'rg',
  topic: 'orders',
  location: 'westeurope',
  tokenLifetimeSeconds: 3599,
} as const

/** The compiler finds a missing one. */
const codeNames: Readonly<Record<keyof CodeOptions, true>> = {
  ingress: true,
  trustedCertificates: true,
  clock: true,
  random: true,
  deadLetterStore: true,
  storageQueues: true,
  probation: true,
}
const fileOnly: Readonly<Record<FileOnly, true>> = {
  deadLetterConnectionString: true,
  deadLetterCreatesContainer: true,
  storageQueueConnectionString: true,
}

/** {@link EventGridEmulatorOptions} with every default filled in. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>

/**
 * Fills in the defaults. Throws a TypeError for an unknown option.
 * @param persisted the store of generated secrets. @default memory
 */
export function resolveOptions(given: EventGridEmulatorOptions, persisted: PersistedValues = valuesInMemory()) {
  checkOptionNames(given)
  const options = deliverTo(given)
  const tenantId = options.tenantId ?? emulatorDefaults.tenantId
  const [first = {}, ...more] = options.clients ?? []
  const subscriptions = (options.subscriptions ?? [{}]).map((subscription: AzureSubscriptionOptions) => ({
    id: subscription.id ?? options.subscriptionId ?? emulatorDefaults.subscriptionId,
    tenantId: subscription.tenantId ?? first.tenantId ?? tenantId,
    registered: subscription.registered ?? true,
    resourceGroups: subscription.resourceGroups ?? [options.resourceGroup ?? emulatorDefaults.resourceGroup],
  }))
  const storage = (options.storage ?? []).map((one) => resolveStorage(one, subscriptions))
  const namespaces = options.namespaces ?? []
  const roles = defaultRoles(namespaces, subscriptions)
  const clients = [first, ...more].map((client) => resolveClient({ roles, ...client }, tenantId, persisted))
  return {
    port: options.port ?? 0,
    httpPort: options.httpPort ?? 0,
    topicPorts: options.topicPorts ?? {},
    host: plainAddress(options.host ?? '127.0.0.1'),
    clients,
    subscriptions: withGroups(subscriptions, storage),
    topics: options.topics ?? [{ name: emulatorDefaults.topic }],
    domains: options.domains ?? [],
    systemTopics: options.systemTopics ?? [],
    namespaces,
    storage,
    storageAccounts: options.storageAccounts && [...options.storageAccounts, ...storage.map(({ account }) => account)],
    eventSubscriptions: options.eventSubscriptions ?? [],
    ingress: ingressOf(options.ingress ?? []),
    trustedCertificates: options.trustedCertificates ?? [],
    clock: options.clock ?? realClock,
    random: options.random ?? Math.random,
    operationDelayMs: options.operationDelayMs ?? 0,
    operationRetryAfter: options.operationRetryAfter,
    conflicts: options.conflicts ?? false,
    retries: { failed: options.retryHandshakes ?? false, waiting: options.retryHandshakes ?? false },
    // `deliver` is for who writes a webhook at this moment.
    declaredRetries: {
      failed: options.retryHandshakes ?? true,
      waiting: options.retryHandshakes ?? Object.keys(options.deliver ?? {}).length > 0,
    },
    throttling: options.throttling ?? false,
    deliveryTokenVersion: options.deliveryTokenVersion ?? '1.0',
    delivery: options,
    pageEvents: options.pageEvents ?? 300,
    maxRecordBytes: options.maxRecordBytes ?? Math.min(defaultRecordBytes, partOfHeap(0.125)),
    tokenLifetimeSeconds: options.tokenLifetimeSeconds ?? emulatorDefaults.tokenLifetimeSeconds,
  }
}

function resolveClient(
  client: ClientOptions & Required<Pick<ClientOptions, 'roles'>>,
  defaultTenant: string,
  persisted: PersistedValues,
): Client {
  const clientId = client.clientId ?? emulatorDefaults.clientId
  const tenantId = client.tenantId ?? defaultTenant
  const { clientSecret: given = [] } = client
  const [first, ...otherSecrets] = typeof given === 'string' ? [given] : given
  return {
    tenantId,
    clientId,
    clientSecret: first ?? persistedOr(persisted, 'client secret', `${tenantId} ${clientId}`, randomSecret),
    otherSecrets,
    objectId: client.objectId ?? stableGuid(`service principal ${clientId}`),
    roles: client.roles.map(({ role, scope }) => ({ role, scope: scope ?? '/' })),
  }
}

/** Throws a RangeError for an unknown Azure subscription, and a TypeError for a URL that is not one of http. */
function resolveStorage(
  { account, azurite, port = 0, subscriptionId: wanted, resourceGroup: group }: StorageOptions,
  subscriptions: readonly DeclaredSubscription[],
) {
  const azure = wanted === undefined ? subscriptions[0] : subscriptions.find(({ id }) => sameName(id, wanted))
  if (!azure) throw new RangeError(`there is no Azure subscription ${wanted}`)
  const url = URL.parse(azurite)
  if (url?.protocol !== 'http:') throw new TypeError(`storage: azurite must be an http URL, not ${azurite}`)
  const resourceGroup = group ?? azure.resourceGroups[0] ?? emulatorDefaults.resourceGroup
  const id = `${resourceGroupId(azure.id, resourceGroup)}/providers/Microsoft.Storage/storageAccounts/${account}`
  return { account, azurite: url.origin, port, id, subscriptionId: azure.id, resourceGroup }
}

/** The Azure subscriptions, with the resource groups of storage accounts. */
function withGroups(
  subscriptions: readonly DeclaredSubscription[],
  storage: readonly ReturnType<typeof resolveStorage>[],
): readonly DeclaredSubscription[] {
  return subscriptions.map((azure) => {
    const groups = storage.filter(({ subscriptionId }) => subscriptionId === azure.id).map((one) => one.resourceGroup)
    const more = groups.filter((group) => !azure.resourceGroups.some((known) => sameName(known, group)))
    return { ...azure, resourceGroups: [...azure.resourceGroups, ...new Set(more)] }
  })
}

/** In Azure, too, only `EventGrid Contributor` may write the event subscriptions of a namespace topic. */
function defaultRoles(
  namespaces: readonly NamespaceOptions[],
  subscriptions: readonly DeclaredSubscription[],
): readonly RoleGrant[] {
  const idOf = ({ name, subscriptionId = subscriptions[0]?.id ?? '', resourceGroup }: NamespaceOptions) => {
    const azure = subscriptions.find(({ id }) => sameName(id, subscriptionId))
    const group = resourceGroup ?? azure?.resourceGroups[0] ?? emulatorDefaults.resourceGroup
    return resourceId('namespaces', { subscriptionId, resourceGroup: group, name })
  }
  return [
    { role: 'EventGrid EventSubscription Contributor' },
    { role: 'EventGrid Data Sender' },
    { role: 'EventGrid Data Receiver' },
    ...namespaces.map((namespace) => ({ role: 'EventGrid Contributor', scope: idOf(namespace) })),
  ]
}

/** A secret of the form that Entra makes. */
function randomSecret(): string {
  return `${randomBytes(3).toString('hex').slice(0, 3)}8Q~${randomBytes(26).toString('base64url').slice(0, 34)}`
}

/** Throws a TypeError for an unknown option, also in an entry of a list: without types a typo would have no effect. */
function checkOptionNames(options: unknown): void {
  const known = new Set([...namesAt([]), ...Object.keys(codeNames)])
  for (const name of Object.keys(fileOnly)) known.delete(name)
  for (const [name, value] of checkNames('the options', options, [...known])) checkList(name, value, [name])
}

/** The same for one topic. */
export function checkTopicNames(options: unknown): void {
  checkNames('the topic', options, namesAt(['topics', 0]))
}

/** Checks a list of mappings, and the lists in them. Other values have no names to check. */
function checkList(what: string, value: unknown, path: readonly PropertyKey[]): void {
  const names = namesAt([...path, 0])
  if (names.length === 0 || value === undefined || typeof value === 'function') return
  if (!Array.isArray(value)) throw new TypeError(`${what} must be a list`)
  for (const [index, entry] of value.entries()) {
    const where = `${what}[${index}]`
    for (const [name, inner] of checkNames(where, entry, names)) {
      checkList(`${where}.${name}`, inner, [...path, 0, name])
    }
  }
}
