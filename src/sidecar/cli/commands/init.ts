/** The command `init` writes files to start from, and says which commands come next. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fill, parseOptions } from '../../../support/command-line/options.ts'
import { outputOf } from '../../../support/command-line/output.ts'
import { ancestors, ownCommand } from '../../../support/command-line/run-command.ts'
import { codeOf } from '../../../support/process/error-code.ts'
import { packageOf } from '../../../support/process/runtime.ts'

/** `from`: the file to copy, in the folder of the package. `schema`: the file of `dist` by which an editor checks the copy. */
const files = [
  { name: 'components/orders.yaml', from: 'examples/starter/components/orders.yaml', schema: 'component.schema.json' },
  { name: 'components/secrets.yaml', from: 'examples/starter/components/secrets.yaml' },
  { name: 'emulator.yaml', from: 'examples/starter/emulator.yaml', schema: 'emulator.schema.json' },
  { name: 'secrets.json', from: 'examples/starter/secrets.json', mode: 0o600 },
  { name: 'app.mjs', from: 'examples/local/app.mjs' },
]
const packageFolder = () => packageOf(import.meta.url, 'eventgrid-binding').folder
const names = files.map(({ name }) => name)

const about =
  `Writes the files to start from into this folder: ${names.join(', ')}. ` +
  'Overwrites nothing, asks nothing, and prints the commands to run next.'

export const help = `Usage: eventgrid-binding init

${fill(about)}

Options:
  -h, --help     this text
`

/** @param program what the user's shell starts this program by */
const next = (program: string) => `Next, each command in a shell of its own:

  ${program} emulate --config emulator.yaml

  node app.mjs

  ${program} run --emulator --components components --app-port 3000

  curl -i http://127.0.0.1:3500/v1.0/bindings/orders -d '{"operation": "create", "data": {"order": 1}}'

app.mjs is your application. Yours may be in any language:
it must answer OPTIONS /orders and POST /orders with 2xx.
The page of the emulator shows all events: http://127.0.0.1:4431/
Keep secrets.json out of version control.
`

export async function run(args: readonly string[]): Promise<number> {
  parseOptions(args, {})
  const existing = names.filter((name) => existsSync(name))
  if (existing.length > 0) {
    throw new Error(`this folder has ${existing.join(', ')}; init overwrites nothing: run it in another folder`)
  }
  for (const { name, from, schema, mode = 0o666 } of files) {
    makeFolder(dirname(name))
    const text = readFileSync(join(packageFolder(), from), 'utf8')
    const schemaLine = schema ? `# yaml-language-server: $schema=${schemaPath(schema, dirname(name))}\n` : ''
    // wx: a file that somebody has written meanwhile stays as it is.
    writeFileSync(name, schemaLine + text, { flag: 'wx', mode })
    outputOf(1).write(`wrote ${name}\n`)
  }
  outputOf(1).write(`\n${next(ownCommand('eventgrid-binding'))}`)
  return 0
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    // Node says of a read-only file system that it has no such folder.
    throw new Error(`the folder ${folder} can't be made here (${codeOf(error)}); run init in another folder`, {
      cause: error,
    })
  }
}

/** The path of a schema, relative to a folder: in the nearest `node_modules` that has this package, else beside this program. */
function schemaPath(schema: string, folder: string): string {
  const own = join(packageFolder(), 'dist', schema)
  const installed = ancestors(resolve(folder)).map((at) => join(at, 'node_modules/eventgrid-binding/dist', schema))
  const path = relative(folder, installed.find(existsSync) ?? own).replaceAll(sep, '/')
  return path.startsWith('.') ? path : `./${path}`
}
