/** The command `schema` prints the JSON Schema of a component, of the emulator configuration or of a report. */

import { wrongOption } from '../../../support/command-line/options.ts'
import { outputOf } from '../../../support/command-line/output.ts'

export const help = `Usage: eventgrid-binding schema [component | emulator | check]

Prints a JSON Schema (draft 7), for editors and validators.

  component  a component's YAML file (the default)
  emulator   the configuration file of emulate
  check      the report of check --json

The package holds all three as files, in node_modules/eventgrid-binding/dist/:
component.schema.json, emulator.schema.json and
check.schema.json. An editor that knows the YAML language server takes one by
the first line of a YAML file, with the path of the file:

  # yaml-language-server: $schema=PATH

Options:
  -h, --help     this text
`

const schemas: Readonly<Record<string, () => Promise<object>>> = {
  component: async () => (await import('../component-schema.ts')).componentSchema(),
  check: async () => (await import('../../check/report.ts')).reportJsonSchema(),
  emulator: async () => (await import('../../../../packages/emulator/src/config/config-schema.ts')).configJsonSchema(),
}

export async function run(args: readonly string[]): Promise<number> {
  const [name = 'component', ...more] = args
  const make = Object.hasOwn(schemas, name) ? schemas[name] : undefined
  if (!make || more.length > 0) {
    throw wrongOption(`schema takes component, emulator or check, not ${JSON.stringify(args.join(' '))}`)
  }
  outputOf(1).write(`${JSON.stringify(await make(), null, 2)}\n`)
  return 0
}
