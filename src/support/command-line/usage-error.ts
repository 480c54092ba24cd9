// Error class for wrong usage: exit code 2, pointer to `--help`.

/** The command was used or configured wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** Whether the command's help can help: then the line that shows it is named. */
  readonly showHelp: boolean

  /** @param options.showHelp @default false */
  constructor(message: string, options: ErrorOptions & { readonly showHelp?: boolean } = {}) {
    super(message, options)
    this.showHelp = options.showHelp ?? false
  }
}

/** The error for wrong options of a command. */
export const wrongOption = (message: string) => new UsageError(message, { showHelp: true })
