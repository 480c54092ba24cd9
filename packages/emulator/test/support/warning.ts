// The warning of Node's process that says a certain thing.

/** Resolves with the next warning whose message contains these words: others of the same process are not meant. */
export function warningThatSays(words: string): Promise<Error> {
  return new Promise((resolve) => {
    process.on('warning', function heard(warning) {
      if (!warning.message.includes(words)) return
      process.off('warning', heard)
      resolve(warning)
    })
  })
}
