/** How the parts of an emulator are put together, started, resumed and ended, and which paths http serves. */
import type { FastifyInstance } from 'fastify'
import { isEveryAddress } from '../../../src/support/net/hosts.ts'
import { createOperations } from './arm/call/operations.ts'
import { createArmRequestLimits } from './arm/call/request-limits.ts'
import { registerArmRoutes } from './arm/routes.ts'
import { createProvisioning } from './arm/subscriptions/provisioning.ts'
import { createBlobEndpoint } from './blobs/blob-endpoint.ts'
import type { ResolvedOptions } from './config/options.ts'
import { warningsTo } from './dead-letters/write-dead-letters.ts'
import { createDeliveryEngine } from './delivery/delivery-engine.ts'
import { deliverySettings } from './delivery/delivery-options.ts'
import { type Ingress, localUrls } from './delivery/send/ingress.ts'
import { createWebhookClient } from './delivery/send/webhook-client.ts'
import { createUntaken } from './delivery/untaken.ts'
import { createDirectory } from './entra/directory.ts'
import { registerGraphRoutes } from './entra/graph-routes.ts'
import { registerEntraRoutes } from './entra/routes.ts'
import { createTokenIssuer } from './entra/token-issuer.ts'
import type { AcceptedEvent } from './model/events/accepted-event.ts'
import type { EventText } from './model/events/event-text.ts'
import { createPendingBound } from './model/held-bytes.ts'
import type { Addresses } from './model/resource-views.ts'
import type { NamespaceTopic } from './model/resources/namespace.ts'
import { ManualClock, realClock } from './model/time/clock.ts'
import { createWorkCounter } from './model/time/work-counter.ts'
import { createForwarding, createNamespaceQueues } from './namespaces/namespace-queues.ts'
import { registerNamespaceRoutes } from './namespaces/namespace-routes.ts'
import { isPagePath, registerPageRoutes } from './page/page-routes.ts'
import { createEventTrail } from './records/event-trail.ts'
import { createFigures } from './records/figures.ts'
import { createMemory } from './records/memory.ts'
import { createRecords } from './records/record-types.ts'
import { createFaults } from './server/faults.ts'
import { recordRefused } from './server/recording.ts'
import { createEmulatorServer } from './server/server.ts'
import { createCertificateAuthority, loopbackHosts, makeAuthority } from './server/tls/certificates.ts'
import { createIngressFront } from './server/tls/ingress-front.ts'
import { persistedOr } from './state/persisted-values.ts'
import type { State } from './state/state.ts'
import type { TestedEmulator } from './test-interface/operation.ts'
import { isTestPath, registerTestRoutes, type TestRouteOptions } from './test-interface/test-routes.ts'
import { type Acceptance, acceptEvents, createTopicRates } from './topics/accept-events.ts'
import { raisedEvents } from './topics/raise.ts'
import { registerTopicRoutes } from './topics/topic-routes.ts'

/** The parts of an emulator that serves. */
export type RunningEmulator = Awaited<ReturnType<typeof runEmulator>>

/** @param emulator what the test interface asks; undefined until it is made */
export async function runEmulator(options: ResolvedOptions, state: State, emulator: () => TestedEmulator | undefined) {
  const { clock } = options
  const { persisted } = state
  const made = persistedOr(persisted, 'identity', 'certificate authority', makeAuthority)
  const authority = createCertificateAuthority(made)
  const addresses: Addresses = { https: '', http: '', blobs: '' }
  let { ingress } = options
  const parts = createParts(options, state, {
    ingress: (url) => ingress(url) ?? localUrls(url),
    baseUrl: () => addresses.https,
  })
  const { engine, queues, operations, provisioning } = parts
  const named = isEveryAddress(options.host) ? '127.0.0.1' : options.host
  const client = createWebhookClient({ ...options, clock: realClock, ingress: (url) => ingress(url) ?? localUrls(url) })
  const server = createEmulatorServer(
    authority,
    named,
    (path) => isPagePath(path) || isTestPath(path) || /^\/(topics|eventsubscriptions|namespaces)\//.test(path),
    undefined,
    createIngressFront({ ingress: (url) => ingress(url), ownAddress: () => addresses.https, deliver: client.send }),
    (request, refusal) => {
      const { url = '/' } = request
      // As the requests of the page and of the test interface that are answered.
      if (!isPagePath(url) && !isTestPath(url)) recordRefused(parts, request, refusal)
    },
    isTestPath,
  )
  registerRoutes(server.app, parts, { ...options, addresses, emulator })
  const blobs =
    options.storage.length === 0
      ? undefined
      : createBlobEndpoint({
          ...parts,
          accounts: options.storage,
          tls: authority.serverSettings([...new Set([...loopbackHosts, named])]),
          trustedCertificates: options.trustedCertificates,
          persisted,
          full: engine.full,
          raise: ({ account, id }, events) =>
            acceptEvents(parts, account, raisedEvents(parts.store, id, events, clock.now())),
        })
  const closeServers = () => Promise.all([server.close(), blobs?.close()])
  const listen = async () => ({
    ...(await server.listen(options.host, options)),
    blobPort: await blobs?.listen(options.host, options.blobPort),
  })
  const bound = await listen().catch(async (error: unknown) => {
    await Promise.all([closeServers(), engine.close()])
    throw error
  })
  const host = named.includes(':') ? `[${named}]` : named
  addresses.https = `https://${host}:${bound.port}`
  addresses.http = `http://${host}:${bound.httpPort}`
  addresses.blobs = `${host}:${bound.blobPort}`

  const releaseClock = clock instanceof ManualClock ? clock.settleWith(engine.idle) : () => {}
  let closing: Promise<void> | undefined
  const stop = async () => {
    releaseClock()
    provisioning.close()
    state.freeze()
    queues.close()
    operations.close()
    client.close()
    await Promise.all([engine.close(), closeServers()])
  }
  const close = async () => {
    await stop()
    state.close()
  }
  try {
    resume(parts)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ...parts,
    storage: options.storage,
    persisted,
    /** The certificate of the authority, PEM. */
    ca: authority.certificate,
    addresses,
    setIngress: (wanted: Ingress) => {
      ingress = wanted
    },
    /** Adds an ingress that is asked before the others. */
    prependIngress: (first: Ingress) => {
      const rest = ingress
      ingress = (url) => first(url) ?? rest(url)
    },
    /** Resolves when no operation, handshake or due delivery is under way. */
    idle: engine.idle,
    /** Forgets events, queues, records, faults and what throttling counted. What is under way of them ends without a trace. */
    forget() {
      parts.faults.clear()
      parts.limits.clear()
      parts.rates.clear()
      engine.forget()
      queues.forget()
      parts.trail.clear()
      parts.figures.clear()
      for (const ring of Object.values(parts.records)) ring.clear()
    },
    /** Resolves when no event is pending, at topics and in queues at one moment. Rejects with the signal's reason. */
    async settled(signal?: AbortSignal): Promise<void> {
      // A receiver may have published to a topic meanwhile.
      do await Promise.all([engine.settled(signal), queues.settled(signal)])
      while (parts.pending() > 0 && closing === undefined)
    },
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

function createParts(
  options: ResolvedOptions,
  { store, namespaces, journal, persisted, problem }: State,
  { ingress, baseUrl }: { readonly ingress: Ingress; readonly baseUrl: () => string },
) {
  const { clock } = options
  const figures = createFigures(() => clock.now())
  const memory = createMemory(options.maxRecordBytes)
  const trail = createEventTrail({ now: () => clock.now(), figures, memory })
  const shared = {
    clock,
    store,
    directory: createDirectory(options, store),
    tokens: createTokenIssuer(clock, persisted),
    records: createRecords(memory),
    faults: createFaults(),
    limits: createArmRequestLimits(clock, { refuse: options.throttling }),
    rates: createTopicRates(clock),
    trail,
    baseUrl,
  }
  const work = createWorkCounter()
  const operations = createOperations(clock, options.operationDelayMs, work)
  const settings = deliverySettings(options.delivery)
  const bound = createPendingBound(settings)
  const queues = createNamespaceQueues({
    clock,
    journal,
    store: namespaces,
    bound,
    trail,
    deadLetters: {
      records: shared.records.deadLetters,
      store: settings.deadLetterStore,
      warn: warningsTo(shared.records.warnings, clock),
      work,
    },
  })
  const engine = createDeliveryEngine({
    ...shared,
    ...options,
    ingress,
    journal,
    settings,
    work,
    bound,
    restoreElsewhere: queues.restore,
  })
  const untakenOf = createUntaken({ store, namespaces, undelivered: engine.undelivered })
  const forward = createForwarding(store, namespaces, queues)
  /** Takes events for the webhooks and for the namespace topics that want them. */
  const distribute: Acceptance['distribute'] = (accepted) => {
    const pushed = engine.enqueue(accepted)
    const forwarded = forward(accepted)
    const wanted = new Set([...pushed, ...forwarded.map(({ event }) => event)])
    for (const { subscription, event } of forwarded) trail.changed(subscription, event, { state: 'forwarded' })
    const untaken = untakenOf(accepted)
    for (const { subscription, event, because, matches } of untaken) {
      if (matches) trail.changed(subscription, event, { state: 'unserved', reason: because })
      else trail.unmatched(subscription, event, because)
    }
    return { wanted, untaken }
  }
  /** Takes events for the receivers of a namespace topic. */
  const distributeToTopic = (topic: NamespaceTopic, events: readonly EventText[]) => {
    const unwanted = queues.publish(topic, events)
    const accepted = events.map((body): AcceptedEvent => ({ schema: 'CloudEventSchemaV1_0', body }))
    trail.accepted(topic.id, accepted)
    const mismatches = queues.mismatches(topic, events)
    for (const { subscription, event, because } of mismatches) trail.unmatched(subscription, event, because)
    return { unwanted, mismatches }
  }
  const provisioning = createProvisioning({
    ...shared,
    storageAccounts: options.storageAccounts,
    retries: options.retries,
    ...{ namespaces, delivery: engine, operations },
  })
  /** Number of events accepted and neither delivered, dead-lettered nor dropped yet. */
  const pending = () => engine.pending() + queues.pending()
  return {
    ...shared,
    figures,
    problem,
    pending,
    engine,
    distribute,
    distributeToTopic,
    namespaces,
    queues,
    operations,
    provisioning,
  }
}

type Parts = ReturnType<typeof createParts>

function registerRoutes(
  app: FastifyInstance,
  parts: Parts,
  options: ResolvedOptions & Pick<TestRouteOptions, 'addresses' | 'emulator'>,
): void {
  const { engine, distribute, namespaces, trail, provisioning } = parts
  const intake = { ...engine, distribute, askAgain: provisioning.askAgain }
  const shared = { ...options, ...parts }
  // With an operation delay, its length must be visible to clients.
  const statusHoldMs = options.operationDelayMs > 0 ? 0 : 1000
  app.register(async (scope) => registerTopicRoutes(scope, { ...shared, intake }))
  app.register(async (scope) => registerNamespaceRoutes(scope, { ...shared, store: namespaces }))
  app.register(async (scope) => registerPageRoutes(scope, options))
  app.register(async (scope) => registerTestRoutes(scope, { ...shared, trail, askAgain: provisioning.askAgain }))
  app.register(async (scope) => registerEntraRoutes(scope, shared))
  app.register(async (scope) => registerGraphRoutes(scope, shared))
  app.register(async (scope) => registerArmRoutes(scope, { ...shared, statusHoldMs }))
}

/** Continues with the topics, subscriptions and events of an earlier run. */
function resume({ store, namespaces, queues, engine, provisioning }: Parts): void {
  namespaces.subscriptions.all().forEach(queues.subscriptionChanged)
  for (const subscription of store.subscriptions.all()) engine.subscriptionChanged(subscription)
  provisioning.resume()
  engine.restore()
}
