/** How a command runs: its help, errors as prose on stderr, exit codes 0, 1 and 2, and the end when nobody reads its output any more. */
import { complaintAboutCodeGeneration } from '../process/code-generation.ts'
import { messageOf } from '../process/error-code.ts'
import { createTerminal, type Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

export interface Command {
  readonly help: string
  /** Runs it; resolves with the exit code. A UsageError makes that 2, any other error 1. */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

interface CommandEntry {
  /** As a user writes it: the program's name, and that of the command where there are several. */
  readonly words: string
  /** Whether it always opens an HTTP or gRPC server. */
  readonly serves?: boolean | undefined
  load(): Promise<Command>
}

/** Runs a command with its arguments; resolves with the exit code. */
export async function runCommand({ words, serves, load }: CommandEntry, args: readonly string[]): Promise<number> {
  // Before it is loaded: some make functions out of text as they load.
  const complaint = serves ? complaintAboutCodeGeneration() : undefined
  if (complaint) {
    say(`${words}: ${complaint.what}; ${complaint.fix}`)
    return 2
  }
  const command = await load()
  if (args.includes('--help') || args.includes('-h')) return print(command.help)
  try {
    return await command.run(args, createTerminal(process.stdout))
  } catch (error) {
    const isWrongUse = error instanceof UsageError
    const more = isWrongUse && error.showHelp ? `\nsee: ${words} --help` : ''
    say(`${words}: ${messageOf(error)}${more}`)
    return isWrongUse ? 2 : 1
  }
}

/** Ends a command as SIGTERM does when the reader of its output has gone, as behind `| head`. */
export function endWithReader(): void {
  let isGone = false
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => {
      if (!isGone) process.emit('SIGTERM', 'SIGTERM')
      isGone = true
    })
  }
}

export function say(lines: string): void {
  const terminal = createTerminal(process.stderr)
  for (const line of lines.split('\n')) terminal.line(line)
}

/** Writes a text to stdout, for a command that does nothing else. */
export function print(text: string): number {
  process.stdout.write(text)
  return 0
}
