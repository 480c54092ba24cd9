import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>
  /** The line to wait for. */
  readonly ready: RegExp
  /** The lines to show. @default all */
  readonly show?: RegExp
}

/** Processes of the example: their lines are shown with a name before them. */
export interface Children {
  /** Starts one, and resolves when a line of it says that it is ready; rejects when it ends before. */
  start(name: string, command: readonly string[], options: ChildOptions): Promise<void>
  /** Ends them, the last one first. */
  stop(): Promise<void>
}

export function createChildren(): Children {
  const running: ChildProcess[] = []
  return {
    start(name, [program = '', ...args], { env, ready, show = /./ }) {
      const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
      running.push(child)
      return new Promise((resolve, reject) => {
        child.once('error', reject)
        child.once('exit', (code) => reject(new Error(`${name} ended with ${code} before it was ready`)))
        for (const stream of [child.stdout, child.stderr]) {
          createInterface({ input: stream }).on('line', (line) => {
            if (show.test(line)) console.log(`${name.padEnd(9)} ${line}`)
            if (ready.test(line)) resolve()
          })
        }
      })
    },
    async stop() {
      for (const child of running.toReversed()) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
    },
  }
}
