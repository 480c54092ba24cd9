/** The program finds the command that its first argument names, and complains where there is none. */
import { packageVersion } from '../../core/versions.ts'
import { helpEntry } from '../../support/command-line/options.ts'
import { outputOf } from '../../support/command-line/output.ts'
import { type Command, print, runCommand, say } from '../../support/command-line/run-command.ts'
import { didYouMean } from '../../support/text/nearest-name.ts'
import { printable } from '../../support/text/text.ts'

/** One of the files in `commands/`, which is loaded only when its command is used. */
interface Entry {
  readonly about: string
  /** Whether the command always opens an HTTP or gRPC server. */
  readonly serves?: boolean
  load(): Promise<Command>
}

const commands: Readonly<Record<string, Entry>> = {
  serve: {
    about: 'the component for a Dapr sidecar, over gRPC on Unix domain sockets',
    serves: true,
    load: () => import('./commands/serve.ts'),
  },
  emulate: {
    about: 'a local Event Grid, with Resource Manager and Entra',
    serves: true,
    load: () => import('./commands/emulate.ts'),
  },
  run: {
    about: "components beside an application, with Dapr's HTTP API for bindings",
    serves: true,
    load: () => import('./commands/run.ts'),
  },
  check: {
    about: 'what is wrong with components, endpoints and Azure, and what to do',
    load: () => import('./commands/check.ts'),
  },
  provision: {
    about: 'creates or updates event subscriptions once, and ends',
    load: () => import('./commands/provision.ts'),
  },
  replay: {
    about: 'publishes dead letters again, each once',
    load: () => import('./commands/replay.ts'),
  },
  init: {
    about: 'writes a component, the emulator configuration and secrets to start from',
    load: () => import('./commands/init.ts'),
  },
  schema: {
    about: 'prints the JSON Schema of a component, of the emulator configuration or of a check report',
    load: () => import('./commands/schema.ts'),
  },
}

const help = `Usage: eventgrid-binding <command> [options]

Commands:
${Object.entries(commands)
  .map(([name, { about }]) => helpEntry(name, 10, about))
  .join('\n')}
${helpEntry('help', 10, 'this text, or that of a command')}

Options:
  -h, --help     the same
  -v, --version  the version

Exit codes: 0 a clean end, 1 a failure, 2 wrong usage or configuration, 130 or
143 a second signal, or one that cut the work of replay short.
`

export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = isHelp(args[0]) ? askedFor(args[1]) : args
  if (name === undefined) return complain('a command is missing', { before: `${help}\n` })
  if (name === '--help' || name === '-h') return print(help)
  if (name === '--version' || name === '-v') return print(`${packageVersion}\n`)
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!entry) {
    const hint = didYouMean(name, [...Object.keys(commands), 'help'])
    return complain(`there is no command ${JSON.stringify(name)}${hint === undefined ? '' : `; ${hint}`}`)
  }
  return runCommand({ words: `eventgrid-binding ${name}`, ...entry }, rest)
}

const isHelp = (word: string | undefined) => word === 'help' || word === '--help' || word === '-h'

/** `help run` and `--help run` are other ways to write `run --help`. */
const askedFor = (command: string | undefined): readonly string[] =>
  command === undefined || command.startsWith('-') ? ['--help'] : [command, '--help']

/** The complaint comes last, where people read. */
function complain(complaint: string, { before = '' } = {}): number {
  outputOf(2).write(before)
  say(`eventgrid-binding: ${printable(complaint)}${before === '' ? '\nsee: eventgrid-binding --help' : ''}`)
  return 2
}
