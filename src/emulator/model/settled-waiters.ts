/** Callers that wait until nothing is pending. */
export function createSettledWaiters(isSettled: () => boolean) {
  const waiting = new Set<() => void>()
  const check = () => {
    if (waiting.size > 0 && isSettled()) for (const settle of waiting) settle()
  }
  return {
    /** To be called when something is no longer pending. */
    check,
    /** Resolves when nothing is pending, at once if nothing is. Rejects with the signal's reason. */
    wait: (signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const abort = () => {
          waiting.delete(settle)
          reject(signal?.reason)
        }
        const settle = () => {
          waiting.delete(settle)
          signal?.removeEventListener('abort', abort)
          resolve()
        }
        signal?.addEventListener('abort', abort, { once: true })
        waiting.add(settle)
        check()
      }),
  }
}
