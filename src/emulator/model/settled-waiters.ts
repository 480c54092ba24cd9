/** Callers that wait until nothing is pending. */
export function createSettledWaiters(isSettled: () => boolean) {
  const waiting: (() => void)[] = []
  const check = () => {
    if (waiting.length > 0 && isSettled()) for (const resolve of waiting.splice(0)) resolve()
  }
  return {
    /** To be called when something is no longer pending. */
    check,
    /** Resolves when nothing is pending, at once if nothing is. */
    wait: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve)
        check()
      }),
  }
}
