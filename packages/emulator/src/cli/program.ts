/** What `eventgrid-emulator` does by its first word: run, or print its version, its help or the schema of its configuration. */
import { wrongOption } from '../../../../src/support/command-line/options.ts'
import { type Command, print, runCommand } from '../../../../src/support/command-line/run-command.ts'
import { packageOf } from '../../../../src/support/process/runtime.ts'

const bin = 'eventgrid-emulator'

const loadEmulate = async (): Promise<Command> =>
  (await import('./emulate.ts')).emulateCommand({
    bin,
    moreUsage: `       ${bin} schema\n`,
    moreOptions: `  -v, --version    the version

The word schema prints the JSON Schema (draft 7) of the file of --config.
`,
  })

export async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args
  if (first === '--version' || first === '-v') return print(`${packageOf(import.meta.url, bin).version}\n`)
  if (first === 'help') return print((await loadEmulate()).help)
  if (first === 'schema' && !rest.some(isHelp)) return runCommand({ words: bin, load: loadSchema }, rest)
  return runCommand({ words: bin, serves: !args.some(isHelp), load: loadEmulate }, args)
}

const isHelp = (word: string) => word === '--help' || word === '-h'

async function loadSchema(): Promise<Command> {
  const { configJsonSchema } = await import('../config/config-schema.ts')
  return {
    help: '',
    async run(args) {
      if (args.length > 0) throw wrongOption(`schema takes nothing else, not ${JSON.stringify(args.join(' '))}`)
      return print(`${JSON.stringify(configJsonSchema(), null, 2)}\n`)
    },
  }
}
