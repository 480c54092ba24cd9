/** How a command runs: its help, errors as prose on stderr, exit codes 0, 1 and 2, and what becomes of a result that can't be written. */
import { complaintAboutCodeGeneration } from '../process/code-generation.ts'
import { codeOf, messageOf } from '../process/error-code.ts'
import { outputOf } from './output.ts'
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
  /** Whether it always opens an HTTP or gRPC server. Then its stdout is a log; that of any other command is its result. */
  readonly serves?: boolean | undefined
  load(): Promise<Command>
}

/** Runs a command with its arguments; resolves with the exit code, which is 1 where the result can't be written. */
export async function runCommand({ words, serves, load }: CommandEntry, args: readonly string[]): Promise<number> {
  // Before it is loaded: some make functions out of text as they load.
  const complaint = serves ? complaintAboutCodeGeneration() : undefined
  if (complaint) {
    say(`${words}: ${complaint.what}; ${complaint.fix}`)
    return 2
  }
  const command = await load()
  if (args.includes('--help') || args.includes('-h')) return print(command.help)
  const code = await codeOfRun(words, command, args)
  return serves ? code : endOfResult(code)
}

async function codeOfRun(words: string, command: Command, args: readonly string[]): Promise<number> {
  try {
    return await command.run(args, createTerminal(outputOf(1)))
  } catch (error) {
    const isWrongUse = error instanceof UsageError
    const more = isWrongUse && error.showHelp ? `\nsee: ${words} --help` : ''
    say(`${words}: ${messageOf(error)}${more}`)
    return isWrongUse ? 2 : 1
  }
}

/** Waits for whoever reads the result on stdout. Resolves with 1 where it was not written whole, else with the code. */
async function endOfResult(code: number): Promise<number> {
  const output = outputOf(1)
  await output.settled()
  if (output.dropped === 0) return code
  // As behind `| head`, where a complaint would be noise.
  if (codeOf(output.fault) !== 'EPIPE') say(`the result can't be written: ${messageOf(output.fault)}`)
  return 1
}

/** Writes lines of prose to stderr. */
export function say(lines: string): void {
  const terminal = createTerminal(outputOf(2))
  for (const line of lines.split('\n')) terminal.line(line)
}

/** Writes a text to stdout as the result of the program; resolves with the exit code. */
export function print(text: string): Promise<number> {
  outputOf(1).write(text)
  return endOfResult(0)
}
