// SIGINT, SIGTERM, SIGHUP: first asks for the end, second exits with 130 or 143.
import { endProcess } from './end-process.ts'

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/**
 * Handles SIGHUP, SIGINT and SIGTERM. The first request to end resolves `asked` and aborts `stopping`. A later signal ends the process
 * at once, with that signal's exit code.
 */
export function awaitEnd() {
  const { promise, resolve } = Promise.withResolvers<string>()
  const ended = new AbortController()
  const stopping: AbortSignal = ended.signal
  /** Asks for the end in place of a signal. */
  function ask(why: string): void {
    resolve(why)
    ended.abort()
  }
  for (const [signal, code] of Object.entries(exitCodes)) {
    process.on(signal, () => {
      if (stopping.aborted) endProcess(code)
      ask(signal)
    })
  }
  return {
    /** Resolves with the name of the first signal, or the word given to `ask`. */
    asked: promise,
    stopping,
    ask,
  }
}
