/** The listener put together: who decides on a request, who reads it, who hands it on and who answers; and the plugins of the host. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { BindingError } from '../core/errors.ts'
import { createQuietLog, type Logger } from '../core/logger.ts'
import { Dispatcher, type DispatcherOptions } from '../dispatch/dispatcher.ts'
import type { CurrentHandler } from '../dispatch/handler.ts'
import { processRoom, type Room } from '../dispatch/room.ts'
import type { Scope } from '../metadata/fields/scope.ts'
import { messageOf } from '../support/process/error-code.ts'
import { type SteadyClock, systemClock, within } from '../support/time/clock.ts'
import { type CheckCredentialOptions, createCredentialCheck, type Gate } from './admission.ts'
import { type AnswersOptions, createAnswers } from './answers.ts'
import { createFormerDeliveries, type FormerDeliveriesOptions } from './former-deliveries.ts'
import { createPathCheck } from './request.ts'
import { answerUnknownPath, createRoutes, createUnknownPaths, type DeclaredAttributes } from './routes.ts'
import { createServer, freeingMs, listen, type ServerLimits, serverDefaults } from './server.ts'

export interface ListenerOptions
  extends Pick<CheckCredentialOptions, 'input' | 'endpoints' | 'keySetTimeoutMs'>,
    Pick<Gate, 'health' | 'subscriptionWrittenAt'>,
    Pick<AnswersOptions, 'onForeignDelivery' | 'onSubscriptionDeleted'>,
    Partial<Pick<FormerDeliveriesOptions, 'formers' | 'credentialReadAt'>>,
    Pick<DispatcherOptions, 'secrets' | 'onError'> {
  readonly logger: Logger
  /** The current handler; without one deliveries are answered 503. */
  readonly handler: CurrentHandler
  /** @default they are not known */
  readonly declared?: DeclaredAttributes
  /** The host's plugins, hooks and routes. @default none */
  readonly fastify?: FastifyHook | undefined
  /** Whether deliveries may be routed here; see `ready` of the health. @default true */
  readonly mayBeRouted?: () => boolean
  /** @default the machine's */
  readonly clock?: SteadyClock
  /** Where the bytes of deliveries are counted. @default the room of the process */
  readonly room?: Room
  /** Narrower bounds of the server. @default serverDefaults */
  readonly limits?: Partial<ServerLimits>
}

/**
 * Makes a listener that serves the subscriber endpoint once it listens on `handshakePort`. The host's plugins are loaded.
 *
 * @throws BindingError PORT_UNAVAILABLE where Node allows no HTTP server, or PLUGIN_FAILED
 */
export async function createListener(options: ListenerOptions) {
  try {
    // Where Node makes no functions of text, Fastify's router would throw in a timer, which ends the process.
    new Function()
  } catch (cause) {
    const what = "the HTTP server can't be made, as Node runs with --disallow-code-generation-from-strings"
    throw new BindingError('PORT_UNAVAILABLE', { what, fix: 'start Node without that option', cause })
  }
  const { input, logger, clock = systemClock, room = processRoom } = options
  const { mayBeRouted = () => true, declared = { attributes: undefined } } = options
  const log = createQuietLog({ logger, clock })
  const source = { eventSubscriptionName: input.eventSubscriptionName, destination: resourceOf(input.scope) }
  const common = { ...options, clock, log }
  const dispatcher = new Dispatcher({ ...common, ...input, ...source })
  const closing = new AbortController()

  if (input.deliveryAuthentication.kind === 'none') {
    logger.warn(
      'deliveries are accepted without a credential, because deliveryAuthentication is none; ' +
        'anybody who can reach the subscriber endpoint can send events',
    )
  }

  let address: AddressInfo | undefined
  const check = { ...common, closing: closing.signal }
  const formers = await createFormerDeliveries({ formers: [], credentialReadAt: () => undefined, ...check })
  const gate: Gate = {
    ...common,
    isReady: () => !gate.isDraining && mayBeRouted(),
    isDraining: false,
    allowedOrigin: input.environment.eventGridOrigin,
    eventSubscriptionName: input.eventSubscriptionName.toLowerCase(),
    maxRequestBytes: input.maxRequestBytes,
    manages: input.provisioning === 'manage',
    checkCredential: formers.withPresent(await createCredentialCheck(check)),
    namesFormer: formers.areNamedBy,
  }
  const server = createServer({
    limits: limitsFor(options),
    log,
    clock,
    isOurPath: createPathCheck(...[input, ...formers.inputs()].map(({ subscriberEndpoint }) => subscriberEndpoint)),
    onBadPath: (reply) => answerUnknownPath(answers, reply),
  })
  const { isCrowded } = server
  const answers = createAnswers({ ...common, source, isCrowded, allHang: () => dispatcher.allHang })
  const routes = createRoutes({ ...common, gate, answers, dispatcher, declared, room, keepConnection: server.keep })
  try {
    await loadPlugins(server.app, options.fastify, [routes, createUnknownPaths(answers)])
  } catch (error) {
    // The host's plugins may hold resources.
    await close()
    throw error
  }

  function takeNothing(): void {
    gate.isDraining = true
    dispatcher.stop()
  }

  async function close(): Promise<void> {
    takeNothing()
    address = undefined
    closing.abort()
    await server.close()
    log.close()
  }

  return {
    /** The address; `undefined` while the listener does not listen. */
    address: () => address,
    status: () => ({ draining: gate.isDraining, ...dispatcher.status(), ...answers.figures() }),
    /** The metadata by which deliveries are accepted: the present metadata, then former metadata. */
    accepts: () => [input, ...formers.inputs()],
    /**
     * Listens. To be called once.
     *
     * @param waitMs how long a port in use is tried, in ms. @default 2_000
     * @throws BindingError PORT_UNAVAILABLE, or the reason of `signal`; the listener is closed then
     */
    async listen(signal: AbortSignal, waitMs = freeingMs): Promise<void> {
      const { listenAddress: host, handshakePort: port } = input
      try {
        address = await listen(server.app, { host, port, freeingMs: waitMs }, signal)
      } catch (error) {
        await close()
        throw error
      }
    },
    /** Frees the port at once. What comes on open connections is answered 503, and handlers go on. */
    stop(): void {
      takeNothing()
      address = undefined
      server.stop()
    },
    /** Answers new deliveries 503 and waits for running handlers, for `handlerTimeout` at most. */
    async drain(): Promise<void> {
      takeNothing()
      server.closeIdle()
      await within(clock, input.handlerTimeoutMs, dispatcher.idle())
    },
    /** Frees the port and ends the connections, whatever still runs. */
    close,
  }
}

/** The name of the topic or resource that a scope ends with. */
function resourceOf(scope: Scope): string | undefined {
  return 'path' in scope ? scope.path.at(-1)?.name : undefined
}

/** Connections that there is room for, however small the metadata's own limits are. */
const roomForConnections = 1_024

function limitsFor({ input, limits }: ListenerOptions): ServerLimits {
  return {
    ...serverDefaults,
    maxConnections: Math.max(roomForConnections, 4 * input.maxConcurrency),
    ...limits,
  }
}

/** The option `fastify`: a host adds plugins, hooks and routes of its own to the server of the listener. */
export type FastifyHook = (server: FastifyInstance) => unknown

/** Fastify's mark of a plugin that is not encapsulated, which is how the host's plugins and hooks see the whole server. */
const skipOverride = Symbol.for('skip-override')

/**
 * Loads the host's plugins, then `ours`, so that hooks of the host see deliveries too. Fastify gives each plugin ten seconds.
 * @throws BindingError PLUGIN_FAILED
 */
export async function loadPlugins(
  app: FastifyInstance,
  host: FastifyHook | undefined,
  ours: readonly FastifyPluginAsync[],
): Promise<void> {
  const load = async () => {
    try {
      await host?.(app)
    } catch (error) {
      // Fastify would take `undefined` for a success.
      fail(error)
    }
  }
  try {
    await app.register(Object.assign(load, { [skipOverride]: true }))
    for (const plugin of ours) await app.register(plugin)
    await app.ready()
  } catch (error) {
    fail(error)
  }
}

function fail(cause: unknown): never {
  if (cause instanceof BindingError && cause.code === 'PLUGIN_FAILED') throw cause
  throw new BindingError('PLUGIN_FAILED', {
    what: `the option fastify failed: ${messageOf(cause)}`,
    fix: 'correct the plugins, hooks and routes that it adds',
    cause,
  })
}
