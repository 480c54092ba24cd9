import type { EventOutcome } from './open-delivery.ts'

/** The answer to a whole body. */
export interface Acknowledgement {
  readonly status: 200 | 400 | 500 | 503
  /** One sentence for the body of an error; empty with 200. */
  readonly detail: string
}

/**
 * One answer for all events of a body, because Event Grid knows no partial success. 400 makes Event Grid give up all of them, so it is the
 * answer only when a redelivery could resolve none.
 */
export function decideAcknowledgement(outcomes: readonly EventOutcome[]): Acknowledgement {
  let worst: EventOutcome = 'resolved'
  for (const outcome of outcomes) if (weight[outcome] > weight[worst]) worst = outcome
  return answers[worst]
}

const weight: Readonly<Record<EventOutcome, number>> = {
  resolved: 0,
  rejected: 1,
  invalid: 2,
  threw: 3,
  timedOut: 4,
  notTried: 5,
}

const answers: Readonly<Record<EventOutcome, Acknowledgement>> = {
  resolved: { status: 200, detail: '' },
  rejected: { status: 400, detail: 'The application rejected the event.' },
  invalid: { status: 400, detail: 'The body holds something that is not an event.' },
  threw: { status: 500, detail: 'The application failed to handle the event.' },
  timedOut: { status: 503, detail: 'The application did not handle the event in time.' },
  notTried: { status: 503, detail: 'The event was not handled: no room, no time or no application.' },
}
