/** Runs a command of the product as its users do: as a process, with an environment and arguments. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { CommandEnd } from '../probes/probe.ts'
import type { Target } from '../wire/target.ts'

const program = resolve(import.meta.dirname, '../../../src/sidecar/cli/main.ts')
/** A pull of the plug: no command of a probe takes so long. */
const limitMs = 180_000

export async function runCommand(
  args: readonly string[],
  {
    target,
    env,
    signal,
  }: {
    readonly target: Target
    readonly env: Readonly<Record<string, string | undefined>>
    readonly signal: AbortSignal
  },
): Promise<CommandEnd> {
  const { url, ca } = target.emulator ?? {}
  const emulator = url === undefined ? [] : ['--emulator', url, ...(ca === undefined ? [] : ['--ca', ca])]
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args, ...emulator], {
    env: { ...env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
    killSignal: 'SIGKILL',
  })
  const ended = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  return { code: typeof code === 'number' ? code : null, stdout, stderr }
}
