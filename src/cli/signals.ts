import { endProcess } from './end-process.ts'

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/** The end of a process, once somebody asks for it. */
export interface EndRequest {
  /** Resolves with what asked first: a signal's name, or the word given to `ask`. */
  readonly asked: Promise<string>
  /** Asks for the end in place of a signal. */
  ask(why: string): void
}

/**
 * Waits for what asks the process to end. A signal that comes after that ends it at once, with that signal's exit
 * code. Until somebody calls this, a signal ends the process as usual.
 */
export function awaitEnd(): EndRequest {
  const { promise, resolve } = Promise.withResolvers<string>()
  let isAsked = false
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
  return { asked: promise, ask }
}
