import { BindingError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { PullMetadata } from '../metadata/metadata.ts'
import type { SteadyClock } from '../support/clock.ts'
import type { UnknownRecord } from '../support/is-record.ts'
import { readFailure } from './arm-failure.ts'
import { pauseWithin } from './call-limits.ts'
import type { PutDecision } from './decide-put.ts'
import { explainFailure, type FailureContext } from './explain-failure.ts'
import { decideForwarding } from './forwarding-subscription.ts'
import { judgeFailure } from './judge-failure.ts'
import type { NamespaceArm, SubscriptionPlace } from './namespace-arm.ts'
import { decideQueueUpsert } from './queue-subscription.ts'
import { type Persistence, repeatAttempts, type UpsertOutcome } from './repeat-attempts.ts'
import { chooseSubscriptionPath } from './subscription-path.ts'

export interface QueueUpsertOptions extends Persistence {
  readonly arm: NamespaceArm
  readonly pull: PullMetadata
  readonly logger: Logger
  readonly clock: SteadyClock
  /** Receives the host name of the namespace. Without it ARM is not asked for the name. */
  readonly onHostname?: (hostname: string) => void
}

const changingPauseMs = 2_000

export const queuePlace = ({ namespaceTopic, eventSubscriptionName }: PullMetadata): SubscriptionPlace => ({
  id: `${namespaceTopic.id}/eventSubscriptions/${eventSubscriptionName}`,
  sourceId: namespaceTopic.id,
})

/** Where the event subscription is kept that forwards a scope's events; `undefined` where there is no such scope. */
export function forwardingPlace({
  forwardedScope,
  eventSubscriptionName,
}: PullMetadata): SubscriptionPlace | undefined {
  if (!forwardedScope) return undefined
  const provider = chooseSubscriptionPath(forwardedScope).kind === 'extension' ? '/providers/Microsoft.EventGrid' : ''
  const { id: sourceId } = forwardedScope
  return { id: `${sourceId}${provider}/eventSubscriptions/${eventSubscriptionName}`, sourceId }
}

/**
 * Creates the Queue event subscription of a namespace topic, or changes it to what the metadata asks for; then the same
 * for the event subscription that forwards another scope's events to the topic. Reads the host name of the namespace last.
 *
 * @throws BindingError CREDENTIALS_REJECTED, PERMISSION_DENIED, PROVIDER_NOT_REGISTERED, SCOPE_NOT_FOUND,
 * SUBSCRIPTION_REJECTED, TIMEOUT or ABORTED
 */
export async function upsertQueue(options: QueueUpsertOptions): Promise<UpsertOutcome> {
  const { arm, pull, signal, logger, clock, onHostname } = options
  const { eventSubscriptionName: name, namespaceTopic, subscriptionTimeoutMs: timeoutMs } = pull
  const queue = queuePlace(pull)
  const forwarding = forwardingPlace(pull)
  let sourceId = queue.sourceId
  const context = () => queueFailureContext(pull, arm.resourceManager, sourceId)

  /** Who knows the namespace's endpoint can receive without any right at Azure Resource Manager (role EventGrid Data Receiver). */
  async function attemptOnce(deadline: number): Promise<UpsertOutcome> {
    try {
      const outcome = await upsertBoth(deadline)
      if (onHostname) await readHostname(onHostname, deadline)
      return outcome
    } catch (error) {
      const failure = readFailure(error, clock.now())
      if (pull.namespaceEndpoint === undefined || judgeFailure(failure) !== 'permission') throw error
      const { what, fix } = explainFailure(failure, context())
      logger.warn(
        `events are received from the event subscription ${name} as it is: ${what}; to have it created and updated, ${fix}`,
      )
      return { action: 'notPermitted' }
    }
  }

  async function upsertBoth(deadline: number): Promise<UpsertOutcome> {
    sourceId = queue.sourceId
    const own = await upsertOne(queue, (existing) => decideQueueUpsert(existing, pull), deadline)
    if (!forwarding) return own
    sourceId = forwarding.sourceId
    const forwarded = await upsertOne(forwarding, (existing) => decideForwarding(existing, pull), deadline)
    return own.action === 'kept' ? forwarded : own
  }

  async function readHostname(onRead: (hostname: string) => void, deadline: number): Promise<void> {
    sourceId = namespaceTopic.namespaceId
    onRead(await arm.readHostname(sourceId, { signal, deadline }))
  }

  /** Reads, decides, writes if necessary, and reads again. */
  async function upsertOne(
    place: SubscriptionPlace,
    decide: (existing: UnknownRecord | undefined) => PutDecision,
    deadline: number,
  ): Promise<UpsertOutcome> {
    const limits = { signal, deadline }
    let wrote: 'created' | 'replaced' | undefined
    for (;;) {
      const existing = await arm.read(place, limits)
      const upsert = decide(existing)
      if (upsert.action === 'keep') return wrote ? { action: wrote, wroteAt: clock.now() } : { action: 'kept' }
      if (upsert.action === 'refuse') {
        const what = `the event subscription ${name} of ${place.sourceId} was left unchanged: ${upsert.because}`
        throw new BindingError('SUBSCRIPTION_REJECTED', { what, fix: upsert.fix })
      }
      if (upsert.action === 'wait') {
        const message = `the event subscription ${name} is still ${upsert.state}`
        await pauseWithin(limits, { clock, ms: changingPauseMs, message })
        continue
      }
      // Somebody else writes it too. A second write in one attempt would only prolong that.
      if (wrote) {
        logger.warn(`the event subscription ${name} differs from what was written: ${upsert.because}`)
        return { action: wrote, wroteAt: clock.now() }
      }
      logger.info(`${existing ? 'updating' : 'creating'} the event subscription ${name}: ${upsert.because}`, {
        scope: place.sourceId,
      })
      await arm.put(place, upsert.properties, limits)
      wrote = existing ? 'replaced' : 'created'
    }
  }

  const scopeId = namespaceTopic.id
  return repeatAttempts({ ...options, random: Math.random, name, scopeId, timeoutMs, attemptOnce, context })
}

/** What the explanation of a failure names, at the namespace topic, its namespace or the scope that is forwarded. */
export function queueFailureContext(pull: PullMetadata, resourceManager: string, scopeId: string): FailureContext {
  const { namespaceTopic, credential } = pull
  return {
    scopeId,
    pathKind: 'namespaceTopic',
    isHostRead: scopeId === namespaceTopic.namespaceId,
    subscriptionId: namespaceTopic.subscriptionId,
    eventSubscriptionName: pull.eventSubscriptionName,
    clientId: pull.clientId,
    // No handshake belongs to a Queue event subscription.
    subscriberEndpoint: '',
    handshakePort: 0,
    resourceManager,
    secrets: credential?.kind === 'clientSecret' ? [credential.clientSecret.reveal()] : [],
  }
}
