import { isDeepStrictEqual } from 'node:util'

/** How {@link watchFolder} looks. */
export interface WatchOptions<State> {
  /** Reads what is watched. A rejection counts as "as before". */
  readonly read: () => Promise<State>
  /** What is known already. */
  readonly known: State
  /** Called with what has changed; the next look comes once it has resolved. */
  readonly changed: (state: State) => Promise<void>
  /** Milliseconds between two looks. @default 250 */
  readonly intervalMs?: number
}

/**
 * Looks again and again, and calls back when something has changed and stood still for one look: a file that is
 * being written is empty for a moment, which must not take its components away. Returns how to stop; resolves when
 * the callback under way has ended.
 */
export function watchFolder<State>(options: WatchOptions<State>): () => Promise<void> {
  const { read, changed, intervalMs = 250 } = options
  let { known } = options
  let seen = known
  let stopped = false
  let underWay = Promise.resolve()
  let timer: NodeJS.Timeout

  async function look(): Promise<void> {
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
      underWay = look().finally(() => {
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
