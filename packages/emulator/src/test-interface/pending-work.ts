/** Which words tell what is pending, for which event subscription, and why an event subscription gets no events. */
import type { DeliveryEngine } from '../delivery/delivery-engine.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import type { Clock } from '../model/time/clock.ts'
import type { NamespaceQueues } from '../namespaces/namespace-queues.ts'
import type { Records } from '../records/record-types.ts'

/** The pending events of an event subscription. */
export interface PendingWork {
  /** The event subscription's name. */
  readonly subscription: string
  readonly subscriptionId: string
  /** The name of its topic or source. */
  readonly topic: string
  /** How many events, what these wait for, and the last answer. */
  readonly detail: string
}

export class StillPendingError extends Error {
  override readonly name = 'StillPendingError'
  readonly pending: readonly PendingWork[]

  constructor(timeout: number, pending: readonly PendingWork[], options: ErrorOptions) {
    const lines = pending.map((one) => `- event subscription ${one.subscription} of ${one.topic}: ${one.detail}`)
    super(`events are still pending after ${timeout} ms:\n${lines.join('\n')}`, options)
    this.pending = pending
  }
}

/** The error of an event subscription that is there and gets no events, for the reason that is given. */
export class UnservedError extends Error {
  override readonly name = 'UnservedError'
  readonly subscription: EventSubscription

  constructor(subscription: EventSubscription, because: string) {
    super(`event subscription ${subscription.name} is there, but gets no events: ${because}`)
    this.subscription = subscription
  }
}

interface PendingSources {
  readonly clock: Clock
  readonly engine: Pick<DeliveryEngine, 'pendingQueues' | 'pendingDeadLetters'>
  readonly queues: Pick<NamespaceQueues, 'pendingDeadLetters' | 'figures'>
  readonly records: Pick<Records, 'deliveries'>
}

/** What is pending, by event subscription: how many events, what they wait for, and the last answer. */
export function describePending(sources: PendingSources): readonly PendingWork[] {
  const { engine, queues, records } = sources
  const now = sources.clock.now()

  /** As in `last answer 503`; of an attempt without an answer the reason. */
  function lastAnswer(subscriptionId: string): string {
    const last = records.deliveries.filter((record) => record.subscriptionId === subscriptionId).at(-1)
    return last ? `last answer ${last.status ?? `none (${last.error})`}` : ''
  }

  const deliveries = engine.pendingQueues().map(({ id, size, underWay, nextTryAt = 0 }) => {
    return workOf(id, [
      eventsText(size),
      underWay > 0 ? `${underWay} awaiting an answer` : '',
      nextTryAt > now ? `next try in ${durationText(nextTryAt - now)}` : '',
      lastAnswer(id),
    ])
  })

  const letters = [...engine.pendingDeadLetters(), ...queues.pendingDeadLetters()]
  const givenUp = [...Map.groupBy(letters, ({ subscriptionId }) => subscriptionId)].map(([id, own]) => {
    const due = own.reduce((first, letter) => Math.min(first, letter.due), Number.POSITIVE_INFINITY)
    const pause = durationText(Math.max(due - now, 0))
    return workOf(id, [
      `${eventsText(own.length)} given up`,
      `next dead-letter in ${pause} (deadLetterDelay)`,
      lastAnswer(id),
    ])
  })

  const received = [...queues.figures()].flatMap(([id, { available, locked, delayed }]) => {
    const count = available + locked + delayed
    const states = `${available} available, ${locked} locked, ${delayed} delayed`
    return count === 0 ? [] : workOf(id, [eventsText(count), states])
  })

  return [...deliveries, ...givenUp, ...received]
}

function workOf(subscriptionId: string, facts: readonly string[]): PendingWork {
  const [, topic = '', subscription = ''] =
    /(?<![^/])([^/]+)(?:\/providers\/[^/]+)?\/eventSubscriptions\/([^/]+)$/i.exec(subscriptionId) ?? []
  return { subscription, subscriptionId, topic, detail: facts.filter((fact) => fact !== '').join(', ') }
}

const eventsText = (count: number) => (count === 1 ? '1 event' : `${count} events`)

const durationText = (ms: number) => (ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`)
