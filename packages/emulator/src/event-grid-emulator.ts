/** What a program can do with an emulator: start, change, wait, make fail, connect and close. */
import { checkNames } from '../../../src/support/process/option-checks.ts'
import { realTimers } from '../../../src/support/time/clock.ts'
import { createTurns } from '../../../src/support/work/work.ts'
import { removeResource } from './arm/resources/resources.ts'
import { configure, putTopic } from './config/configure.ts'
import { putEventSubscription } from './config/event-subscription.ts'
import { type EventGridEmulatorOptions, type ResolvedOptions, resolveOptions } from './config/options.ts'
import { type EventSubscriptionOptions, type TopicOptions, topic } from './config/resource-fields.ts'
import { type Connectable, type Connected, type ConnectOptions, connectBinding } from './connect.ts'
import { type Ingress, type IngressRule, ingressOf } from './delivery/send/ingress.ts'
import { type RunningEmulator, runEmulator } from './emulator-parts.ts'
import { EmulatorView, principalOf } from './emulator-view.ts'
import type { TopicView } from './model/resource-views.ts'
import type { EventSubscription } from './model/resources/event-subscription.ts'
import { named } from './model/resources/resource.ts'
import { checkOptions } from './model/schemas.ts'
import { ManualClock, wholeMs } from './model/time/clock.ts'
import { awaitHandshakes } from './model/time/work-counter.ts'
import { raisedCloudEvents } from './namespaces/namespace-calls.ts'
import { checkFault, type Fault } from './server/faults.ts'
import { openState } from './state/state.ts'
import { describePending, StillPendingError, UnservedError } from './test-interface/pending-work.ts'
import { type ResetOptions, resetRequest } from './test-interface/requests.ts'
import { existingSourceIdOf, raisedEvents } from './topics/raise.ts'

/**
 * A local Azure Event Grid, with as much of Azure Resource Manager and Entra as its clients call, in this process.
 * Made by {@link EventGridEmulator.start}; ended by `close()` or `await using`.
 */
export class EventGridEmulator extends EmulatorView implements AsyncDisposable {
  readonly #parts: RunningEmulator
  /** The options that were applied last. */
  #settings: ResolvedOptions
  /** One advance of the clock after the other: each is to move the clock by its whole time. */
  readonly #advances = createTurns()
  readonly #connected: Connected = new Map()

  private constructor(parts: RunningEmulator, settings: ResolvedOptions) {
    super(parts)
    this.#parts = parts
    this.#settings = settings
  }

  /**
   * Starts an emulator. Without options it has a tenant with one client, an Azure subscription, and the custom topic
   * `orders`. Rejects, and leaves nothing running, with a TypeError that names every fault of the options with its place, as a
   * configuration file has them, an EmulatorStateError for a state file that can't be used, or
   * Node's error for a port that can't be bound.
   */
  static async start(options: EventGridEmulatorOptions = {}): Promise<EventGridEmulator> {
    // Throws an EvalError where Node makes no functions of text. Fastify's router would throw it in a timer, which ends the process.
    new Function()
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

  /**
   * Makes an event subscription, or replaces the one with that name, without Entra and Resource Manager; resolves when its handshake is
   * over. Its endpoint may be an http URL of this machine. Rejects with a TypeError that names all that is wrong with it, with a RangeError
   * for a scope that does not exist, as {@link raise} has it, and with an UnservedError where its endpoint has not consented: it is there
   * then, and is asked again as a declared one is.
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
    const signal = timeout === undefined ? undefined : realTimers.abortAfter(wholeMs('the timeout of settled', timeout))
    try {
      await this.#parts.settled(signal)
    } catch (cause) {
      throw new StillPendingError(timeout ?? 0, describePending(this.#parts), { cause })
    }
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

  /** Makes the next calls of a part of the emulator fail. Throws a TypeError that names all that is wrong with the fault. */
  failNext(fault: Fault): void {
    checkFault(fault)
    this.#parts.faults.add(fault)
  }

  /** Takes all faults back that have not happened yet. A call that one delays at this moment gets its real answer at once. */
  clearFaults(): void {
    this.#parts.faults.clear()
  }

  /**
   * Gives an application a role at a scope and below.
   * @param scope @default `/`, everywhere. Throws a RangeError for an unknown role or client.
   */
  assignRole(clientId: string, role: string, scope = '/'): void {
    this.#parts.directory.assignRole({ principalId: principalOf(this.#parts, clientId), role, scope })
  }

  /**
   * Removes a role of an application at a scope.
   * @param scope @default `/`. Throws a RangeError for an unknown role or client.
   */
  removeRole(clientId: string, role: string, scope = '/'): void {
    this.#parts.directory.removeRole({ principalId: principalOf(this.#parts, clientId), role, scope })
  }

  /** Removes all roles of an application, at every scope. Throws a RangeError for an unknown client. */
  removeRoles(clientId: string): void {
    this.#parts.directory.removeRole({ principalId: principalOf(this.#parts, clientId) })
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
   * A token of the emulator's own issuer that its Entra takes as `client_assertion` of a client, for an hour: what a workload identity
   * finds in AZURE_FEDERATED_TOKEN_FILE. @param clientId @default the first client. Rejects with a RangeError for an unknown client.
   */
  async assertion(clientId: string = this.clientId): Promise<string> {
    principalOf(this.#parts, clientId)
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
