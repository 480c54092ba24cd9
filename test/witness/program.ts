import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** How a program is run. */
export interface ProgramOptions {
  readonly cwd?: string
  /** Beside this process's own environment. */
  readonly env?: Readonly<Record<string, string>>
  /** It is ended then. @default 600_000 */
  readonly timeoutMs?: number
}

/** A program under way. */
export interface Program {
  /** The lines of its standard output. */
  readonly lines: AsyncIterable<string>
  /** Writes a line to its standard input. */
  write(line: string): void
  /** Ends its standard input. */
  end(): void
  /** Its exit code, 1 where it has none, and what it wrote to standard error. */
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>
}

/** Starts a program; it is ended with this process at the latest. */
export function startProgram(command: string, args: readonly string[], options: ProgramOptions = {}): Program {
  const child = spawn(command, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    timeout: options.timeoutMs ?? 600_000,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const errors: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  // A program that is gone takes no input; how it ended says more than this error.
  child.stdin.on('error', () => {})
  const stop = () => void child.kill()
  process.once('exit', stop)
  const ended = once(child, 'close').then(
    ([code]: unknown[]) => ({ code: typeof code === 'number' ? code : 1, stderr: Buffer.concat(errors).toString() }),
    (error: Error) => ({ code: 127, stderr: error.message }),
  )
  void ended.then(() => process.off('exit', stop))
  return {
    lines: createInterface(child.stdout),
    write: (line) => void child.stdin.write(`${line}\n`),
    end: () => void child.stdin.end(),
    ended,
  }
}

/** Runs a program to its end. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const program = startProgram(command, args, options)
  program.end()
  const lines: string[] = []
  for await (const line of program.lines) lines.push(line)
  return { ...(await program.ended), stdout: lines.join('\n') }
}
