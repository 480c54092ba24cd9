import type { FastifyInstance } from 'fastify'
import { createOperations } from './arm/operations.ts'
import { createProvisioning, type Provisioning } from './arm/provisioning.ts'
import { registerArmRoutes } from './arm/routes.ts'
import type { ResolvedOptions } from './config/options.ts'
import { createDeliveryEngine, type DeliveryEngine } from './delivery/delivery-engine.ts'
import { deliverySettings } from './delivery/delivery-options.ts'
import type { Ingress } from './delivery/ingress.ts'
import { createDirectory, type Directory } from './entra/directory.ts'
import { registerEntraRoutes } from './entra/routes.ts'
import { createTokenIssuer, type TokenIssuer } from './entra/token-issuer.ts'
import { type Clock, ManualClock } from './model/clock.ts'
import type { NamespaceStore } from './model/namespace-store.ts'
import { createPendingBound } from './model/pending-bound.ts'
import type { Store } from './model/store.ts'
import { createForwarding } from './namespaces/forwarding.ts'
import { createNamespaceQueues, type NamespaceQueues } from './namespaces/namespace-queues.ts'
import { registerNamespaceRoutes } from './namespaces/namespace-routes.ts'
import { createEventTrail } from './page/event-trail.ts'
import { createFigures, type Figures } from './page/figures.ts'
import { isPagePath, registerPageRoutes } from './page/page-routes.ts'
import type { Records } from './records/record-types.ts'
import { RecordRing } from './records/records.ts'
import { createCertificateAuthority, makeAuthority, readAuthority } from './server/certificates.ts'
import { createFaults, type Faults } from './server/faults.ts'
import { createIngressFront } from './server/ingress-front.ts'
import { createEmulatorServer } from './server/server.ts'
import { type PersistedValues, persistedOr } from './state/persisted-values.ts'
import type { State } from './state/state.ts'
import { registerTopicRoutes } from './topics/topic-routes.ts'

export interface RunningEmulator {
  readonly clock: Clock
  readonly store: Store
  readonly directory: Directory
  readonly records: Records
  readonly faults: Faults
  readonly tokens: TokenIssuer
  readonly engine: DeliveryEngine
  /** Takes events for the webhooks and for the namespace topics that want them. */
  readonly accept: DeliveryEngine['accept']
  readonly namespaces: NamespaceStore
  readonly queues: NamespaceQueues
  readonly provisioning: Provisioning
  readonly figures: Figures
  readonly persisted: PersistedValues
  /** The certificate of the authority, PEM. */
  readonly ca: string
  /** Without a trailing slash. */
  readonly addresses: { readonly https: string; readonly http: string }
  setIngress(ingress: Ingress): void
  /** Adds an ingress that is asked before the others. */
  prependIngress(ingress: Ingress): void
  /** Resolves when no operation, handshake or due delivery is under way. */
  idle(): Promise<void>
  close(): Promise<void>
}

export async function runEmulator(options: ResolvedOptions, state: State): Promise<RunningEmulator> {
  const { clock } = options
  const { persisted } = state
  const makeText = () => JSON.stringify(makeAuthority())
  const authority = createCertificateAuthority(
    readAuthority(persistedOr(persisted, 'identity', 'certificate authority', makeText)),
  )
  const addresses = { https: '', http: '' }
  let { ingress } = options
  const parts = createParts(options, state, { ingress: (url) => ingress(url), baseUrl: () => addresses.https })
  const { engine, queues, operations, provisioning } = parts
  const server = createEmulatorServer(
    authority,
    (path) => isPagePath(path) || /^\/(topics|eventsubscriptions|namespaces)\//.test(path),
    undefined,
    createIngressFront({ ingress: (url) => ingress(url), ownAddress: () => addresses.https }),
  )
  registerRoutes(server.app, parts, { ...options, addresses, ca: authority.certificate })
  const bound = await server.listen(options.host, options.port, options.httpPort).catch(async (error: unknown) => {
    await Promise.all([server.close(), engine.close()])
    throw error
  })
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  addresses.https = `https://${host}:${bound.port}`
  addresses.http = `http://${host}:${bound.httpPort}`

  const quiet = async () => {
    while ((await engine.quiet()) === 'idle' && operations.running() > 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const releaseClock = clock instanceof ManualClock ? clock.settleWith(quiet) : () => {}
  let closing: Promise<void> | undefined
  const stop = async () => {
    releaseClock()
    provisioning.close()
    state.freeze()
    queues.close()
    await Promise.all([operations.close(), engine.close(), server.close()])
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
    persisted,
    ca: authority.certificate,
    addresses,
    setIngress: (wanted) => {
      ingress = wanted
    },
    prependIngress: (first) => {
      const rest = ingress
      ingress = (url) => first(url) ?? rest(url)
    },
    async idle() {
      // Operations and deliveries start each other, so both must be idle at the same time.
      do {
        await operations.idle()
        await engine.idle()
      } while (operations.running() > 0)
    },
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

function createParts(
  options: ResolvedOptions,
  { store, namespaces, journal, persisted }: State,
  { ingress, baseUrl }: { readonly ingress: Ingress; readonly baseUrl: () => string },
) {
  const { clock } = options
  const figures = createFigures(() => clock.now())
  const watcher = createEventTrail({ now: () => clock.now(), figures })
  const shared = {
    clock,
    store,
    directory: createDirectory(options),
    tokens: createTokenIssuer(clock, persisted),
    records: {
      requests: new RecordRing(),
      deliveries: new RecordRing(),
      handshakes: new RecordRing(),
      deadLetters: new RecordRing(),
      warnings: new RecordRing(),
    } satisfies Records,
    faults: createFaults(),
    watcher,
    baseUrl,
  }
  const operations = createOperations(clock, options.operationDelayMs)
  const delivery = deliverySettings(options.delivery)
  const bound = createPendingBound(delivery)
  const queues = createNamespaceQueues({
    clock,
    journal,
    store: namespaces,
    bound,
    deadLetters: { records: shared.records.deadLetters, store: delivery.deadLetterStore },
  })
  const engine = createDeliveryEngine({
    ...shared,
    ...options,
    ingress,
    journal,
    bound,
    restoreElsewhere: queues.restore,
  })
  const forwarding = createForwarding({ store, namespaces, queues })
  const accept: DeliveryEngine['accept'] = (accepted) => {
    engine.accept(accepted)
    forwarding.accept(accepted)
  }
  const provisioning = createProvisioning({ ...shared, delivery: engine, operations })
  return { ...shared, figures, engine, accept, namespaces, queues, operations, provisioning }
}

type Parts = ReturnType<typeof createParts>

type RouteOptions = ResolvedOptions & Pick<RunningEmulator, 'addresses' | 'ca'>

function registerRoutes(app: FastifyInstance, parts: Parts, options: RouteOptions): void {
  const { engine, accept, namespaces } = parts
  const { addresses, ca, host, conflicts, throttling, tokenLifetimeSeconds, operationRetryAfter } = options
  app.register(async (scope) => registerTopicRoutes(scope, { ...parts, throttling, intake: { ...engine, accept } }))
  app.register(async (scope) => registerNamespaceRoutes(scope, { ...parts, store: namespaces }))
  app.register(async (scope) => {
    const { watcher: trail } = parts
    registerPageRoutes(scope, { ...parts, trail, addresses, ca, pending: engine.pending, host })
  })
  app.register(async (scope) => registerEntraRoutes(scope, { ...parts, tokenLifetimeSeconds }))
  app.register(async (scope) => {
    // With an operation delay, its length must be visible to clients.
    const statusHoldMs = options.operationDelayMs > 0 ? 0 : 1000
    registerArmRoutes(scope, { ...parts, conflicts, throttling, statusHoldMs, operationRetryAfter })
  })
}

/** Continues with the topics, subscriptions and events of an earlier run. */
function resume({ store, directory, namespaces, queues, engine, provisioning }: Parts): void {
  for (const type of ['topics', 'domains', 'systemTopics'] as const) {
    for (const { subscriptionId, resourceGroup } of store.resources(type)) {
      directory.azureSubscription(subscriptionId)?.resourceGroups.set(resourceGroup.toLowerCase(), resourceGroup)
    }
  }
  for (const namespace of namespaces.namespaces()) {
    for (const topic of namespaces.topics(namespace.id)) {
      namespaces.subscriptions(topic.id).forEach(queues.subscriptionChanged)
    }
  }
  for (const subscription of store.subscriptions()) engine.subscriptionChanged(subscription)
  provisioning.resume()
  engine.restore()
}
