import type { SubscriptionState } from './subscription-keeper.ts'

/**
 * How well a side, or the binding as a whole, does its work: all of it, all or part of it with something for an
 * operator to look at, or none of it.
 */
export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy'

/** One side's state, with every reason why it is not healthy. Holds no secret. */
export interface SideHealth {
  readonly status: HealthStatus
  /** A sentence each; empty when healthy. */
  readonly reasons: readonly string[]
}

/** The input side's state. */
export interface InputHealth extends SideHealth {
  /**
   * Deliveries since the listener came up, that is what was posted and was no handshake, counted by the status of the answer: `{ 200: 1_204, 503: 3 }`. A status
   * that was never answered is absent.
   */
  readonly answered: Readonly<Record<string, number>>
}

/** What {@link Binding.health} answers. A side that is not configured is absent. */
export interface Health {
  /** The worse of the two sides; `unhealthy` before `init` and after `close`. */
  readonly status: HealthStatus
  readonly input?: InputHealth
  readonly output?: SideHealth
}

/** What the input side's health is decided from. */
export interface InputFacts {
  readonly listening: boolean
  readonly draining: boolean
  readonly handlerAttached: boolean
  readonly subscription: SubscriptionState
  /** When a delivery of our own event subscription last came without a token we know, in ms since 1970, if one did. */
  readonly foreignDeliveryAt: number | undefined
  readonly answered: InputHealth['answered']
}

/** How long one delivery without a known token is a reason for concern. A repair and a redelivery fit in. */
const concernMs = 5 * 60_000

/** Judges the input side: unhealthy takes no deliveries, degraded takes them all but wants attention. */
export function judgeInput(facts: InputFacts, now: number): InputHealth {
  const reasons: string[] = []
  if (!facts.listening) reasons.push('the listener is not up')
  if (facts.draining) reasons.push('the binding is closing')
  const down = reasons.length > 0
  if (!facts.handlerAttached)
    reasons.push('no handler is attached: deliveries are answered 503, and Event Grid sends them again')
  const subscriptionProblem = problemOf(facts.subscription)
  if (subscriptionProblem) reasons.push(subscriptionProblem)
  if (facts.foreignDeliveryAt !== undefined && now - facts.foreignDeliveryAt < concernMs) {
    reasons.push(
      'deliveries of our event subscription have no credential that is known here: they are answered 503, and Event Grid sends them again',
    )
  }
  const { answered } = facts
  return { status: down ? 'unhealthy' : reasons.length > 0 ? 'degraded' : 'healthy', reasons, answered }
}

function problemOf(subscription: SubscriptionState): string | undefined {
  switch (subscription.state) {
    case 'pending':
      return 'the event subscription is not provisioned yet'
    case 'failed':
      return `the event subscription could not be provisioned: ${subscription.why}`
    case 'provisioned':
      return subscription.problem && `somebody changed the event subscription: ${subscription.problem}`
  }
}

/** What anybody who reaches the port may know: no names, and no messages of Azure. */
export function summarise(facts: InputFacts): Readonly<Record<string, string>> {
  return {
    status: facts.listening && !facts.draining ? 'up' : 'down',
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

const rank: Readonly<Record<HealthStatus, number>> = { healthy: 0, degraded: 1, unhealthy: 2 }

/** Puts the sides together. */
export function judge(sides: { input: InputHealth | undefined; output: SideHealth | undefined }): Health {
  const { input, output } = sides
  const worst = [input, output]
    .filter((side) => side !== undefined)
    .map((side) => side.status)
    .reduce<HealthStatus>((worse, status) => (rank[status] > rank[worse] ? status : worse), 'healthy')
  return {
    status: input === undefined && output === undefined ? 'unhealthy' : worst,
    ...(input && { input }),
    ...(output && { output }),
  }
}
