/** Node's timers, as far as the listener needs them; a test hands in its own. */
export interface Timers {
  /** Calls back once, with the argument; disposing of what it returns before that cancels it. */
  setTimeout<T>(callback: (argument: T) => void, milliseconds: number, argument: T): Disposable
}

/** The real ones. */
export const nodeTimers: Timers = {
  setTimeout: (callback, milliseconds, argument) => setTimeout(callback, milliseconds, argument),
}
