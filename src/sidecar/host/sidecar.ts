/** `run` put together: the APIs, the components, and the application that comes and goes. */
import { isIPv6 } from 'node:net'
import type { Endpoints } from '../../core/endpoints.ts'
import type { Logger } from '../../core/logger.ts'
import { createQuietLog } from '../../core/logger.ts'
import type { Secret } from '../../core/secret.ts'
import type { LoadedComponent } from '../../metadata/load/load-files.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { watchState } from '../../support/time/clock.ts'
import { inBackground } from '../../support/work/work.ts'
import type { LoadedInWords } from '../shared/component-excerpt.ts'
import { type ActiveComponent, withoutSecrets } from '../shared/health-and-metrics-server.ts'
import { loadGrpc } from '../shared/load-grpc.ts'
import { createCodes, createMetrics } from '../shared/metrics.ts'
import { type ApiOptions, createBindingsApi } from './api/bindings-api.ts'
import { createAppChannel } from './app/app-channel.ts'
import { type AppHealthCheck, watchApp } from './app/app-watch.ts'
import { createAnswerPublisher, createCallOutput } from './call-output.ts'
import { ComponentSet } from './component-set.ts'
import { createReload } from './reload.ts'

/** `Sources`: the files that components are loaded from, as they were read. */
export interface SidecarOptions<Sources> extends Pick<ApiOptions, 'appId' | 'app' | 'version' | 'onShutdown'> {
  readonly appToken: Secret | undefined
  readonly health: AppHealthCheck | undefined
  readonly http: { readonly host: string; readonly port: number }
  /** Where Dapr's gRPC API listens; `undefined`: that API is off. */
  readonly grpc: { readonly host: string; readonly port: number } | undefined
  readonly apiToken: Secret | undefined
  readonly endpoints: Endpoints | undefined
  readonly loggerOf: (component?: string) => Logger
  readonly components: {
    read(): Promise<Sources>
    readonly known: Sources
    load(sources: Sources): LoadedInWords
  }
}

/** Starts nothing yet. Loads gRPC only where an option asks for it. */
export async function createSidecar<Sources>(options: SidecarOptions<Sources>) {
  const { app, health, http, grpc, components, loggerOf } = options
  const logger = loggerOf()
  const metrics = createMetrics({ invoke: new Set(['OK', ...createCodes, 'UNEXPECTED']) })
  let watch: ReturnType<typeof watchApp> | undefined
  const openChannel =
    app?.protocol === 'grpc'
      ? (await loadGrpc('--app-protocol grpc', () => import('./app/grpc-app-channel.ts'))).createGrpcAppChannel
      : createAppChannel
  const channel = app && openChannel({ ...app, token: options.appToken, onGone: () => watch?.gone() })
  const running = new ComponentSet({
    channel,
    loggerOf,
    metrics,
    endpoints: options.endpoints,
    publishAnswer: (answer, signal) => publishAnswer(answer, signal),
  })
  const log = createQuietLog({ logger })
  const callOutput = createCallOutput({ running, log })
  const publishAnswer = createAnswerPublisher({ callOutput, log })
  metrics.watch(() => running.components().map((component) => component.figures()))
  const reload = createReload({ running, load: components.load, logger })
  metrics.watchConfig(reload.state)
  const waiting = new Set<'components' | 'app'>(channel ? ['components', 'app'] : ['components'])
  let isDraining = false
  const shared = { running, callOutput, listeningOn: http.host, token: options.apiToken }
  const both = { ...options, ...shared }
  const api = createBindingsApi({ ...both, notReady: () => [...waiting] })
  const grpcApi = grpc && (await loadGrpc('--grpc-port', () => import('./api/grpc-api.ts'))).createGrpcApi(both)
  const undo: (() => unknown)[] = [
    log.close,
    () => channel?.close(),
    () => Promise.all([api.close(), grpcApi?.close()]),
    () => running.close(),
  ]
  const application = createAppReport({ app, health }, logger)

  function appChanged(up: boolean): void {
    if (up) waiting.delete('app')
    // As with daprd, an application that goes away takes readiness away only where its health is checked.
    else if (health) waiting.add('app')
    application.changed(up)
    running.appIsUp(up)
  }

  return {
    observed: {
      metrics,
      get draining() {
        return isDraining
      },
      get ready() {
        const components = running.components()
        const areRouted = components.every((component) => component.health().input?.ready !== false)
        return waiting.size === 0 && components.length > 0 && areRouted
      },
      config: reload.state,
      health: () => Object.fromEntries(running.components().map((one) => [one.loaded.component.name, one.health()])),
      active: () =>
        Object.fromEntries(running.components().map(({ loaded }) => [loaded.component.name, activeOf(loaded)])),
    },
    /** Serves the API; resolves with its base URL. Rejects as `listen` does. */
    listen: () => api.listen({ host: http.host, port: http.port }),
    /** Serves the gRPC API, if that is on; resolves with its port. Rejects as `listen` does. */
    listenGrpc: async () => grpc && grpcApi?.listen(grpc),
    /** Starts the components, and follows their sources and the application. Rejects where a component can't be started. */
    async start(loaded: LoadedInWords) {
      await reload.start(loaded)
      waiting.delete('components')
      const stopWatching = watchState({ ...components, changed: reload.changed, late: reload.late })
      // Not awaited: while a change drains one component, the others would accept events. The end of the components awaits it.
      undo.push(() => inBackground(stopWatching(), application.failed))
      if (!channel) return
      const { missing, failed } = application
      watch = watchApp({ channel, health, changed: appChanged, missing, failed })
      undo.push(watch.stop)
    },
    /** Accepts no more events, and waits for the events that the application handles. Has no effect the second time. */
    async close() {
      isDraining = true
      waiting.add('components')
      for (const stop of undo.splice(0).toReversed()) await stop()
    },
  }
}

function activeOf({ component: { type, version, sides, properties, places } }: LoadedComponent): ActiveComponent {
  return { type, version, file: places.type.file, sides, metadata: withoutSecrets(properties) }
}

function createAppReport({ app, health }: Pick<SidecarOptions<unknown>, 'app' | 'health'>, logger: Logger) {
  const host = app && (isIPv6(app.address) ? `[${app.address}]` : app.address)
  const place = `${host}:${app?.port} (--app-address, --app-port)`
  let wasUp = false
  return {
    changed(up: boolean): void {
      if (up) logger.info(`the application is ${wasUp ? 'back' : 'up'} on port ${app?.port}`)
      else if (health) logger.warn(`the application is unhealthy at ${health.path}; ${meanwhile}`)
      else logger.warn(`the application is gone: nothing listens on ${place}; ${meanwhile}`)
      wasUp = true
    },
    failed: (error: unknown) => logger.error(`the application could not be watched: ${messageOf(error)}`),
    missing(): void {
      const problem = health ? `is not healthy at ${health.path} yet` : `is not there yet: nothing listens on ${place}`
      logger.warn(`the application ${problem}; ${meanwhile}`)
    },
  }
}

const meanwhile = 'until the application is ready, it gets no events, and Event Grid keeps them'
