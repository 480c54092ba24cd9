import { usualArmCode } from './arm/errors.ts'
import { createOperations } from './arm/operations.ts'
import { createProvisioning, type Provisioning } from './arm/provisioning.ts'
import { registerArmRoutes } from './arm/routes.ts'
import type { ResolvedOptions } from './config/options.ts'
import type { DeliveryEngine, EmulatorContext } from './context.ts'
import { createDeliveryEngine } from './delivery/delivery-engine.ts'
import type { Ingress } from './delivery/ingress.ts'
import { createDirectory } from './entra/directory.ts'
import { entraErrorBody } from './entra/errors.ts'
import { registerEntraRoutes } from './entra/routes.ts'
import { createTokenIssuer, type SigningTokenIssuer } from './entra/token-issuer.ts'
import { ManualClock } from './model/clock.ts'
import type { Topic } from './model/model.ts'
import { createEventTrail } from './page/event-trail.ts'
import { createFigures, type Figures } from './page/figures.ts'
import { isPagePath, registerPageRoutes } from './page/page-routes.ts'
import { RecordRing } from './records/records.ts'
import { createCertificateAuthority } from './server/certificates.ts'
import { createFaults } from './server/faults.ts'
import { recordRequests } from './server/recording.ts'
import { createEmulatorServer } from './server/server.ts'
import { keptAuthority, keptKeyRing } from './state/kept-identity.ts'
import type { KeptValues } from './state/kept-values.ts'
import type { State } from './state/state.ts'
import { registerTopicRoutes } from './topics/topic-routes.ts'

/** The parts of a running emulator, put together. */
export interface World {
  readonly context: EmulatorContext
  readonly engine: DeliveryEngine
  readonly provisioning: Provisioning
  readonly tokens: SigningTokenIssuer
  /** The authority's certificate, PEM. */
  readonly ca: string
  /** Without a trailing slash. */
  readonly addresses: { readonly https: string; readonly http: string }
  /** What went through, in numbers. */
  readonly figures: Figures
  readonly kept: KeptValues
  setIngress(ingress: Ingress): void
  /** Has this one asked before what was set so far. */
  prependIngress(ingress: Ingress): void
  /** Resolves when no operation, handshake or due delivery is under way. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** Makes the parts, connects them and listens. */
export async function createWorld(options: ResolvedOptions, state: State): Promise<World> {
  const { clock } = options
  const authority = createCertificateAuthority(keptAuthority(state.kept))
  const tokens = createTokenIssuer(clock, keptKeyRing(state.kept))
  const addresses = { https: '', http: '' }
  let { ingress } = options
  const figures = createFigures(() => clock.now())
  const trail = createEventTrail({ now: () => clock.now(), figures })
  const context: EmulatorContext = {
    clock,
    random: options.random,
    store: state.store,
    directory: createDirectory(options),
    tokens,
    records: {
      requests: new RecordRing(),
      deliveries: new RecordRing(),
      handshakes: new RecordRing(),
      deadLetters: new RecordRing(),
    },
    faults: createFaults(),
    ingress: (url) => ingress(url),
    trustedCertificates: options.trustedCertificates,
    deliveryTokenVersion: options.deliveryTokenVersion,
    delivery: options.delivery,
    throttling: options.throttling,
    watcher: trail,
    baseUrl: () => addresses.https,
  }
  const operations = createOperations(clock, options.operationDelayMs)
  const engine = createDeliveryEngine(context, state.journal)
  const provisioning = createProvisioning(context, engine, operations)
  const server = createEmulatorServer(
    authority,
    (path) => isPagePath(path) || /^\/(topics|eventsubscriptions)\//.test(path),
  )

  server.app.register(async (app) => registerTopicRoutes(app, context, engine))
  server.app.register(async (app) =>
    registerPageRoutes(app, { context, engine, trail, figures, addresses, tokens, host: options.host }),
  )
  server.app.register(async (app) => {
    recordRequests(app, 'entra', context, ({ code, message = 'The request failed.' }, id) => {
      const failure = { status: 400, error: code ?? 'temporarily_unavailable', code: 90033, message } as const
      return entraErrorBody(failure, { traceId: id, correlationId: id }, new Date(clock.now()))
    })
    registerEntraRoutes(app, context, { tokens, tokenLifetimeSeconds: options.tokenLifetimeSeconds })
  })
  server.app.register(async (app) => {
    recordRequests(app, 'arm', context, ({ status, code, message = 'The request failed.' }) => ({
      error: { code: code ?? usualArmCode(status), message },
    }))
    registerArmRoutes(app, context, {
      operations,
      provisioning,
      conflicts: options.conflicts,
      throttling: options.throttling,
      // With a delay asked for, its length is to be seen.
      statusHoldMs: options.operationDelayMs > 0 ? 0 : 1000,
      endpointOf: (topic: Topic) => `${addresses.https}/topics/${topic.name}/api/events`,
    })
  })
  const bound = await server.listen(options.host, options.port, options.httpPort).catch(async (error: unknown) => {
    await Promise.all([server.close(), engine.close()])
    throw error
  })
  const shown = options.host.includes(':') ? `[${options.host}]` : options.host
  addresses.https = `https://${shown}:${bound.port}`
  addresses.http = `http://${shown}:${bound.httpPort}`
  for (const { subscriptionId, resourceGroup } of state.store.topics()) {
    context.directory.azureSubscription(subscriptionId)?.resourceGroups.set(resourceGroup.toLowerCase(), resourceGroup)
  }
  for (const subscription of state.store.subscriptions()) engine.subscriptionChanged(subscription)
  provisioning.resume()
  engine.restore()

  const idle = async () => {
    // Operations and deliveries start each other, so both must be found idle in one look.
    do {
      await operations.idle()
      await engine.idle()
    } while (operations.running() > 0)
  }
  const quiet = async () => {
    while ((await engine.quiet()) === 'idle' && operations.running() > 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const letGo = clock instanceof ManualClock ? clock.settleWith(quiet) : () => {}
  let closing: Promise<void> | undefined
  const close = async () => {
    letGo()
    provisioning.close()
    state.freeze()
    await Promise.all([operations.close(), engine.close(), server.close()])
    state.close()
  }
  return {
    context,
    engine,
    provisioning,
    tokens,
    ca: authority.certificate,
    addresses,
    figures,
    kept: state.kept,
    setIngress: (wanted) => {
      ingress = wanted
    },
    prependIngress: (first) => {
      const rest = ingress
      ingress = (url) => first(url) ?? rest(url)
    },
    idle,
    close: () => {
      closing ??= close()
      return closing
    },
  }
}
