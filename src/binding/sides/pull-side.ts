/** Pull delivery put together: the Queue event subscription first, then the receiver, by key or token. */
import { refuseUnusableProxy } from '../../azure/proxy.ts'
import { namespaceUrl } from '../../core/endpoints.ts'
import { scrub } from '../../core/scrub.ts'
import type { CurrentHandler } from '../../dispatch/handler.ts'
import type { PullMetadata, PushMetadata } from '../../metadata/typed/metadata.ts'
import { Receiver, waitUntilReceivable } from '../../receiver/receiver.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { systemClock } from '../../support/time/clock.ts'
import { inBackground } from '../../support/work/work.ts'
import { decidePullHealth } from '../health.ts'
import { type InputSide, loadCredential, type SideOptions } from '../side.ts'
import { createSubscriptionKeeper } from '../upkeep/subscription-keeper.ts'

/**
 * The input side by pull delivery: no listener. With a credential, the Queue event subscription is created or updated
 * first; with the namespace's key and endpoint alone, Azure Resource Manager is not asked.
 *
 * @throws BindingError where endpoint or credential can't be used
 */
export async function createPullSide(
  pull: PullMetadata,
  options: SideOptions & {
    readonly handler: CurrentHandler
    readonly formers?: readonly PushMetadata[]
  },
): Promise<InputSide> {
  const { endpoints, logger, secrets, handler, clock = systemClock } = options
  const { credential, namespaceEndpoint: given, provisioning } = pull
  if (given) refuseUnusableProxy(namespaceUrl(given, endpoints))
  const control =
    provisioning !== 'none' && credential
      ? (await import('../upkeep/subscription-control.ts')).connectNamespace(pull, options)
      : undefined
  const keeper =
    provisioning !== 'none' && control
      ? createSubscriptionKeeper({ connect: async () => control, logger, provisioning, clock })
      : undefined
  // The namespace's key does all where there is one.
  const alone = pull.namespaceKey ? undefined : credential
  const token = control?.credential ?? (alone && (await loadCredential(alone, pull, options)))
  let receiver: Receiver | undefined
  let whyNotStarted: string | undefined
  let isClosing = false
  let closed = false
  let former: Promise<void> | undefined
  const endUpkeep = async () => void (await Promise.all([former, keeper?.close()]))

  /** The options of a receiver; `undefined` until the host of the namespace is known. */
  function receiverOptions() {
    const namespaceEndpoint = given ? namespaceUrl(given, endpoints) : control?.namespaceEndpoint()
    return namespaceEndpoint === undefined
      ? undefined
      : { ...options, clock, pull, namespaceEndpoint, credential: token }
  }

  function receive(): void {
    const known = receiverOptions()
    // After close() nothing is received, and one receiver is enough.
    if (!known || receiver || isClosing) return
    receiver = new Receiver(known)
    const { namespaceTopic, eventSubscriptionName: eventSubscription } = pull
    logger.info('receiving events', { namespaceTopic: namespaceTopic.id, eventSubscription })
  }

  function notStarted(error: unknown): void {
    whyNotStarted = scrub(messageOf(error), secrets?.())
    logger.error(`events cannot be received: ${whyNotStarted}`)
  }

  return {
    address: () => undefined,
    // Former event subscriptions of push may deliver again once push is back.
    accepts: () => options.formers ?? [],
    async listen() {},
    async start(subscription, signal, formerUpkeep) {
      former = formerUpkeep
      if (subscription === 'wait') {
        await keeper?.bringUp('timeout', signal, formerUpkeep)
        const known = receiverOptions()
        // Resource Manager does not tell whether the key is right, or whether a role lets events be received: the namespace is asked.
        if (known) await waitUntilReceivable(known, signal)
        receive()
        return
      }
      // Where the endpoint is known, receiving does not wait for ARM.
      if (given !== undefined) receive()
      // In the background only close ends the attempts; each failure is logged by the upsert itself.
      const broughtUp = keeper?.bringUp('forever', undefined, formerUpkeep).then(receive, () => {})
      if (broughtUp) inBackground(broughtUp, notStarted)
    },
    endUpkeep,
    handlerChanged: () => receiver?.handlerAttached(),
    health: () =>
      decidePullHealth({
        closed,
        handler,
        subscription: keeper?.state(),
        timesDeleted: keeper?.timesDeleted() ?? 0,
        receiver: receiver?.status(),
        whyNotStarted,
      }),
    // A receiver holds no port. The receiver ends with `close`, which follows.
    stop() {},
    isHandling: () => receiver?.isHandling() ?? false,
    async close(hurry) {
      isClosing = true
      await Promise.all([receiver?.close(hurry), endUpkeep()])
      closed = true
    },
  }
}
