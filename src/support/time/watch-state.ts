/** Polls a state for changes, and tells one that has come to rest. */
import { isDeepStrictEqual } from 'node:util'
import { pause, systemClock } from './clock.ts'

export interface WatchOptions<State> {
  /** Reads what is watched. A rejection counts as no change. */
  readonly read: () => Promise<State>
  readonly known: State
  /** Called with a new state. The next poll waits until it has resolved. */
  readonly changed: (state: State) => Promise<void>
  /** Milliseconds between two polls. @default 250 */
  readonly intervalMs?: number
}

/**
 * Polls, and calls back when the state has changed and two polls in a row have read the same: a file that is being
 * written is empty for a moment, which must not remove its components. Returns a function that stops the watch and
 * resolves when a running callback has ended.
 */
export function watchState<State>({ read, changed, intervalMs = 250, ...options }: WatchOptions<State>) {
  const stopping = new AbortController()
  const { signal } = stopping

  async function watch(): Promise<void> {
    let { known } = options
    let seen = known
    for (;;) {
      await pause(systemClock, intervalMs, signal)
      if (signal.aborted) return
      const state = await read().catch(() => known)
      if (signal.aborted) return
      const isSettled = isDeepStrictEqual(state, seen)
      seen = state
      if (!isSettled || isDeepStrictEqual(state, known)) continue
      known = state
      await changed(state)
    }
  }

  const ended = watch()
  return (): Promise<void> => {
    stopping.abort()
    return ended
  }
}
