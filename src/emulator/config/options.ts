// Options of `EventGridEmulator.start` and their defaults: ids, ports, roles, `orders`, token lifetime.
import { randomBytes } from 'node:crypto'
import type { DeliveryOptions } from '../delivery/delivery-options.ts'
import { type Ingress, type IngressRule, ingressOf } from '../delivery/send/ingress.ts'
import type { Client, DeclaredSubscription, RoleGrant } from '../model/resources/client.ts'
import type { InputSchema, InputSchemaMapping } from '../model/resources/model.ts'
import { stableGuid } from '../model/resources/stable-guid.ts'
import { type Clock, realClock } from '../model/time/clock.ts'
import { type PersistedValues, persistedOr, valuesInMemory } from '../state/persisted-values.ts'
import type { Config } from './config-schema.ts'
import { checkOptionNames } from './option-names.ts'

/** An application that may sign in. */
export interface ClientOptions {
  /** @default {@link emulatorDefaults.tenantId} */
  readonly tenantId?: string
  /** @default {@link emulatorDefaults.clientId} */
  readonly clientId?: string
  /** @default random */
  readonly clientSecret?: string
  /** The object id of its service principal. @default derived from the client id */
  readonly objectId?: string
  /**
   * @default `EventGrid EventSubscription Contributor`, `EventGrid Data Sender` and `EventGrid Data Receiver`, everywhere, and
   * `EventGrid Contributor` at the namespaces of the options
   */
  readonly roles?: readonly RoleGrant[]
}

/** An Azure subscription. */
export interface AzureSubscriptionOptions {
  /** @default {@link emulatorDefaults.subscriptionId} */
  readonly id?: string
  /** @default that of the first client */
  readonly tenantId?: string
  /** Whether the provider Microsoft.EventGrid is registered. @default true */
  readonly registered?: boolean
  /** Names; a topic's group is added by itself. @default `['rg']` */
  readonly resourceGroups?: readonly string[]
}

/** Where a resource is. */
export interface Place {
  /** @default the first Azure subscription */
  readonly subscriptionId?: string
  /** @default the first resource group of the subscription */
  readonly resourceGroup?: string
  /** @default `westeurope` */
  readonly location?: string
}

/** A custom topic or a domain that exists from the start. */
export interface TopicOptions extends Place {
  /** 3-50 letters, digits and `-`. */
  readonly name: string
  /** @default `CloudEventSchemaV1_0` (a topic made through ARM has Azure's default, `EventGridSchema`) */
  readonly inputSchema?: InputSchema
  /**
   * Where the Event Grid fields are in events of `CustomEventSchema`, in ARM's shape.
   * @default under Event Grid's own names
   */
  readonly inputSchemaMapping?: InputSchemaMapping
  /** Two keys, base64. @default random */
  readonly keys?: readonly [string, string]
  /** Refuse keys and SAS tokens. @default false */
  readonly disableLocalAuth?: boolean
}

/** A system topic that exists from the start: the events of another resource of Azure. */
export interface SystemTopicOptions extends Place {
  /** 3-128 letters, digits and `-`. */
  readonly name: string
  /** Resource id of the source, a storage account for instance. */
  readonly source: string
}

/**
 * An event subscription with a webhook that exists from the start, as soon as its endpoint passes the handshake.
 */
export interface EventSubscriptionOptions {
  /** 3-64 letters, digits and `-`. */
  readonly name: string
  /** The custom topic whose events it gets. @default the first */
  readonly topic?: string
  /** Resource id of another source, in place of `topic`: a domain, a domain topic, a system topic, a storage account ... */
  readonly scope?: string
  /**
   * The webhook's public https URL; `ingress` may send it to a local port. @default the one in `properties.destination`
   */
  readonly endpoint?: string
  /**
   * Anything else, in ARM's shape: `filter`, `retryPolicy`, `eventDeliverySchema`, `destination` ...
   * @default Event Grid's defaults
   */
  readonly properties?: Readonly<Record<string, unknown>>
}

/** A Queue event subscription of a namespace topic. */
export interface QueueSubscriptionOptions {
  /** 3-50 letters, digits and `-`. */
  readonly name: string
  /**
   * Its settings, in ARM's shape: `deliveryConfiguration`, `filtersConfiguration` ...
   * @default a queue with Event Grid's defaults
   */
  readonly properties?: Readonly<Record<string, unknown>>
}

/** A topic of a namespace. It takes CloudEvents. */
export interface NamespaceTopicOptions {
  /** 3-50 letters, digits and `-`. */
  readonly name: string
  /** Days that an event is stored, 1 to 7. @default 1 */
  readonly eventRetentionInDays?: number
  /** @default none */
  readonly eventSubscriptions?: readonly QueueSubscriptionOptions[]
}

/** An Event Grid namespace, for pull delivery. */
export interface NamespaceOptions extends Place {
  /** 3-50 letters, digits and `-`; unique in the emulator. */
  readonly name: string
  /** Two keys, base64. @default random */
  readonly keys?: readonly [string, string]
  /** @default none */
  readonly topics?: readonly NamespaceTopicOptions[]
}

/** The options of an emulator. Each has a default: `EventGridEmulator.start()` alone gives a working emulator. */
export interface EventGridEmulatorOptions extends DeliveryOptions {
  /** Port of ARM, Entra and the topics, https. @default 0, a free one */
  readonly port?: number
  /** Port of the topics over http, which is a CONNECT proxy for Azure's host names too. @default 0, a free one */
  readonly httpPort?: number
  /** Address to listen on. @default `127.0.0.1` */
  readonly host?: string
  /** Tenant of the clients and Azure subscriptions that name none. @default {@link emulatorDefaults.tenantId} */
  readonly tenantId?: string
  /** The Azure subscription, where `subscriptions` is not given. @default {@link emulatorDefaults.subscriptionId} */
  readonly subscriptionId?: string
  /** Its resource group, where `subscriptions` is not given. @default `rg` */
  readonly resourceGroup?: string
  /** Who may sign in. @default one client */
  readonly clients?: readonly ClientOptions[]
  /** @default one, registered */
  readonly subscriptions?: readonly AzureSubscriptionOptions[]
  /** @default one, `orders` */
  readonly topics?: readonly TopicOptions[]
  /** Domains. Events name their domain topic; its first event subscription creates it. @default none */
  readonly domains?: readonly TopicOptions[]
  /** System topics. @default none */
  readonly systemTopics?: readonly SystemTopicOptions[]
  /** Namespaces, for pull delivery. @default none */
  readonly namespaces?: readonly NamespaceOptions[]
  /** A handshake that fails is tried again every 5 seconds. @default none */
  readonly eventSubscriptions?: readonly EventSubscriptionOptions[]
  /** The real addresses of public URLs: rules, tried in order, or a function that is called for each request. @default none */
  readonly ingress?: readonly IngressRule[] | Ingress
  /** PEM certificates to trust at subscribers' https endpoints beside Node's own. @default none */
  readonly trustedCertificates?: readonly string[]
  /** @default the machine's */
  readonly clock?: Clock
  /** From 0 to just under 1, for jitter. @default `Math.random` */
  readonly random?: () => number
  /** How long a long-running operation takes at least, by the clock. @default 0 */
  readonly operationDelayMs?: number
  /**
   * `Retry-After` of Resource Manager's answers 201 and 202 to a long-running operation, in seconds. Azure sends 10
   * (recorded). Clients wait that long before they ask again.
   * @default none sent, so that no client waits for it
   */
  readonly operationRetryAfter?: number
  /** Answer 409 Conflict to a change of an event subscription while another one runs. @default false */
  readonly conflicts?: boolean
  /**
   * Answer 429 beyond Azure's rates: of a principal's calls to Resource Manager in an hour, and of a
   * topic's events and bytes in a second.
   * @default false, as tests do in a second what takes a day in Azure
   */
  readonly throttling?: boolean
  /**
   * Version of the Entra tokens of deliveries: what the webhook's application asks for in its manifest. @default `1.0`
   */
  readonly deliveryTokenVersion?: '1.0' | '2.0'
  /** Life of the tokens given to clients, in seconds. @default 3599, as Entra's */
  readonly tokenLifetimeSeconds?: number
  /**
   * File in which topics, event subscriptions, keys, generated secrets and undelivered events survive the
   * emulator, even if it is killed. Created if missing. It is not encrypted, so only its owner can
   * read it. @default none: memory
   */
  readonly state?: string
}

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

/** Options that are not data. The compiler finds a missing one. */
const codeOnly: Readonly<Record<Exclude<keyof EventGridEmulatorOptions, keyof Config>, true>> = {
  clock: true,
  random: true,
  deadLetterStore: true,
  storageQueues: true,
  probation: true,
}

/** {@link EventGridEmulatorOptions} with every default filled in. */
export type ResolvedOptions = ReturnType<typeof resolveOptions>

/**
 * Fills in the defaults. Throws a TypeError for an unknown option.
 * @param persisted the store of generated secrets. @default memory
 */
export function resolveOptions(options: EventGridEmulatorOptions, persisted: PersistedValues = valuesInMemory()) {
  checkOptionNames(options, Object.keys(codeOnly))
  const tenantId = options.tenantId ?? emulatorDefaults.tenantId
  const [first = {}, ...more] = options.clients ?? []
  const declared: readonly AzureSubscriptionOptions[] = options.subscriptions ?? [{}]
  const subscriptions = declared.map((subscription) => ({
    id: subscription.id ?? options.subscriptionId ?? emulatorDefaults.subscriptionId,
    tenantId: subscription.tenantId ?? first.tenantId ?? tenantId,
    registered: subscription.registered ?? true,
    resourceGroups: subscription.resourceGroups ?? [options.resourceGroup ?? emulatorDefaults.resourceGroup],
  }))
  const namespaces = options.namespaces ?? []
  const roles = defaultRoles(namespaces, subscriptions)
  const clients = [first, ...more].map((client) => resolveClient({ roles, ...client }, tenantId, persisted))
  return {
    port: options.port ?? 0,
    httpPort: options.httpPort ?? 0,
    host: options.host ?? '127.0.0.1',
    clients,
    subscriptions,
    topics: options.topics ?? [{ name: emulatorDefaults.topic }],
    domains: options.domains ?? [],
    systemTopics: options.systemTopics ?? [],
    namespaces,
    eventSubscriptions: options.eventSubscriptions ?? [],
    ingress: ingressOf(options.ingress ?? []),
    trustedCertificates: options.trustedCertificates ?? [],
    clock: options.clock ?? realClock,
    random: options.random ?? Math.random,
    operationDelayMs: options.operationDelayMs ?? 0,
    operationRetryAfter: options.operationRetryAfter,
    conflicts: options.conflicts ?? false,
    throttling: options.throttling ?? false,
    deliveryTokenVersion: options.deliveryTokenVersion ?? '1.0',
    delivery: options,
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
  return {
    tenantId,
    clientId,
    clientSecret:
      client.clientSecret ?? persistedOr(persisted, 'client secret', `${tenantId} ${clientId}`, randomSecret),
    objectId: client.objectId ?? stableGuid(`service principal ${clientId}`),
    roles: client.roles.map(({ role, scope }) => ({ role, scope: scope ?? '/' })),
  }
}

/** In Azure, too, only `EventGrid Contributor` may write the event subscriptions of a namespace topic. */
function defaultRoles(
  namespaces: readonly NamespaceOptions[],
  subscriptions: readonly DeclaredSubscription[],
): readonly RoleGrant[] {
  const idOf = ({ name, subscriptionId = subscriptions[0]?.id, resourceGroup }: NamespaceOptions) => {
    const azure = subscriptions.find(({ id }) => id.toLowerCase() === subscriptionId?.toLowerCase())
    const group = resourceGroup ?? azure?.resourceGroups[0] ?? emulatorDefaults.resourceGroup
    return `/subscriptions/${subscriptionId}/resourceGroups/${group}/providers/Microsoft.EventGrid/namespaces/${name}`
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
