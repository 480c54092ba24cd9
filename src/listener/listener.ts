/** The listener put together: who decides on a request, who reads it, who hands it on and who answers. */
import type { FastifyPluginAsync } from 'fastify'
import type { EventHandler } from '../core/event.ts'
import { createQuietLog } from '../core/quiet-log.ts'
import { Dispatcher, type DispatcherOptions } from '../dispatch/dispatcher.ts'
import { processRoom, type Room } from '../dispatch/room.ts'
import type { Scope } from '../metadata/fields/scope.ts'
import { type Clock, systemClock, within } from '../support/time/clock.ts'
import { type CheckCredentialOptions, createCredentialCheck } from './admit/check-credential.ts'
import type { Gate } from './admit/decide-request.ts'
import { type AnswersOptions, createAnswers } from './answers.ts'
import { createBodies } from './bodies.ts'
import { type FastifyHook, loadPlugins } from './http/host-plugins.ts'
import { refuseWithoutCodeGeneration } from './http/listen.ts'
import { listenOnceLeft } from './http/port-handover.ts'
import type { BodyBudget } from './http/request.ts'
import { createServer, type ServerLimits, serverDefaults } from './http/server.ts'
import { createPathCheck } from './paths.ts'
import { answerUnknownPath, createRoutes, createUnknownPaths } from './routes.ts'

export interface ListenerOptions
  extends Pick<CheckCredentialOptions, 'input' | 'endpoints' | 'keySetTimeoutMs'>,
    Pick<Gate, 'health' | 'subscriptionWrittenAt'>,
    Pick<AnswersOptions, 'logger' | 'onForeignDelivery'>,
    Pick<DispatcherOptions, 'secrets' | 'onError'> {
  /** The current handler; without one deliveries are answered 503. */
  readonly handler: () => EventHandler | undefined
  /** Lower-case names of the delivery attributes that the event subscription declares. @default they are not known */
  readonly declaredAttributes?: () => ReadonlySet<string> | undefined
  /** The host's plugins, hooks and routes. @default none */
  readonly fastify?: FastifyHook | undefined
  /** Called before each try to listen: the port may be that of another listener, which can give it up now. */
  readonly beforeListening?: (() => void) | undefined
  /** Whose the port is while `keepPort` keeps it. */
  readonly portOwner?: symbol | undefined
  /** Epoch milliseconds. @default Date.now, and a monotonic clock for durations */
  readonly now?: () => number
  /** Whether deliveries may be routed here; see `ready` of the health. @default true */
  readonly mayBeRouted?: () => boolean
  /** @default Node's */
  readonly clock?: Pick<Clock, 'setTimer'>
  /** Where the bytes of deliveries are counted. @default that of the process */
  readonly room?: Room
  /** Narrower bounds of the server. @default serverDefaults */
  readonly limits?: Partial<ServerLimits>
}

/**
 * Serves the subscriber endpoint on `handshakePort`. Throws PORT_UNAVAILABLE, or PLUGIN_FAILED; the port is
 * free then.
 */
export async function createListener(options: ListenerOptions) {
  refuseWithoutCodeGeneration(options.input.handshakePort)
  const { input, logger, handler, now = Date.now, clock = systemClock, room = processRoom } = options
  const elapsed = options.now ?? systemClock.elapsed
  const log = createQuietLog({ logger, now: elapsed })
  // With a log of its own, a handler that fails on every event does not crowd out warnings about other senders.
  const handlerLog = createQuietLog({ logger, now: elapsed, clock })
  const source = { eventSubscriptionName: input.eventSubscriptionName, destination: resourceOf(input.scope) }
  const { secrets, onError, health, subscriptionWrittenAt, onForeignDelivery } = options
  const { mayBeRouted = () => true, declaredAttributes = () => undefined } = options
  const dispatcher = new Dispatcher({
    ...input,
    ...source,
    handler,
    onError,
    secrets,
    log: handlerLog,
    now: elapsed,
    clock,
  })
  const closing = new AbortController()

  if (input.deliveryAuthentication.kind === 'none') {
    logger.warn(
      'deliveries are accepted without a credential, because deliveryAuthentication is none; ' +
        'anybody who can reach the subscriber endpoint can send events',
    )
  }

  let isDraining = false
  const isReady = () => !isDraining && mayBeRouted()
  const gate: Gate = {
    handler,
    health,
    isReady,
    isDraining: () => isDraining,
    subscriptionWrittenAt,
    now,
    allowedOrigin: input.environment.eventGridOrigin,
    eventSubscriptionName: input.eventSubscriptionName.toLowerCase(),
    maxRequestBytes: input.maxRequestBytes,
    checkCredential: await createCredentialCheck({ ...options, log, closing: closing.signal, now, elapsed }),
  }
  const limits = limitsFor(options)
  const server = createServer({
    limits,
    log,
    clock,
    isOurPath: createPathCheck(input.subscriberEndpoint),
    onBadPath: (reply) => answerUnknownPath(answers, reply),
  })
  const { isCrowded } = server
  const answers = createAnswers({ scope: input.scope, logger, log, source, onForeignDelivery, now, isCrowded })
  const routes = createRoutes({
    gate,
    answers,
    elapsed,
    keepConnection: server.keep,
    bodies: createBodies({ dispatcher, answers, log, source, input, declaredAttributes, isReady }),
    room,
    clock,
    validationBudget:
      options.limits?.maxUnprovenBytes === undefined
        ? processBudget
        : { maxBytes: limits.maxUnprovenBytes, usedBytes: 0 },
  })
  const listening = await openServer(server, options, [routes, createUnknownPaths(answers)])

  return {
    address: listening.address,
    status: () => ({ draining: isDraining, ...dispatcher.load(), ...answers.figures() }),
    /** Answers new deliveries 503 and waits for running handlers, for `handlerTimeout` at most. */
    async drain(): Promise<void> {
      isDraining = true
      dispatcher.stop()
      listening.closeIdleConnections()
      await within(clock, input.handlerTimeoutMs, dispatcher.idle())
    },
    /** Frees the port, whatever still runs. */
    async close(): Promise<void> {
      isDraining = true
      dispatcher.stop()
      closing.abort()
      await listening.close()
      handlerLog.close()
    },
  }
}

/** The name of the topic or resource that a scope ends with. */
function resourceOf(scope: Scope): string | undefined {
  return 'path' in scope ? scope.path.at(-1)?.name : undefined
}

/** For bodies without proof, of all listeners of the process. */
const processBudget: BodyBudget = { maxBytes: serverDefaults.maxUnprovenBytes, usedBytes: 0 }

/** Connections that there is room for, however small the metadata's own limits are. */
const roomForConnections = 1_024

function limitsFor({ input, limits }: ListenerOptions): ServerLimits {
  return {
    ...serverDefaults,
    maxConnections: Math.max(roomForConnections, 4 * input.maxConcurrency),
    ...limits,
  }
}

/** Loads the plugins and listens; closes the server if that fails, because the host's plugins may hold resources. */
async function openServer(
  { app, createBindable, close }: ReturnType<typeof createServer>,
  { input, fastify, beforeListening, portOwner }: ListenerOptions,
  plugins: readonly FastifyPluginAsync[],
) {
  try {
    await loadPlugins(app, fastify, plugins)
    const { listenAddress: host, handshakePort: port } = input
    return await listenOnceLeft({ create: createBindable, host, port }, portOwner, beforeListening)
  } catch (error) {
    await close()
    throw error
  }
}
