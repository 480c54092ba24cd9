/** What a handler threw, as far as the listener looks at it. */
export interface Thrown {
  /** It is a `RejectEvent`. */
  readonly rejected: boolean
  /** A text for the log. */
  readonly reason: string
}

/**
 * Reads what a handler threw. That may be anything, even an object whose parts throw when they are read, and must not end the process.
 * A `RejectEvent` is known by its name too, for a handler may have it from another copy of this package.
 */
export function readThrown(error: unknown): Thrown {
  try {
    if (!(error instanceof Error)) return { rejected: false, reason: typeof error }
    const name = String(error.name)
    return { rejected: name === 'RejectEvent', reason: `${name}: ${String(error.message)}` }
  } catch {
    return { rejected: false, reason: 'an error that cannot be read' }
  }
}
