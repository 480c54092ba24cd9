// SIGINT, SIGTERM, SIGHUP: first asks for the end, second exits with 130 or 143.
import { endProcess } from './end-process.ts'

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/**
 * Handles SIGHUP, SIGINT and SIGTERM. The first request to end resolves `asked`; a later signal ends the process at
 * once, with that signal's exit code.
 */
export function awaitEnd() {
  const { promise, resolve } = Promise.withResolvers<string>()
  let isAsked = false
  /** Asks for the end in place of a signal. */
  function ask(why: string): void {
    isAsked = true
    resolve(why)
  }
  for (const [signal, code] of Object.entries(exitCodes)) {
    process.on(signal, () => {
      if (isAsked) endProcess(code)
      ask(signal)
    })
  }
  return {
    /** Resolves with the name of the first signal, or the word given to `ask`. */
    asked: promise,
    ask,
  }
}
