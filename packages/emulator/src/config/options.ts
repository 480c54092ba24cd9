/** What the options of `EventGridEmulator.start` come to: each default is filled in, and `deliver` is spelled out. */
import { randomBytes } from 'node:crypto'
import { plainAddress } from '../../../../src/support/net/hosts.ts'
import { isRecord } from '../../../../src/support/text/json-text.ts'
import type { DeadLetterStore } from '../dead-letters/write-dead-letters.ts'
import type { ProbationOptions } from '../delivery/queue/retry-schedule.ts'
import { type Ingress, type IngressRule, ingressOf, isIngressUrl } from '../delivery/send/ingress.ts'
import { requireBrokerPackages } from '../delivery/send/message-brokers.ts'
import type { StorageQueues } from '../delivery/send/storage-queues.ts'
import { partOfHeap } from '../model/held-bytes.ts'
import {
  type Client,
  type DeclaredSubscription,
  type RoleGrant,
  resourceGroupId,
  resourceId,
  sameName,
  stableGuid,
} from '../model/resources/resource.ts'
import { errorOfFaults, withoutUndefined } from '../model/schemas.ts'
import { type Clock, ManualClock, realClock } from '../model/time/clock.ts'
import { defaultRecordBytes } from '../records/records.ts'
import { type PersistedValues, persistedOr, valuesInMemory } from '../state/persisted-values.ts'
import { checkConfig } from './config-faults.ts'
import type { ConfigOptions } from './config-schema.ts'
import {
  type AzureSubscriptionOptions,
  type ClientOptions,
  type EventSubscriptionOptions,
  emulatorDefaults,
  type NamespaceOptions,
  type StorageOptions,
  type TopicOptions,
} from './resource-fields.ts'

/** The options that are code, or that a file has in another form. */
export interface CodeOptions {
  /** The real addresses of public URLs: rules, tried in order, or a function that is called for each request. @default none */
  readonly ingress?: readonly IngressRule[] | Ingress
  /** PEM certificates (their text) to trust at subscribers' https endpoints beside Node's own. @default none */
  readonly trustedCertificates?: readonly string[]
  /** @default the machine's */
  readonly clock?: Clock
  /** From 0 to just under 1, for the jitter of pauses. @default `Math.random`; 0, which is no jitter, with a `ManualClock` */
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
/** What code has in place of fields of the file. */
const fileOnly: Readonly<Record<string, string>> = {
  deadLetterConnectionString: 'deadLetterStore',
  deadLetterCreatesContainer: 'deadLetterStore',
  storageQueueConnectionString: 'storageQueues',
} satisfies Record<FileOnly, string>

/** {@link EventGridEmulatorOptions} with every default filled in. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>

/**
 * Fills in the defaults. Throws a TypeError that names all that is wrong with the options, and an Error for a missing package.
 * @param persisted the store of generated secrets. @default memory
 */
export function resolveOptions(given: EventGridEmulatorOptions, persisted: PersistedValues = valuesInMemory()) {
  const options = deliverTo(checked(given))
  requireBrokerPackages(options)
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
    blobPort: options.blobPort ?? 0,
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
    random: options.random ?? (options.clock instanceof ManualClock ? () => 0 : Math.random),
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

function resolveStorage(
  { account, azurite, subscriptionId: wanted, resourceGroup: group }: StorageOptions,
  subscriptions: readonly DeclaredSubscription[],
) {
  const azure = wanted === undefined ? subscriptions[0] : subscriptions.find(({ id }) => sameName(id, wanted))
  if (!azure) throw new RangeError(`there is no Azure subscription ${wanted}`)
  const resourceGroup = group ?? azure.resourceGroups[0] ?? emulatorDefaults.resourceGroup
  const id = `${resourceGroupId(azure.id, resourceGroup)}/providers/Microsoft.Storage/storageAccounts/${account}`
  return { account, azurite: new URL(azurite).origin, id, subscriptionId: azure.id, resourceGroup }
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

/**
 * The options with their fields checked as those of a file are. Throws a TypeError that names all that is wrong, without a value, which may
 * be a secret.
 */
function checked(given: unknown): EventGridEmulatorOptions {
  if (!isRecord(given)) throw new TypeError('the options must be an object')
  const isCode = (name: string, value: unknown) =>
    Object.hasOwn(codeNames, name) && !(name === 'ingress' && Array.isArray(value))
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  const code: CodeOptions = Object.fromEntries(entries.filter(([name, value]) => isCode(name, value)))
  const data = Object.fromEntries(entries.filter(([name, value]) => !isCode(name, value)))
  const [stray] = Object.keys(fileOnly).filter((name) => Object.hasOwn(data, name))
  if (stray !== undefined) throw new TypeError(`${stray} is a field of the file; in code there is ${fileOnly[stray]}`)
  const config = checkConfig(withoutUndefined(data), (code.clock ?? realClock).now(), Object.keys(codeNames))
  if (config.faults.length > 0) throw errorOfFaults(config.faults)
  return { ...config.data, ...code }
}

/** The options that `deliver` adds to. */
interface Deliverable extends Pick<ConfigOptions, 'deliver' | 'topics' | 'eventSubscriptions'> {
  readonly ingress?: readonly IngressRule[] | Ingress
}

/**
 * Options with what `deliver` stands for in their lists. An event subscription has its topic's name, a second one of a topic the
 * name with `-2`, and so on. Its public URL, at a host of `deliver.example`, is led to the local one. Throws a TypeError for a
 * target that is not a URL.
 */
function deliverTo<Options extends Deliverable>(options: Options): Options & Deliverable {
  const { deliver = {}, topics, eventSubscriptions = [], ingress = [] } = options
  if (Object.keys(deliver).length === 0) return options
  const made = Object.entries(deliver).flatMap(([topic, targets]) =>
    (typeof targets === 'string' ? [targets] : targets).map((target, index) => delivered(topic, target, index)),
  )
  const given = ingressOf(ingress)
  const rules = ingressOf(made.flatMap(({ rules }) => rules))
  const isNew = (name: string) => !topics?.some((topic) => topic.name.toLowerCase() === name.toLowerCase())
  const added: TopicOptions[] = Object.keys(deliver)
    .filter(isNew)
    .map((name) => ({ name }))
  return {
    ...options,
    topics: [...(topics ?? []), ...added],
    eventSubscriptions: [...eventSubscriptions, ...made.map(({ subscription }) => subscription)],
    ingress: (url) => rules(url) ?? given(url),
  }
}

function delivered(
  topic: string,
  target: string,
  index: number,
): { readonly subscription: EventSubscriptionOptions; readonly rules: readonly IngressRule[] } {
  if (!isIngressUrl(target)) {
    throw new TypeError(
      `deliver takes a URL for each topic, like http://127.0.0.1:3000/hook, not ${JSON.stringify(target)}`,
    )
  }
  const name = index === 0 ? topic : `${topic}-${index + 1}`
  const { protocol, pathname, search } = new URL(target)
  const host = `${name.toLowerCase()}.deliver.example`
  // Event Grid delivers by https only. An https URL is its own public one.
  if (protocol === 'https:') return { subscription: { name, topic, endpoint: target }, rules: [] }
  const subscription: EventSubscriptionOptions = { name, topic, endpoint: `https://${host}${pathname}${search}` }
  return { subscription, rules: [{ from: `https://${host}/`, to: new URL(target).origin }] }
}
