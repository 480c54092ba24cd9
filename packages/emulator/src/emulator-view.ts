/** What a program can look at in an emulator: addresses, credentials, resources, events, records, counts. */
import type { RunningEmulator } from './emulator-parts.ts'
import { builtInRoles } from './entra/roles.ts'
import {
  type NamespaceTopicView,
  namespaceTopicView,
  type StorageView,
  type SystemTopicView,
  type TopicView,
  viewAllPublished,
  viewNamespaceTopics,
  viewPublishedNamed,
  viewStorage,
} from './model/resource-views.ts'
import type { EventSubscription } from './model/resources/event-subscription.ts'
import { type Client, eventSubscriptionId, type RoleGrant } from './model/resources/resource.ts'
import { checkOptions } from './model/schemas.ts'
import { ManualClock } from './model/time/clock.ts'
import type { QueueFigures } from './namespaces/pull-queue.ts'
import type { FigureName } from './records/figures.ts'
import type { Records, RequestRecord, RequestRoute } from './records/record-types.ts'
import { pkcs12Of } from './server/tls/certificates.ts'
import { type EmulatorEnvironment, languageEnvironments } from './test-interface/environment.ts'
import {
  type DeadLetter,
  deadLettersOf,
  type PublishedEvents,
  publishedEvents,
} from './test-interface/published-events.ts'
import { type EventQuery, eventsQuery, requestsQuery } from './test-interface/requests.ts'
import { sourceIdOf } from './topics/raise.ts'

/** Where clients find the emulator. */
export interface EmulatorEndpoints {
  /** Base URL of Azure Resource Manager. */
  readonly resourceManager: string
  /** Entra's authority host. */
  readonly authorityHost: string
  /** The emulator's certificate authority (PEM): clients must trust it. */
  readonly ca: string
  /** Base URL for the topics and namespaces whose endpoints have host names of Azure. */
  readonly topics: string
}

/** An emulator as its users see it. What they do with it is in {@link EventGridEmulator}. */
export class EmulatorView {
  readonly #parts: RunningEmulator
  /** Where clients find it; fits the binding's option `endpoints`. */
  readonly endpoints: EmulatorEndpoints
  /** The emulator's certificate authority, PEM. */
  readonly ca: string
  /** `http://{host}:{port}` of the topics over http, which is also the CONNECT proxy for Azure's host names. */
  readonly proxy: string
  /** Tenant of the first client. */
  readonly tenantId: string
  /** Application id of the first client. */
  readonly clientId: string
  /** Secret of the first client. */
  readonly clientSecret: string
  /** The first Azure subscription. */
  readonly subscriptionId: string
  /** Records of requests, handshakes, delivery attempts and dead-lettered events. */
  readonly records: Records
  /**
   * The file of the certificate authority. The program that wrote the file sets this member, so that {@link environment} names the file.
   */
  caFile: string | undefined
  /** The file of the PKCS#12 store that Java reads, in the same way. */
  pkcs12File: string | undefined

  protected constructor(parts: RunningEmulator) {
    this.#parts = parts
    const { directory, addresses, ca } = parts
    const [client] = directory.clients
    const { https } = addresses
    this.endpoints = { resourceManager: https, authorityHost: https, ca, topics: https }
    this.ca = ca
    this.proxy = addresses.http
    this.tenantId = client?.tenantId ?? ''
    this.clientId = client?.clientId ?? ''
    this.clientSecret = client?.clientSecret ?? ''
    this.subscriptionId = directory.azureSubscriptions()[0]?.id ?? ''
    this.records = parts.records
  }

  /** A custom topic. @param name @default the first. Throws a RangeError for an unknown name. */
  topic(name?: string): TopicView {
    return viewPublishedNamed(this.#parts, 'topics', name)
  }

  /** A domain: its endpoint takes the events of all its topics. @param name @default the first. Throws a RangeError for an unknown name. */
  domain(name?: string): TopicView {
    return viewPublishedNamed(this.#parts, 'domains', name)
  }

  /**
   * A namespace topic. Throws a RangeError for an unknown name.
   *
   * @param name @default the first
   * @param namespace the namespace's name. @default the first
   */
  namespaceTopic(name?: string, namespace?: string): NamespaceTopicView {
    return namespaceTopicView(this.#parts, name, namespace)
  }

  /** All custom topics. */
  topics(): readonly TopicView[] {
    return viewAllPublished(this.#parts, 'topics')
  }

  /** All domains. */
  domains(): readonly TopicView[] {
    return viewAllPublished(this.#parts, 'domains')
  }

  /** All system topics, with their sources. */
  systemTopics(): readonly SystemTopicView[] {
    return this.#parts.store.resources('systemTopics').map(({ name, id, source }) => ({ name, id, source }))
  }

  /** The topics of all namespaces. */
  namespaceTopics(): readonly NamespaceTopicView[] {
    return viewNamespaceTopics(this.#parts)
  }

  /** The storage accounts of the option `storage`, whose blobs raise events. */
  storage(): readonly StorageView[] {
    return viewStorage(this.#parts)
  }

  /**
   * An event subscription with its secrets; undefined if it does not exist. Throws a RangeError for an unknown source.
   *
   * @param scope a resource id, or the name of a topic or domain
   */
  eventSubscription(scope: string, name: string): EventSubscription | undefined {
    return this.#parts.store.subscriptions.get(eventSubscriptionId(sourceIdOf(this.#parts, scope), name))
  }

  /** All event subscriptions. */
  eventSubscriptions(): readonly EventSubscription[] {
    return this.#parts.store.subscriptions.all()
  }

  /** How many events of each Queue event subscription are available, locked or delayed, by its resource id. */
  queues(): ReadonlyMap<string, QueueFigures> {
    return this.#parts.queues.figures()
  }

  /** The applications that may sign in, with their secrets. */
  clients(): readonly Client[] {
    return this.#parts.directory.clients
  }

  /**
   * The roles of an application, with their scopes. @param clientId @default the first client. Throws a RangeError for an unknown client.
   */
  roles(clientId: string = this.clientId): readonly Required<RoleGrant>[] {
    const principalId = principalOf(this.#parts, clientId)
    const own = this.#parts.directory.roleAssignments().filter((one) => one.principalId === principalId)
    return own.map(({ roleId, scope }) => ({
      role: builtInRoles.find(({ id }) => id === roleId)?.name ?? roleId,
      scope,
    }))
  }

  /**
   * The events that were published or raised, oldest first, each with what became of it at every event subscription of its topic. The
   * newest ones are kept, and longest those that wait or failed: the option `maxRecordBytes` bounds all records. Throws a TypeError for an
   * unknown option, and a RangeError for an unknown topic.
   */
  events(query: EventQuery = {}): PublishedEvents {
    checkOptions('the query of events', eventsQuery, query)
    return publishedEvents(this.#parts, query)
  }

  /** The events that were given up, one by one, with their reason: also without a storage account. */
  deadLetters(): readonly DeadLetter[] {
    return deadLettersOf(this.records)
  }

  /**
   * The latest requests, oldest first, as in {@link records}, with the secrets in their bodies masked too. @param query.route
   * @default all
   */
  requests(query: { readonly route?: RequestRoute | undefined } = {}): readonly RequestRecord[] {
    checkOptions('the query of requests', requestsQuery, query)
    return this.records.requests.filter(({ route }) => query.route === undefined || route === query.route)
  }

  /** Counts since the start, of each {@link FigureName}. */
  figures(): Readonly<Record<FigureName, number>> {
    return this.#parts.figures.totals()
  }

  /** Number of events accepted and neither delivered, dead-lettered nor dropped yet. */
  get pending(): number {
    return this.#parts.pending()
  }

  /** Where the emulator is, with its keys, and how programs of each language are led to it. */
  environment(): EmulatorEnvironment {
    const { addresses, clock, directory } = this.#parts
    const { tenantId, clientId, clientSecret, subscriptionId, caFile, pkcs12File } = this
    const { https, http } = addresses
    const client = { tenantId, clientId, clientSecret }
    const files = { ...(caFile !== undefined && { caFile }), ...(pkcs12File !== undefined && { pkcs12File }) }
    const shared = { https, subscriptionId, ...files }
    const published = (views: readonly TopicView[]) => views.map(({ keys: _keys, ...view }) => view)
    return {
      ...{ http, ca: this.ca, pkcs12: pkcs12Of(this.ca).toString('base64') },
      ...{ clock: clock instanceof ManualClock ? 'manual' : 'machine' },
      ...shared,
      clients: directory.clients.map((one) => ({
        tenantId: one.tenantId,
        clientId: one.clientId,
        clientSecret: one.clientSecret,
      })),
      topics: published(this.topics()),
      domains: published(this.domains()),
      systemTopics: this.systemTopics(),
      namespaceTopics: this.namespaceTopics(),
      storage: this.storage(),
      languages: languageEnvironments({ ...shared, client }),
    }
  }
}

/**
 * The object id by which role assignments name an application: that of its service principal. Throws a RangeError for an unknown client.
 */
export function principalOf({ directory }: Pick<RunningEmulator, 'directory'>, clientId: string): string {
  const client = directory.clients.find((one) => one.clientId === clientId)
  if (!client) throw new RangeError(`there is no client ${clientId}`)
  return client.objectId
}
