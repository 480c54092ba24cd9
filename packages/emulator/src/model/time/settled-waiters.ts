// Callers of `settled()` that wait until nothing is pending.

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
    async wait(signal?: AbortSignal): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const abort = () => reject(signal?.reason)
      signal?.addEventListener('abort', abort)
      waiting.add(resolve)
      check()
      await promise.finally(() => waiting.delete(resolve))
      signal?.removeEventListener('abort', abort)
    },
  }
}
