/** How a command runs and ends: help, errors as prose on stderr, exit codes, signals, and a result that can't be written. */
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { codeOf, messageOf } from '../process/error-code.ts'
import { shellWord } from '../text/text.ts'
import { UsageError } from './options.ts'
import { outputOf } from './output.ts'
import { createTerminal, type Terminal } from './terminal.ts'

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
 * Handles SIGHUP, SIGINT and SIGTERM. The first request to end resolves `asked` and aborts `stopping`. A second signal ends the process
 * at once, with that signal's exit code.
 */
export function awaitEnd() {
  const { promise, resolve } = Promise.withResolvers<string>()
  const ended = new AbortController()
  const stopping: AbortSignal = ended.signal
  let isSignalled = false
  /** Asks for the end in place of a signal. */
  function ask(why: string, reason?: EndedBySignal): void {
    resolve(why)
    ended.abort(reason)
  }
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Not at the first one after `ask`: a process manager sends it to what already ends.
      if (isSignalled) process.exit(exitCodes[signal])
      isSignalled = true
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

const patienceMs = 1_000

/** Has the process end with an exit code once nothing is under way any more, a second later at the latest. */
export function endProcessSoon(code: number): void {
  process.exitCode = code
  setTimeout(() => process.exit(code), patienceMs).unref()
}

/** By npx where npm has installed it for this folder; else, as with the bundle, by the file that was started. */
export function ownCommand(bin: string): string {
  const isInstalled = ancestors(resolve()).some((at) => existsSync(join(at, 'node_modules/.bin', bin)))
  return isInstalled ? `npx ${bin}` : `node ${shellWord(relative('', process.argv[1] ?? ''))}`
}

/** A folder and all folders above it. */
export function ancestors(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...ancestors(above)]
}
