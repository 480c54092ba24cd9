import { otherError } from '../core/telemetry.ts'

/** What a handler threw, as far as the listener looks at it. */
export interface HandlerError {
  /** It is a `RejectEvent`. */
  readonly rejected: boolean
  /** Its class, as far as it has a name: `error.type` of its span. */
  readonly type: string
  /** A text for the log. */
  readonly reason: string
}

/**
 * Reads what a handler threw. It may be anything, even an object whose properties throw when they are read; reading it must not end the
 * process. A `RejectEvent` is recognised by its name, because a handler may have it from another copy of this package.
 */
export function readThrown(error: unknown): HandlerError {
  try {
    if (!(error instanceof Error)) return { rejected: false, type: otherError, reason: typeof error }
    const name = String(error.name)
    return { rejected: name === 'RejectEvent', type: name, reason: `${name}: ${String(error.message)}` }
  } catch {
    return { rejected: false, type: otherError, reason: 'an error that cannot be read' }
  }
}
