import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** Runs lines as somebody pastes them into a shell in a folder. The test's end kills the shell and what it started. */
export function paste(block: string, cwd: string) {
  const shell: ChildProcess = spawn('sh', ['-c', block], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const { promise, resolve: ended } = Promise.withResolvers<void>()
  let look = () => {}
  for (const stream of [shell.stdout, shell.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      look()
    })
  }
  shell.on('close', () => {
    ended()
    look()
  })
  onTestFinished(async () => {
    try {
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
    await promise
  })
  return {
    lines,
    ended: promise,
    /** Resolves once so many lines fit; rejects when the shell ends before. */
    said: (pattern: RegExp, count = 1) =>
      new Promise<string[]>((found, failed) => {
        look = () => {
          const fitting = lines.filter((line) => pattern.test(line))
          if (fitting.length >= count) found(fitting)
          else if (shell.exitCode !== null) failed(new Error(`it ended without ${pattern}:\n${lines.join('\n')}`))
        }
        look()
      }),
  }
}
