import { resolve } from 'node:path'
import { type Command, compileCache, copyOfBundle, startProcess } from '../../../../test/support/command.ts'

const folder = resolve(import.meta.dirname, '../..')

/** What Node is given to run the command: the source, or with EVENTGRID_BINDING_PROGRAM=bundle a copy of the bundle. */
const main =
  process.env.EVENTGRID_BINDING_PROGRAM === 'bundle'
    ? copyOfBundle(resolve(folder, 'bundle'), 'eventgrid-emulator.js')
    : resolve(folder, 'src/cli/main.ts')

/** Starts `eventgrid-emulator` with arguments; the test's end kills what is left of it. */
export function startProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin: 'ignore' | 'pipe' = 'ignore',
): Command {
  const given = ['--disable-warning=ExperimentalWarning', main, ...args]
  return startProcess(process.execPath, given, { NODE_COMPILE_CACHE: compileCache, ...env }, stdin)
}
