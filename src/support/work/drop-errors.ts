/** Calls into code that must not fail ours: what it throws, or rejects with, is dropped. */
import { types } from 'node:util'
import { inBackground } from './in-background.ts'

/** Gives what the work returned; `undefined` where it threw. */
export function dropErrors<Result>(work: () => Result): Result | undefined {
  try {
    const result = work()
    // An async function fits where its result is not looked at.
    if (types.isPromise(result)) inBackground(result, () => {})
    return result
  } catch {
    return undefined
  }
}
