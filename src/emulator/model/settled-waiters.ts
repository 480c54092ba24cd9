/** Callers that wait until nothing is pending. */
export interface SettledWaiters {
  /** Resolves when nothing is pending, at once if nothing is. */
  wait(): Promise<void>
  /** To be called when something is no longer pending. */
  check(): void
}

export function createSettledWaiters(isSettled: () => boolean): SettledWaiters {
  const waiting: (() => void)[] = []
  const check = () => {
    if (waiting.length > 0 && isSettled()) for (const resolve of waiting.splice(0)) resolve()
  }
  return {
    check,
    wait: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        check()
      }),
  }
}
