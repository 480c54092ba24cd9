/** Wrong use of a command is an error of its own class: exit code 2, and where its help can help, the line that shows it. */

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

export const wrongOption = (message: string) => new UsageError(message, { showHelp: true })
