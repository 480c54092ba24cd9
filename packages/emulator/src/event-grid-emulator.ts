/** What a program can do with an emulator: start, change, ask, make fail, connect and close. */
import { checkNames } from '../../../src/support/process/option-checks.ts'
import { complaintAboutCodeGeneration } from '../../../src/support/process/runtime.ts'
import { realTimers } from '../../../src/support/time/clock.ts'
import { createTurns } from '../../../src/support/work/work.ts'
import { removeResource } from './arm/resources/resources.ts'
import { type EventSubscriptionOptions, type TopicOptions, topic } from './config/config-schema.ts'
import { configure, putTopic } from './config/configure.ts'
import { putEventSubscription } from './config/event-subscription.ts'
import { type EventGridEmulatorOptions, type ResolvedOptions, resolveOptions } from './config/options.ts'
import { type Connectable, type Connected, type ConnectOptions, connectBinding } from './connect.ts'
import { type Ingress, type IngressRule, ingressOf } from './delivery/send/ingress.ts'
import { type RunningEmulator, runEmulator } from './emulator-parts.ts'
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
import { type Client, eventSubscriptionId, named, type RoleGrant } from './model/resources/resource.ts'
import { checkOptions } from './model/schemas.ts'
import { ManualClock, wholeMs } from './model/time/clock.ts'
import { awaitHandshakes } from './model/time/work-counter.ts'
import { raisedCloudEvents } from './namespaces/namespace-calls.ts'
import type { QueueFigures } from './namespaces/pull-queue.ts'
import type { FigureName } from './records/figures.ts'
import type { Records, RequestRecord, RequestRoute } from './records/record-types.ts'
import { checkFault, type Fault } from './server/faults.ts'
import { pkcs12Of } from './server/tls/certificates.ts'
import { openState } from './state/state.ts'
import { type EmulatorEnvironment, languageEnvironments } from './test-interface/environment.ts'
import { describePending, StillPendingError, UnservedError } from './test-interface/pending-work.ts'
import {
  type DeadLetter,
  deadLettersOf,
  type PublishedEvents,
  publishedEvents,
} from './test-interface/published-events.ts'
import {
  type EventQuery,
  eventsQuery,
  type ResetOptions,
  requestsQuery,
  resetRequest,
} from './test-interface/requests.ts'
import { existingSourceIdOf, raisedEvents, sourceIdOf } from './topics/raise.ts'

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

/**
 * A local Azure Event Grid, with as much of Azure Resource Manager and Entra as its clients call, in this process.
 * Made by {@link EventGridEmulator.start}; ended by `close()` or `await using`.
 */
export class EventGridEmulator implements AsyncDisposable {
  readonly #parts: RunningEmulator
  /** Those that were applied last. */
  #settings: ResolvedOptions
  /** One advance of the clock after the other: each is to move it by its whole time. */
  readonly #advances = createTurns()
  readonly #connected: Connected = new Map()
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
  /** The file that whoever started the emulator wrote its certificate authority to; set it, and {@link environment} names it. */
  caFile: string | undefined
  /** The same for the PKCS#12 store of {@link environment}, which Java reads. */
  pkcs12File: string | undefined

  private constructor(parts: RunningEmulator, settings: ResolvedOptions) {
    this.#parts = parts
    this.#settings = settings
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

  /**
   * Starts an emulator. Without options it has a tenant with one client, an Azure subscription, and the custom topic
   * `orders`. Rejects, and leaves nothing running, with a TypeError that names every fault of the options with its place, as a
   * configuration file has them, an EmulatorStateError for a state file that can't be used, Node's
   * error for a port that can't be bound, and an Error where Node runs with `--disallow-code-generation-from-strings`.
   */
  static async start(options: EventGridEmulatorOptions = {}): Promise<EventGridEmulator> {
    const complaint = complaintAboutCodeGeneration()
    if (complaint) throw new Error(`the emulator cannot start: ${complaint.what}; ${complaint.fix}`)
    const state = await openState(options.state)
    let emulator: EventGridEmulator | undefined
    let ready: EventGridEmulator | undefined
    try {
      const settings = resolveOptions(options, state.persisted)
      const parts = await runEmulator(settings, state, () => ready)
      emulator = new EventGridEmulator(parts, settings)
      configure(emulator.#parts, settings)
      ready = emulator
      return emulator
    } catch (error) {
      if (emulator) await emulator.close()
      else state.close()
      throw error
    }
  }

  /**
   * Replaces clients and their roles, Azure subscriptions, topics, domains, system topics, namespaces, event subscriptions and
   * ingress by those of other options. What these do not name is removed; what was made through ARM stays. All other
   * options (ports, state, clock, delivery) stay the same. Throws the errors that {@link start} rejects with; then all is as before.
   */
  reconfigure(options: EventGridEmulatorOptions): void {
    const settings = resolveOptions(options, this.#parts.persisted)
    configure(this.#parts, settings)
    this.#settings = settings
  }

  /**
   * Makes a custom topic, or replaces the one with that name; without `keys` the keys stay the same. Throws a TypeError
   * for an unknown option, and a RangeError for an unknown Azure subscription.
   */
  addTopic(options: TopicOptions): TopicView {
    checkOptions('the topic', topic, options)
    putTopic(this.#parts, options)
    return this.topic(options.name)
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

  /** The topics of all namespaces. */
  namespaceTopics(): readonly NamespaceTopicView[] {
    return viewNamespaceTopics(this.#parts)
  }

  /** How many events of each Queue event subscription are available, locked or delayed, by its resource id. */
  queues(): ReadonlyMap<string, QueueFigures> {
    return this.#parts.queues.figures()
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

  /**
   * Makes an event subscription, or replaces the one with that name, without Entra and Resource Manager; resolves when its handshake is
   * over. Its endpoint may be an http URL of this machine. Rejects with a TypeError that names all that is wrong with it, and with an
   * UnservedError where its endpoint has not consented: it is there then, and is asked again as a declared one is.
   */
  async addEventSubscription(options: EventSubscriptionOptions): Promise<EventSubscription> {
    const { subscription, because } = await putEventSubscription(this.#parts, options, this.#settings)
    if (because !== undefined) throw new UnservedError(subscription, because)
    return subscription
  }

  /**
   * Removes an event subscription with its waiting events. Has no effect for an unknown name. Throws a RangeError for an unknown source.
   *
   * @param scope a resource id, or the name of a topic or domain
   */
  removeEventSubscription(scope: string, name: string): void {
    const found = this.eventSubscription(scope, name)
    if (found) this.#parts.provisioning.removeAtOnce(found)
  }

  /**
   * Raises events at any source, as Azure's services do: its subscriptions get them. For a custom topic, a domain or a namespace topic
   * this is the same as publishing. Events of a source also go to its system topic. Throws a TypeError for an invalid event, and a
   * RangeError for an unknown source: a name that no topic has, or an id whose Azure subscription, resource group, topic, domain or
   * namespace does not exist. Resources of other providers, such as storage accounts, are taken as existing.
   *
   * @param source a resource id, or the name of a topic, domain, system topic or namespace topic
   */
  raise(source: string, events: readonly unknown[]): void {
    const { store, namespaces, clock, distribute, distributeToTopic, provisioning } = this.#parts
    const sourceId = existingSourceIdOf(this.#parts, source)
    if (!Array.isArray(events)) throw new TypeError('raise takes a list of events')
    const topic = namespaces.topics.get(sourceId)
    if (topic) return void distributeToTopic(topic, raisedCloudEvents(events))
    const sourced = raisedEvents(store, sourceId, events, clock.now())
    distribute(sourced)
    void provisioning.askAgain(sourced.flatMap(({ sources }) => sources))
  }

  /** Removes a custom topic and its event subscriptions. Has no effect for an unknown name. */
  removeTopic(name: string): void {
    const found = named(this.#parts.store.resources('topics'), name)
    if (found) removeResource(this.#parts, found)
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

  /** The storage accounts of the option `storage`, whose blobs raise events. */
  storage(): readonly StorageView[] {
    return viewStorage(this.#parts)
  }

  /** The applications that may sign in, with their secrets. */
  clients(): readonly Client[] {
    return this.#parts.directory.clients
  }

  /** Counts since the start, of each {@link FigureName}. */
  figures(): Readonly<Record<FigureName, number>> {
    return this.#parts.figures.totals()
  }

  /** Number of events accepted and neither delivered, dead-lettered nor dropped yet. */
  get pending(): number {
    return this.#parts.pending()
  }

  /**
   * Resolves when no operation, handshake or due delivery is under way. Events that wait for a later attempt, and
   * endpoints that wait for a manual validation, don't count.
   */
  idle(): Promise<void> {
    return this.#parts.idle()
  }

  /**
   * Resolves when no event is pending; later attempts and dead-letters count too.
   *
   * With `timeout` it rejects after this time, in real milliseconds whatever the clock. The error's message has a line for
   * each event subscription with pending events: how many, when the next try is due, and the last answer. Rejects with a
   * TypeError for an unknown option or a time that is no number, and a RangeError for one that is negative or no whole number.
   *
   * @param options.timeout @default none: it waits as long as an event is pending
   */
  async settled(options: { readonly timeout?: number } = {}): Promise<void> {
    checkNames('the options of settled', options, ['timeout'])
    const { timeout } = options
    const { engine, queues } = this.#parts
    const signal = timeout === undefined ? undefined : realTimers.abortAfter(wholeMs('the timeout of settled', timeout))
    try {
      await Promise.all([engine.settled(signal), queues.settled(signal)])
    } catch (cause) {
      throw new StillPendingError(timeout ?? 0, describePending(this.#parts), { cause })
    }
  }

  /**
   * The events that were published or raised, oldest first, each with what became of it at every event subscription of its topic. The
   * newest ones are kept, and longest those that wait or failed: the option `pageEvents` says how many. Throws a TypeError for an unknown
   * option, and a RangeError for an unknown topic.
   */
  events(query: EventQuery = {}): PublishedEvents {
    checkOptions('the query of events', eventsQuery, query)
    return publishedEvents(this.#parts, query)
  }

  /** The events that were given up, one by one, with their reason: also without a storage account. The latest 10,000 are kept. */
  deadLetters(): readonly DeadLetter[] {
    return deadLettersOf(this.records)
  }

  /** The latest 10,000 requests, oldest first, as in {@link records}, with the secrets in their bodies masked too. @param query.route @default all */
  requests(query: { readonly route?: RequestRoute | undefined } = {}): readonly RequestRecord[] {
    checkOptions('the query of requests', requestsQuery, query)
    return this.records.requests.filter(({ route }) => query.route === undefined || route === query.route)
  }

  /**
   * Forgets events, queues, records, figures and faults, so that a test begins anew. Topics and event subscriptions stay. What is under way
   * of an event is not recorded any more; a request that a subscriber has got already cannot be taken back. Rejects with a TypeError for
   * an unknown option, and as {@link reconfigure} throws.
   */
  async reset(options: ResetOptions = {}): Promise<void> {
    checkOptions('the options of reset', resetRequest, options)
    this.#parts.forget()
    if (options.resources !== true) return
    configure(this.#parts, this.#settings, { others: 'go' })
    await awaitHandshakes(this.#parts.engine.idle())
  }

  /**
   * Moves the clock by so many milliseconds, and waits for what becomes due meanwhile. Resolves with its new time. Rejects with a TypeError
   * if the option `clock` is no `ManualClock`, and as {@link ManualClock.advance} does.
   */
  async advance(ms: number): Promise<number> {
    const { clock } = this.#parts
    if (!(clock instanceof ManualClock))
      throw new TypeError('advance needs an emulator with the option clock: new ManualClock()')
    return this.#advances(async () => {
      await clock.advance(ms)
      return clock.now()
    })
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

  /** Makes the next calls of a part of the emulator fail. Throws a TypeError that names all that is wrong with the fault. */
  failNext(fault: Fault): void {
    checkFault(fault)
    this.#parts.faults.add(fault)
  }

  /** Takes all faults back that have not happened yet. A call that one delays at this moment gets its real answer at once. */
  clearFaults(): void {
    this.#parts.faults.clear()
  }

  /** The roles of an application, with their scopes. @param clientId @default the first client. Throws a RangeError for an unknown client. */
  roles(clientId: string = this.clientId): readonly Required<RoleGrant>[] {
    const principalId = this.#principal(clientId)
    const own = this.#parts.directory.roleAssignments().filter((one) => one.principalId === principalId)
    return own.map(({ roleId, scope }) => ({
      role: builtInRoles.find(({ id }) => id === roleId)?.name ?? roleId,
      scope,
    }))
  }

  /**
   * Gives an application a role at a scope and below.
   * @param scope @default `/`, everywhere. Throws a RangeError for an unknown role or client.
   */
  assignRole(clientId: string, role: string, scope = '/'): void {
    this.#parts.directory.assignRole({ principalId: this.#principal(clientId), role, scope })
  }

  /**
   * Removes a role of an application at a scope.
   * @param scope @default `/`. Throws a RangeError for an unknown role or client.
   */
  removeRole(clientId: string, role: string, scope = '/'): void {
    this.#parts.directory.removeRole({ principalId: this.#principal(clientId), role, scope })
  }

  /** Removes all roles of an application, at every scope. Throws a RangeError for an unknown client. */
  removeRoles(clientId: string): void {
    this.#parts.directory.removeRole({ principalId: this.#principal(clientId) })
  }

  /** The object id by which role assignments name an application: that of its service principal. */
  #principal(clientId: string): string {
    const client = this.#parts.directory.clients.find((one) => one.clientId === clientId)
    if (!client) throw new RangeError(`there is no client ${clientId}`)
    return client.objectId
  }

  /**
   * Registers the provider Microsoft.EventGrid. Has no effect for an unknown id.
   * @param subscriptionId @default the first Azure subscription
   */
  registerProvider(subscriptionId: string = this.subscriptionId): void {
    const azure = this.#parts.directory.azureSubscription(subscriptionId)
    if (azure) azure.registration = 'Registered'
  }

  /**
   * Unregisters the provider Microsoft.EventGrid. Has no effect for an unknown id.
   * @param subscriptionId @default the first Azure subscription
   */
  unregisterProvider(subscriptionId: string = this.subscriptionId): void {
    const azure = this.#parts.directory.azureSubscription(subscriptionId)
    if (azure) azure.registration = 'Unregistered'
  }

  /**
   * A token of the emulator's own issuer that its Entra takes as `client_assertion` of a client, for an hour: what a workload identity finds
   * in AZURE_FEDERATED_TOKEN_FILE. @param clientId @default the first client. Rejects with a RangeError for an unknown client.
   */
  async assertion(clientId: string = this.clientId): Promise<string> {
    this.#principal(clientId)
    return this.#parts.tokens.issueAssertion(clientId)
  }

  /** Signs tokens with a new key. The former keys stay published, or with `forget` older tokens become invalid. */
  rotateKeys(options?: { readonly forget?: boolean }): Promise<void> {
    return this.#parts.tokens.rotateKeys(options)
  }

  /** Makes every token issued so far count as expired at ARM and at the topics. */
  expireTokens(): void {
    this.#parts.tokens.expireTokens()
  }

  /** Replaces the ingress: rules, of which the first match applies, or a function called at each handshake and delivery. */
  setIngress(ingress: Ingress | readonly IngressRule[]): void {
    this.#parts.setIngress(ingressOf(ingress))
  }

  /** Sends the public URLs that begin with `from` to `to`. This rule comes before all others. */
  useIngress(from: string, to: string): void {
    this.#parts.prependIngress(ingressOf([{ from, to }]))
  }

  /**
   * Initialises a binding, made with `endpoints: emulator.endpoints`, for a custom topic: as the emulator's first client,
   * on a free port, with an ingress rule from `https://{name}.example.com/` to that port. Resolves with the topic.
   * Rejects with a RangeError if there is no such topic, or another binding that listens is connected by this name, with a TypeError for an
   * unknown option and for a binding that was made for Azure or another emulator, and as the binding's `init` does.
   */
  connect(binding: Connectable, options: ConnectOptions = {}): Promise<TopicView> {
    return connectBinding(this, binding, options, {
      addIngress: this.#parts.prependIngress,
      connected: this.#connected,
    })
  }

  /** Ends servers, requests and timers. Has no effect the second time. */
  close(): Promise<void> {
    return this.#parts.close()
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
