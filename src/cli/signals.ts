const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

/**
 * Resolves with the name of the first signal that asks the process to end. A second one ends it at once, with that
 * signal's exit code. Until somebody calls this, a signal ends the process as usual.
 */
export function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    for (const [signal, code] of Object.entries(exitCodes)) {
      process.on(signal, () => {
        if (asked) process.exit(code)
        asked = true
        resolve(signal)
      })
    }
  })
}
