import type { Terminal } from './terminal.ts'

/** What a file in `commands/` exports; it is loaded only when its command is used. */
export interface Command {
  readonly help: string
  /** Runs it; resolves with the exit code. A UsageError makes that 2, any other error 1. */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}
