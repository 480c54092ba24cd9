/** Node's own timers and date, also while a test has faked them: for what waits for the event loop, not for a time. */

/** They are what they were when this module was loaded. A test fakes them later: vitest those of `globalThis`, node:test in all places. */
export const realTimers = {
  setImmediate,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  now: Date.now,
  /** As `AbortSignal.timeout`. */
  abortAfter: AbortSignal.timeout,
} as const
