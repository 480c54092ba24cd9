/** The error of a wait that is over while events are pending: it says which event subscription waits for what. */

/** The pending events of an event subscription. */
export interface PendingWork {
  /** The event subscription's name. */
  readonly subscription: string
  readonly subscriptionId: string
  /** The name of its topic or source. */
  readonly topic: string
  /** How many events, what they wait for, and the last answer. */
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
