/** The one HTTP status for a whole body, by the outcomes of its events. */
import type { EventOutcome } from '../dispatch/delivery.ts'

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
  let worst = answers.resolved
  for (const outcome of outcomes) if (answers[outcome].weight > worst.weight) worst = answers[outcome]
  return worst
}

/** The answer to one event. Of several, that with the greatest `weight` is the answer to all. */
const answers: Readonly<Record<EventOutcome, Acknowledgement & { readonly weight: number }>> = {
  resolved: { weight: 0, status: 200, detail: '' },
  rejected: { weight: 1, status: 400, detail: 'The application rejected the event.' },
  invalid: { weight: 2, status: 400, detail: 'The body holds something that is not an event.' },
  threw: { weight: 3, status: 500, detail: 'The application failed to handle the event.' },
  timedOut: { weight: 4, status: 503, detail: 'The application did not handle the event in time.' },
  notTried: { weight: 5, status: 503, detail: 'The event was not handled: no room, no time or no application.' },
}
