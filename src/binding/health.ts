// Healthy, degraded or unhealthy: the reasons' texts, and the readiness flag of each side.
import type { PullCounts } from '../receiver/pull-counts.ts'
import type { ReceiverStatus } from '../receiver/receiver.ts'
import type { SubscriptionState } from './upkeep/subscription-state.ts'

/** `healthy`: everything works. `degraded`: an operator should look at it. `unhealthy`: it does not work. */
export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy'

/** The health of one side, with every reason why it is not healthy. Holds no secret. */
export interface SideHealth {
  readonly status: HealthStatus
  /** A sentence each; empty when healthy. */
  readonly reasons: readonly string[]
}

/** The input side's state. */
export interface InputHealth extends SideHealth {
  /**
   * Deliveries since the listener started, by the status of the answer: `{ 200: 1_204, 503: 3 }`. Handshakes and strangers are not
   * counted.
   */
  readonly answered: Readonly<Record<string, number>>
  /**
   * Requests of strangers, such as scanners, by the status of the answer: POSTs that neither carry a credential of ours nor name our event
   * subscription. Empty with `deliveryMode: pull`.
   */
  readonly strangers: Readonly<Record<string, number>>
  /**
   * For a readiness probe: false while no ingress should route deliveries here. That is so before `init`, after `close`, and at the start
   * of a rotation while the event subscription delivers without our credential and another replica answers for the endpoint: for half a
   * minute at most. Always true with `deliveryMode: pull`.
   */
  readonly ready: boolean
  /** With `deliveryMode: pull`, once receiving has begun. */
  readonly pull?: PullCounts
}

/** The result of {@link Binding.health}. A side that is not configured is absent. */
export interface Health {
  /** The worse of the two sides; `unhealthy` before `init` and after `close`. */
  readonly status: HealthStatus
  readonly input?: InputHealth
  readonly output?: SideHealth
}

export interface InputFacts {
  readonly closed: boolean
  /** What is judged of the listener's status; absent before the listener is up. Spelt out: users' compilers read these types. */
  readonly listener:
    | {
        readonly draining: boolean
        readonly answered: Readonly<Record<string, number>>
        readonly strangers: Readonly<Record<string, number>>
        readonly foreign: { readonly lastAt: number } | undefined
        readonly failing: { readonly count: number; readonly since: number; readonly lastAt: number } | undefined
      }
    | undefined
  readonly handlerAttached: boolean
  readonly subscription: SubscriptionState
  /** False while the event subscription delivers without our credential, to another replica. */
  readonly mayBeRouted: boolean
}

/** How long a delivery of our event subscription without a known credential degrades the health: a repair and a redelivery fit in. */
const foreignDeliveryMs = 5 * 60_000

/**
 * When failing deliveries degrade the health: so many in a row, in a minute or more, the last one lately. A single event that nobody can
 * handle is tried seven times in its first hour.
 */
const manyFailures = { count: 10, ms: 60_000, latelyMs: 5 * 60_000 }

/** Why nobody takes events: who reads it may run the library, `run` or `serve`. */
const noHandler =
  'no application takes events: no handler is attached (library), the application is not ready (run), ' +
  'or daprd has not asked for events (serve)'

/** Judges the input side: unhealthy accepts no deliveries, degraded accepts them and needs attention. */
export function judgeInput(facts: InputFacts, now: number): InputHealth {
  const { draining, foreign, failing, answered = {}, strangers = {} } = facts.listener ?? {}
  const reasons: string[] = []
  if (facts.closed) reasons.push('the listener does not listen')
  if (draining) reasons.push('the binding is closing')
  const down = reasons.length > 0
  const isMissing = facts.subscription.state === 'missing'
  if (!facts.handlerAttached) reasons.push(`${noHandler}: deliveries are answered 503, and Event Grid sends them again`)
  const subscriptionProblem = problemOf(facts.subscription)
  if (subscriptionProblem) reasons.push(subscriptionProblem)
  // An upsert that succeeded since then has seen our credential in it: the delivery was forged, or from before.
  const seenAt = facts.subscription.state === 'provisioned' ? facts.subscription.since : 0
  if (foreign && foreign.lastAt > seenAt && now - foreign.lastAt < foreignDeliveryMs) {
    reasons.push(
      'deliveries of our event subscription have no credential that is known here: they are answered 503, and Event Grid sends them again',
    )
  }
  if (
    failing &&
    failing.count >= manyFailures.count &&
    failing.lastAt - failing.since >= manyFailures.ms &&
    now - failing.lastAt < manyFailures.latelyMs
  ) {
    reasons.push(
      `the application failed each of ${failing.count} deliveries since ${new Date(failing.since).toISOString()}: look at its log; ` +
        'Event Grid sends the events again until their limits',
    )
  }
  const status = down || isMissing ? 'unhealthy' : reasons.length > 0 ? 'degraded' : 'healthy'
  return { status, reasons, answered, strangers, ready: !down && facts.mayBeRouted }
}

interface PullFacts {
  readonly closed: boolean
  readonly handlerAttached: boolean
  /** Absent where ARM is not asked. */
  readonly subscription: SubscriptionState | undefined
  /** Absent before the first receive. */
  readonly receiver: ReceiverStatus | undefined
}

/** Judges pull delivery: unhealthy receives nothing, degraded receives but wants attention. */
export function judgePull({ closed, handlerAttached, subscription, receiver }: PullFacts): InputHealth {
  const reasons: string[] = []
  if (closed || receiver?.draining) reasons.push('the binding is closing')
  const failure = receiver?.failure
  if (failure) reasons.push(`events cannot be received: ${failure.reason}`)
  // Without ARM, nothing but a receive that succeeded shows that the event subscription exists.
  const isMissing = subscription?.state === 'missing'
  const isDown = isMissing || (reasons.length > 0 && (closed || receiver?.draining || !receiver?.everReceived))
  if (!handlerAttached) reasons.push(`${noHandler}: no events are received, and Event Grid keeps them`)
  const problem = subscription && problemOf(subscription)
  if (problem) reasons.push(problem)
  return {
    status: isDown ? 'unhealthy' : reasons.length > 0 ? 'degraded' : 'healthy',
    reasons,
    answered: {},
    strangers: {},
    ready: true,
    ...(receiver && { pull: receiver.counts }),
  }
}

function problemOf(subscription: SubscriptionState): string | undefined {
  switch (subscription.state) {
    case 'pending':
      return 'the event subscription is not provisioned yet'
    case 'failed':
      return `the event subscription could not be provisioned: ${subscription.why}`
    case 'provisioned':
      return subscription.problem
    case 'missing':
      return `no event comes: ${subscription.why}`
    case 'unmanaged':
      return undefined
  }
}

/** What anybody who reaches the port may know: no names and no messages of Azure. */
export function summarise(facts: InputFacts): Readonly<Record<string, string>> {
  return {
    status: facts.closed || facts.listener?.draining ? 'down' : 'up',
    eventSubscription: facts.subscription.state,
    handler: facts.handlerAttached ? 'attached' : 'missing',
  }
}

/** Judges the output side by how the last request to the topic ended. */
export function judgeOutput(lastFailure: string | undefined): SideHealth {
  return lastFailure === undefined
    ? { status: 'healthy', reasons: [] }
    : { status: 'degraded', reasons: [`the last publish failed: ${lastFailure}`] }
}

/** The worst last. */
export const healthStatuses: readonly HealthStatus[] = ['healthy', 'degraded', 'unhealthy']

interface Sides {
  readonly input: InputHealth | undefined
  readonly output: SideHealth | undefined
}

export function judgeHealth({ input, output }: Sides): Health {
  const worst = healthStatuses.findLast((status) => input?.status === status || output?.status === status)
  return { status: worst ?? 'unhealthy', ...(input && { input }), ...(output && { output }) }
}
