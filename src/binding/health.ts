/** Whether each side is healthy, degraded or unhealthy, why, and whether it is ready. */
import type { CurrentHandler, Handling, RecentCounts } from '../dispatch/handler.ts'
import type { LastRefused } from '../listener/answers.ts'
import { otherCredential } from '../listener/log-events.ts'
import { createPullCounts, type PullCounts } from '../receiver/pull-counts.ts'
import type { SubscriptionState } from './upkeep/subscription-state.ts'

/**
 * `healthy`: everything works. `degraded`: the side works in part, or by former settings: an operator should look. `unhealthy`: no event
 * comes, or none is handled.
 */
export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy'

/** The health of one side, with every reason why it is not healthy. Holds no secret. */
export interface SideHealth {
  readonly status: HealthStatus
  /** A sentence each; empty when healthy. */
  readonly reasons: readonly string[]
}

/**
 * Why an input side is unhealthy. `closed`: the side does not listen. `subscription`: the event subscription does not stand, or delivers
 * elsewhere; or this process cannot know, by a wrong secret, a missing role or ten minutes without an answer, and none of its deliveries
 * has come. `receive`: pull delivery cannot receive. `handler`: the application has gone; or each of the handler calls of the last two
 * minutes, five or more, or the last ten failed or did not end in time; or every handler call that there is room for has run longer than
 * `handlerTimeout` and has not ended. `deliveries`: at least half of the deliveries of the last two minutes, five or more, or the last
 * ten were refused or put off for a reason of ours.
 */
export type UnhealthyCause = (typeof unhealthyCauses)[number]

/** The first that applies is told. */
export const unhealthyCauses = ['closed', 'subscription', 'receive', 'handler', 'deliveries'] as const

/** The input side's state. */
export interface InputHealth extends SideHealth {
  /** Present where the side is unhealthy. */
  readonly cause?: UnhealthyCause
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
  /** What is known of the event subscription. Absent where pull delivery does not ask Azure Resource Manager. */
  readonly eventSubscription?: {
    readonly state: SubscriptionState['state']
    /** How often the event subscription was found missing after it had been there. */
    readonly timesDeleted: number
  }
  /**
   * For a readiness probe: false while no ingress should route deliveries here. That is so before `init`, after `close`, also of the input
   * side alone, and at the start of a rotation while the event subscription delivers without our credential and another replica
   * answers for the endpoint: for half a minute at most. With `deliveryMode: pull` true until `close`.
   */
  readonly ready: boolean
  /** With `deliveryMode: pull`. */
  readonly pull?: PullCounts
}

/** The result of {@link Binding.health}. A side that is not configured is absent. */
export interface Health {
  /** The worse of the two sides; `unhealthy` before `init` and after `close`. */
  readonly status: HealthStatus
  readonly input?: InputHealth
  readonly output?: SideHealth
}

/** The health of any vendor's component: what only this binding counts may be absent. {@link Health} is one. */
export interface ComponentHealth {
  /** The worse of the two sides. */
  readonly status: HealthStatus
  readonly input?: SideHealth & Partial<InputHealth>
  readonly output?: SideHealth
}

interface InputFacts {
  readonly closed: boolean
  /** What is judged of the listener's status. Not the listener's own type: users' compilers read these. */
  readonly listener: {
    readonly draining: boolean
    readonly answered: Readonly<Record<string, number>>
    readonly strangers: Readonly<Record<string, number>>
    readonly foreignAt: number | undefined
    readonly acceptedAt: number | undefined
    readonly recent: RecentCounts
    readonly crowded: RecentCounts
    readonly handling: Handling
    readonly lastRefused: LastRefused | undefined
  }
  readonly handler: CurrentHandler
  /** Whether this process writes the event subscription. */
  readonly manages: boolean
  readonly subscription: SubscriptionState
  readonly timesDeleted: number
  /** False while the event subscription delivers without our credential, to another replica. */
  readonly mayBeRouted: boolean
}

/** How long a delivery of our event subscription without a known credential degrades the health: a repair and a redelivery fit in. */
const foreignDeliveryMs = 5 * 60_000

/**
 * How long deliveries that were not accepted count, unless one is accepted before. Redeliveries come ten or thirty minutes apart, and a
 * stranger who knows the name of the event subscription can cause them, so they do not count for ever.
 */
const refusedMs = 60 * 60_000

/** Statuses after which Event Grid dead-letters or drops a delivery (Event Grid: delivery-and-retry). */
const neverSentAgain: ReadonlySet<number> = new Set([400, 401, 403, 413])

/**
 * So many failures in a row count until a success, however fast or slow they come: Event Grid holds deliveries back from an endpoint that
 * fails, so nothing may come for minutes. A single event that nobody can handle is tried seven times in its first hour.
 */
const manyFailures = 10

/** Fewer deliveries or calls of the last two minutes say nothing: a single event is tried four times in that time. */
const few = 5

/** Why nobody takes events. The reader may run the library, `run` or `serve`. */
const noHandler =
  'no application takes events: no handler is attached (library), the application is not ready (run), ' +
  'or daprd has not asked for events (serve)'

/** Decides the health of push delivery. */
export function decideInputHealth(facts: InputFacts, now: number): InputHealth {
  const {
    draining,
    answered,
    strangers,
    foreignAt = 0,
    acceptedAt = 0,
    recent,
    crowded,
    handling,
    lastRefused,
  } = facts.listener
  const reasons: string[] = []
  if (facts.closed) reasons.push('the listener does not listen')
  else if (draining) reasons.push('the listener is closing')
  const isRoutable = reasons.length === 0 && facts.mayBeRouted
  if (!facts.handler.current) reasons.push(`${noHandler}: deliveries are answered 503, and Event Grid sends them again`)
  const subscriptionProblem = problemOf(facts.subscription)
  if (subscriptionProblem) reasons.push(subscriptionProblem)
  // An upsert that succeeded later has read our credential in the event subscription: the delivery was forged, or older.
  // Within one millisecond nobody knows which came first.
  const seenAt = facts.subscription.state === 'provisioned' ? facts.subscription.since : 0
  if (foreignAt >= seenAt && now - foreignAt < foreignDeliveryMs) {
    const what = 'deliveries of our event subscription have no credential that is known here'
    const then = facts.manages ? '' : `; ${otherCredential}`
    reasons.push(`${what}: they are answered 503, and Event Grid sends them again${then}`)
  }
  if (lastRefused && now - lastRefused.lastAt < refusedMs) {
    const { why, status, lastAt } = lastRefused
    const then = neverSentAgain.has(status) ? 'Event Grid does not send it again' : 'Event Grid sends it again'
    reasons.push(
      `a delivery of our event subscription was not accepted at ${timeOf(lastAt)}, and none since: ${why}; ` +
        `it was answered ${status}: ${then}`,
    )
  }
  if (areMostBad(recent)) reasons.push(`${whichBad(recent)} were refused or put off`)
  if (areMostBad(crowded)) {
    reasons.push(
      `${whichBad(crowded)} found no free handler call in three seconds: ` +
        'raise maxConcurrency or run more replicas; Event Grid sends them again',
    )
  }
  const problem = problemOfHandling(handling)
  if (problem) reasons.push(problem)
  const hasCome = Object.keys(answered).length > 0
  const cameAt = now - acceptedAt < refusedMs ? acceptedAt : 0
  const causes = {
    closed: facts.closed,
    subscription: !draining && getsNothing(facts.subscription, { hasCome, cameAt }),
    receive: false,
    handler: !draining && (facts.handler.isLost === true || handlesNothing(handling)),
    deliveries: !draining && areMostBad(recent),
  }
  return {
    ...judge(reasons, causes),
    answered,
    strangers,
    ready: isRoutable,
    eventSubscription: { state: facts.subscription.state, timesDeleted: facts.timesDeleted },
  }
}

const timeOf = (ms: number) => new Date(ms).toISOString()

function judge(reasons: readonly string[], causes: Readonly<Record<UnhealthyCause, boolean>>) {
  const cause = unhealthyCauses.find((one) => causes[one])
  if (cause) return { status: 'unhealthy', cause, reasons } as const
  return { status: reasons.length > 0 ? 'degraded' : 'healthy', reasons } as const
}

const areMostRecentBad = ({ total, bad }: RecentCounts) => total >= few && bad * 2 >= total

const areMostBad = (counts: RecentCounts) =>
  areMostRecentBad(counts) || (counts.badInARow >= manyFailures && counts.quietMs < refusedMs)

const whichBad = (counts: RecentCounts) =>
  areMostRecentBad(counts)
    ? `${counts.bad} of the ${counts.total} deliveries of the last two minutes`
    : `the last ${counts.badInARow} deliveries`

const areAllBad = ({ total, bad, badInARow }: RecentCounts) =>
  badInARow >= manyFailures || (total >= few && bad === total)

/** A call that hangs is counted once. When all hang, no event gets a call, so nothing more fails. */
const handlesNothing = ({ recent, allHang }: Handling) => allHang || areAllBad(recent)

/**
 * Is the event subscription known to deliver nothing here? Where the event subscription could not be read, a delivery shows that it
 * exists. Where it names another address, a delivery since then, within the last hour, shows that this address leads here too.
 */
function getsNothing(
  subscription: SubscriptionState | undefined,
  { hasCome, cameAt }: { readonly hasCome: boolean; readonly cameAt: number },
): boolean {
  if (subscription?.state === 'provisioned') return cameAt < (subscription.awaySince ?? 0)
  if (subscription?.state !== 'failed') return subscription?.state === 'missing'
  return subscription.delivers === false || (subscription.delivers === 'unseen' && !hasCome)
}

function problemOfHandling({ recent, allHang }: Handling): string | undefined {
  if (allHang)
    return 'every handler call that there is room for has run longer than handlerTimeout, so no event is handled until one ends'
  if (!areAllBad(recent)) return undefined
  const then = 'look at its log; Event Grid sends the events again until their limits'
  return `the application failed the last ${recent.badInARow} events: ${then}`
}

interface PullFacts {
  readonly closed: boolean
  readonly handler: CurrentHandler
  /** Absent where ARM is not asked. */
  readonly subscription: SubscriptionState | undefined
  readonly timesDeleted: number
  /** What is judged of the receiver's status; absent before there is one. */
  readonly receiver:
    | {
        /** `forMs`: how long no receive has succeeded. */
        readonly failure: { readonly reason: string; readonly forMs: number } | undefined
        readonly everReceived: boolean
        readonly draining: boolean
        readonly handling: Handling
        readonly counts: PullCounts
      }
    | undefined
  /** Why there is no receiver, though the event subscription is there. */
  readonly whyNotStarted?: string | undefined
}

/** How long receives may fail before pull delivery is unhealthy; Event Grid keeps the events meanwhile. */
const maxOutageMs = 60_000

/** Decides the health of pull delivery. */
export function decidePullHealth(facts: PullFacts): InputHealth {
  const { closed, handler, subscription, timesDeleted, receiver, whyNotStarted } = facts
  const reasons: string[] = []
  const draining = receiver?.draining === true
  if (closed || draining) reasons.push('the receiver is closing')
  const failure = receiver?.failure?.reason ?? whyNotStarted
  if (failure) reasons.push(`events cannot be received: ${failure}`)
  if (!handler.current) reasons.push(`${noHandler}: no events are received, and Event Grid keeps them`)
  const problem = subscription && problemOf(subscription)
  if (problem) reasons.push(problem)
  const handling = receiver && problemOfHandling(receiver.handling)
  if (handling) reasons.push(handling)
  // Without ARM, nothing but a receive that succeeded shows that the event subscription exists.
  const everReceived = receiver?.everReceived === true
  const outageMs = everReceived ? (receiver.failure?.forMs ?? 0) : Number.POSITIVE_INFINITY
  const causes = {
    closed,
    subscription: !draining && getsNothing(subscription, { hasCome: everReceived, cameAt: 0 }),
    // Without a receiver its endpoint is not known yet.
    receive:
      !draining && outageMs > maxOutageMs && (failure !== undefined || (!receiver && subscription?.state === 'failed')),
    handler: !draining && (handler.isLost === true || (receiver !== undefined && handlesNothing(receiver.handling))),
    deliveries: false,
  }
  return {
    ...judge(reasons, causes),
    answered: {},
    strangers: {},
    ready: !closed,
    // Counts stand at 0 before the first receive: a counter that appears with the value 1 shows no increase to Prometheus.
    pull: receiver?.counts ?? createPullCounts(),
    ...(subscription && { eventSubscription: { state: subscription.state, timesDeleted } }),
  }
}

function problemOf(subscription: SubscriptionState): string | undefined {
  switch (subscription.state) {
    case 'pending':
      return `the event subscription is not provisioned yet${subscription.why === undefined ? '' : `: ${subscription.why}`}`
    case 'failed':
      return (
        (subscription.delivers === false ? 'no event comes: ' : '') +
        `the event subscription could not be provisioned: ${subscription.why}`
      )
    case 'provisioned':
      return subscription.problem
    case 'missing':
      return `no event comes: ${subscription.why}`
    case 'unmanaged':
      return undefined
  }
}

/** Decides the health of the output side by how the last request to the topic ended. */
export function decideOutputHealth(lastFailure: string | undefined): SideHealth {
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

export function decideHealth({ input, output }: Sides): Health {
  const worst = healthStatuses.findLast((status) => input?.status === status || output?.status === status)
  return { status: worst ?? 'unhealthy', ...(input && { input }), ...(output && { output }) }
}
