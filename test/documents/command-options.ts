import type { Command } from '../../src/support/command-line/run-command.ts'

/** The commands of `eventgrid-binding`. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: () => import('../../src/sidecar/cli/commands/serve.ts'),
  emulate: () => import('../../src/sidecar/cli/commands/emulate.ts'),
  run: () => import('../../src/sidecar/cli/commands/run.ts'),
  check: () => import('../../src/sidecar/cli/commands/check.ts'),
  provision: () => import('../../src/sidecar/cli/commands/provision.ts'),
  replay: () => import('../../src/sidecar/cli/commands/replay.ts'),
  init: () => import('../../src/sidecar/cli/commands/init.ts'),
  schema: () => import('../../src/sidecar/cli/commands/schema.ts'),
}

export const commandNames = Object.keys(commands)

export async function commandHelp(name: string): Promise<string> {
  const load = commands[name]
  if (!load) throw new Error(`there is no command ${name}`)
  return (await load()).help
}

export interface Option {
  readonly flag: string
  /** As help writes it: `--port N`. */
  readonly usage: string
  readonly value: 'required' | 'optional' | 'none'
}

/** The options that a help text lists, `--help` too. */
export function optionsOf(help: string): Option[] {
  return [...help.matchAll(/^ {2}(?:-\w, )?((--[a-z-]+)(?: (\[?[A-Z][A-Z|,.]*\]?))?)(?= |$)/gm)].map(
    ([, usage = '', flag = '', value]) => ({
      usage,
      flag,
      value: value === undefined ? 'none' : value.startsWith('[') ? 'optional' : 'required',
    }),
  )
}
