/** The first SIGINT, SIGTERM or SIGHUP asks for the end, and a second one ends the process with 130, 143 or 129. */
import { endProcess } from './end-process.ts'

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

class EndedBySignal extends Error {
  override readonly name = 'AbortError'
  readonly exitCode: number
  constructor(signal: keyof typeof exitCodes) {
    super(`ended by ${signal}`)
    this.exitCode = exitCodes[signal]
  }
}

/** The exit code of a command whose work was cut short by this abort. */
export const exitCodeOf = ({ reason }: AbortSignal): number =>
  reason instanceof EndedBySignal ? reason.exitCode : exitCodes.SIGTERM

/**
 * Handles SIGHUP, SIGINT and SIGTERM. The first request to end resolves `asked` and aborts `stopping`. A later signal ends the process
 * at once, with that signal's exit code.
 */
export function awaitEnd() {
  const { promise, resolve } = Promise.withResolvers<string>()
  const ended = new AbortController()
  const stopping: AbortSignal = ended.signal
  /** Asks for the end in place of a signal. */
  function ask(why: string, reason?: EndedBySignal): void {
    resolve(why)
    ended.abort(reason)
  }
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping.aborted) endProcess(exitCodes[signal])
      ask(signal, new EndedBySignal(signal))
    })
  }
  return {
    /** Resolves with the name of the first signal, or the word given to `ask`. */
    asked: promise,
    stopping,
    ask,
  }
}
