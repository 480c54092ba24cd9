/** Pull delivery put together: the Queue event subscription first, then the receiver, by key or token. */
import { isUtf8 } from 'node:buffer'
import { refuseUnusableProxy } from '../../azure/proxy.ts'
import { explainNamespaceRefusal } from '../../azure/refusals/namespace-refusal.ts'
import type { RenewableCredential } from '../../azure/token-keeper.ts'
import { namespaceUrl } from '../../core/endpoints.ts'
import type { EventHandler } from '../../core/event.ts'
import { createQuietLog, type QuietLog } from '../../core/quiet-log.ts'
import { scrub } from '../../core/scrub.ts'
import { Dispatcher, type DispatcherOptions } from '../../dispatch/dispatcher.ts'
import { readParsedEvent } from '../../dispatch/read-delivery.ts'
import type { PullMetadata } from '../../metadata/typed/metadata.ts'
import { createNamespaceClient } from '../../receiver/namespace-client.ts'
import { traceClient } from '../../receiver/receive-trace.ts'
import { createReceiver, type EventDispatch, type Receiver } from '../../receiver/receiver.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { systemClock } from '../../support/time/clock.ts'
import { inBackground } from '../../support/work/in-background.ts'
import { decidePullHealth } from '../health.ts'
import type { SideOptions } from '../side-options.ts'
import { createSubscriptionKeeper } from '../upkeep/subscription-keeper.ts'
import type { InputSide } from './input-side.ts'

/**
 * The input side by pull delivery: no listener. With a credential, the Queue event subscription is created or updated
 * first; with the namespace's key and endpoint alone, Azure Resource Manager is not asked.
 *
 * @throws BindingError where endpoint or credential can't be used
 */
export async function createPullSide(
  pull: PullMetadata,
  options: SideOptions & { readonly handler: () => EventHandler | undefined },
): Promise<InputSide> {
  const { endpoints, logger, secrets, handler, clock = systemClock } = options
  const { credential, namespaceEndpoint: given } = pull
  const { provisioning } = pull
  if (given) refuseUnusableProxy(namespaceUrl(given, endpoints))
  const control =
    provisioning !== 'none' && credential
      ? (await import('../upkeep/subscription-control.ts')).connectNamespace(pull, options)
      : undefined
  const keeper =
    provisioning !== 'none' && control
      ? createSubscriptionKeeper({ connect: async () => control, logger, provisioning, clock })
      : undefined
  const receiving = control?.credential ?? (await credentialAlone(pull, options))
  const closing = new AbortController()
  const handlerLog = createQuietLog({ logger, now: () => clock.elapsed(), clock })
  let receiver: Receiver | undefined
  let whyNotStarted: string | undefined
  let closed = false

  function receive(): void {
    const namespaceEndpoint = given ? namespaceUrl(given, endpoints) : control?.namespaceEndpoint()
    // After close() nothing is received, and one receiver is enough.
    if (namespaceEndpoint === undefined || receiver || closing.signal.aborted) return
    receiver = startReceiver(pull, { ...options, namespaceEndpoint, credential: receiving, handlerLog })
    const { namespaceTopic, eventSubscriptionName: eventSubscription } = pull
    logger.info('receiving events', { namespaceTopic: namespaceTopic.id, eventSubscription })
  }

  function notStarted(error: unknown): void {
    whyNotStarted = scrub(messageOf(error), secrets?.())
    logger.error(`events cannot be received: ${whyNotStarted}`)
  }

  return {
    address: () => undefined,
    async start(subscription, signal) {
      if (subscription === 'wait') {
        await keeper?.bringUp('timeout', signal)
        receive()
        return
      }
      // Where the endpoint is known, receiving does not wait for ARM.
      if (given !== undefined) receive()
      // In the background only close ends the attempts; each failure is logged by the upsert itself.
      const broughtUp = keeper?.bringUp('forever').then(receive, () => {})
      if (broughtUp) inBackground(broughtUp, notStarted)
    },
    handlerChanged: () => receiver?.handlerAttached(),
    health: () =>
      decidePullHealth({
        closed,
        handlerAttached: handler() !== undefined,
        subscription: keeper?.state(),
        timesDeleted: keeper?.timesDeleted() ?? 0,
        receiver: receiver?.status(),
        whyNotStarted,
      }),
    isHandling: () => receiver?.isHandling() ?? false,
    async close() {
      closing.abort()
      await Promise.all([receiver?.close(pull.handlerTimeoutMs), keeper?.close()])
      handlerLog.close()
      closed = true
    },
  }
}

/** The credential to receive with where ARM is not asked; `undefined` where the namespace's key does. */
async function credentialAlone(
  { credential, namespaceKey, environment }: PullMetadata,
  options: SideOptions,
): Promise<RenewableCredential | undefined> {
  if (!credential || namespaceKey) return undefined
  const { createCredential } = await import('../../azure/credential.ts')
  return createCredential(credential, { ...options, environment })
}

function startReceiver(
  pull: PullMetadata,
  options: SideOptions & {
    readonly handler: () => EventHandler | undefined
    readonly namespaceEndpoint: string
    readonly credential: RenewableCredential | undefined
    readonly handlerLog: QuietLog
  },
): Receiver {
  const { endpoints, logger, handler, namespaceEndpoint, credential, clock = systemClock } = options
  const { namespaceTopic, eventSubscriptionName, namespaceKey: key, environment, maxConcurrency } = pull
  const now = () => clock.elapsed()
  const log = createQuietLog({ logger, now })
  const authentication = key
    ? ({ kind: 'key', key } as const)
    : credential && ({ kind: 'entra', credential, scope: environment.topicScope } as const)
  // The metadata was checked for one of both.
  if (!authentication) throw new Error('pull delivery has neither a key nor a credential')
  const at = { namespaceEndpoint, topicName: namespaceTopic.topic, eventSubscriptionName }
  return createReceiver({
    client: traceClient(createNamespaceClient({ ...at, authentication, endpoints }), at),
    createDispatch: (onCallEnd) =>
      createEventDispatch(pull, { handler, now, log: options.handlerLog, secrets: options.secrets, clock, onCallEnd }),
    lockDurationMs: pull.lockDurationSeconds === undefined ? undefined : pull.lockDurationSeconds * 1000,
    hasHandler: () => handler() !== undefined,
    remedy: (failure) => explainNamespaceRefusal(failure, pull),
    eventSubscriptionName,
    maxConcurrency,
    log,
    logger,
    clock,
  })
}

/** The dispatcher of push. Each event is a delivery of its own, because each is settled by itself. */
function createEventDispatch(
  pull: PullMetadata,
  options: Pick<DispatcherOptions, 'handler' | 'now' | 'log' | 'secrets' | 'clock' | 'onCallEnd'>,
): EventDispatch {
  const dispatcher = new Dispatcher({ ...pull, destination: pull.namespaceTopic.topic, ...options })
  return {
    dispatch(events) {
      for (const { bytes, value, metadata, redelivered, settle } of events) {
        dispatcher.dispatch({
          members: [isUtf8(bytes) ? readParsedEvent(bytes, value) : { invalid: 'it is not UTF-8' }],
          metadata,
          bytes: bytes.length,
          // Read for each event: a synchronous handler that works long must not use up the time of the events behind its own.
          arrivedAt: options.now(),
          redelivered,
          settle: ([outcome = 'notTried'], onKnown) => settle(outcome, onKnown),
        })
      }
    },
    stop: () => dispatcher.stop(),
    idle: () => dispatcher.idle(),
    get running() {
      return dispatcher.load().running
    },
  }
}
