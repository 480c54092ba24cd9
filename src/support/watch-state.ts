import { isDeepStrictEqual } from 'node:util'

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
export function watchState<State>(options: WatchOptions<State>): () => Promise<void> {
  const { read, changed, intervalMs = 250 } = options
  let { known } = options
  let seen = known
  let stopped = false
  let underWay = Promise.resolve()
  let timer: NodeJS.Timeout

  async function poll(): Promise<void> {
    const state = await read().catch(() => known)
    if (stopped) return
    const settled = isDeepStrictEqual(state, seen)
    seen = state
    if (!settled || isDeepStrictEqual(state, known)) return
    known = state
    await changed(state)
  }
  function plan(): void {
    timer = setTimeout(() => {
      underWay = poll().finally(() => {
        if (!stopped) plan()
      })
    }, intervalMs)
  }
  plan()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await underWay
  }
}
