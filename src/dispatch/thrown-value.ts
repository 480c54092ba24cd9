/** What a handler threw, in words for the log and as the type of its failure. */
import { inspect, types } from 'node:util'
import { isRejectEvent } from '../core/event.ts'
import { otherError } from '../core/telemetry/opentelemetry.ts'

/**
 * Reads what a handler threw: whether it is a `RejectEvent`, its class for `error.type` of its span, and a text from outside for the log.
 * It may be anything, even an object whose properties throw when they are read; reading it must not end the process.
 */
export function readThrown(thrown: unknown) {
  try {
    if (!isError(thrown)) return { rejected: false, type: otherError, reason: wordsOf(thrown) }
    const name = String(thrown.name)
    return { rejected: isRejectEvent(thrown), type: name, reason: `${name}: ${String(thrown.message)}` }
  } catch {
    return { rejected: false, type: otherError, reason: 'an error that cannot be read' }
  }
}

/** An error, also one of another realm, such as a test runner's sandbox. */
export const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value)

/** No code of the value runs, and of a large one only the beginning is read: with more of it a log line would not get longer. */
function wordsOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  return inspect(thrown, {
    depth: 1,
    customInspect: false,
    breakLength: Number.POSITIVE_INFINITY,
    maxArrayLength: 10,
    maxStringLength: 1_000,
  })
}
