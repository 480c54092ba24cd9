// The error of `settled({ timeout })`: pending events of each event subscription, next try, last answer.
import type { RunningEmulator } from './emulator-parts.ts'
import type { PendingWork } from './test-interface/still-pending.ts'

/** What is pending, by event subscription: how many events, what they wait for, and the last answer. */
export function describePending(
  parts: Pick<RunningEmulator, 'engine' | 'queues' | 'records' | 'clock'>,
): readonly PendingWork[] {
  const { engine, queues, records } = parts
  const now = parts.clock.now()

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
