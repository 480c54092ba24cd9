// Creating or updating the pull queue subscription and its forwarding; without ARM rights.
import { BindingError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { PullMetadata } from '../../metadata/typed/metadata.ts'
import type { SteadyClock } from '../../support/time/clock.ts'
import { readFailure } from '../arm/arm-failure.ts'
import { type CallLimits, pauseWithin } from '../arm/call-limits.ts'
import type { NamespaceArm } from '../arm/namespace-arm.ts'
import { type PullSubscription, pullSubscriptions } from '../decide/pull-subscriptions.ts'
import { explainFailure, type FailureContext } from '../explain/explain-failure.ts'
import { judgeFailure } from '../explain/judge-failure.ts'
import { type Persistence, repeatAttempts, type UpsertOutcome } from './repeat-attempts.ts'

export interface QueueUpsertOptions extends Persistence {
  readonly arm: NamespaceArm
  readonly pull: PullMetadata
  readonly logger: Logger
  readonly clock: SteadyClock
  /** Receives the host name of the namespace. Without it ARM is not asked for the name. */
  readonly onHostname?: (hostname: string) => void
}

const changingPauseMs = 2_000

/**
 * Creates the Queue event subscription of a namespace topic, or changes it to what the metadata asks for; then the same
 * for the event subscription that forwards another scope's events to the topic. Reads the host name of the namespace last.
 *
 * @throws BindingError CREDENTIALS_REJECTED, PERMISSION_DENIED, PROVIDER_NOT_REGISTERED, SCOPE_NOT_FOUND,
 * SUBSCRIPTION_REJECTED, TIMEOUT or ABORTED
 */
export async function upsertQueue(options: QueueUpsertOptions): Promise<UpsertOutcome> {
  const { arm, pull, signal, logger, clock, onHostname } = options
  const { eventSubscriptionName: name, namespaceTopic } = pull
  const scopeId = namespaceTopic.id
  let askedId = scopeId
  const context = () => queueFailureContext(pull, arm.resourceManager, askedId)

  /** Who knows the namespace's endpoint can receive without any right at Azure Resource Manager (role EventGrid Data Receiver). */
  async function attemptOnce(deadline: number): Promise<UpsertOutcome> {
    try {
      return await upsertAll(deadline)
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

  async function upsertAll(deadline: number): Promise<UpsertOutcome> {
    const limits = { signal, deadline }
    let outcome: UpsertOutcome = { action: 'kept' }
    for (const subscription of pullSubscriptions(pull)) {
      askedId = subscription.sourceId
      const own = await upsertOne(subscription, limits)
      if (outcome.action === 'kept') outcome = own
    }
    if (onHostname) {
      askedId = namespaceTopic.namespaceId
      onHostname(await arm.readHostname(askedId, limits))
    }
    return outcome
  }

  /** Reads, decides, writes if necessary, and reads again. */
  async function upsertOne(subscription: PullSubscription, limits: CallLimits): Promise<UpsertOutcome> {
    const { sourceId } = subscription
    let wrote: 'created' | 'replaced' | undefined
    for (;;) {
      const existing = await arm.read(subscription, limits)
      const upsert = subscription.decide(existing)
      if (upsert.action === 'keep') return wrote ? { action: wrote, wroteAt: clock.now() } : { action: 'kept' }
      if (upsert.action === 'refuse') {
        const what = `the event subscription ${name} of ${sourceId} was left unchanged: ${upsert.because}`
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
      const doing = existing ? 'updating' : 'creating'
      logger.info(`${doing} the event subscription ${name}: ${upsert.because}`, { scope: sourceId })
      await arm.put(subscription, upsert.properties, limits)
      wrote = existing ? 'replaced' : 'created'
    }
  }

  return repeatAttempts({ ...options, input: pull, random: Math.random, scopeId, attemptOnce, context })
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
