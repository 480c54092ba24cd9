import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from '../command.ts'
import { defaultEmulator } from '../emulator-option.ts'
import { parseOptions } from '../parse-options.ts'

/** What `init` writes, as it lies in the folder `starter`. */
const files = ['components/orders.yaml', 'emulator.yaml', 'secrets.json'] as const

const help = `Usage: eventgrid-binding init

Writes the files to start from into this folder: ${files.join(', ')}.
Overwrites nothing, asks nothing, and prints the three commands to run next.

Options:
  -h, --help     this text
`

const next = `Next, each command in a shell of its own:

  npx eventgrid-binding emulate --config emulator.yaml

  npx eventgrid-binding run --emulator ${defaultEmulator} --components components --secrets secrets.json --app-port 3000

  curl -i http://127.0.0.1:3500/v1.0/bindings/orders -d '{"operation": "create", "data": {"order": 1}}'

Your application on port 3000 gets each event as POST /orders. Any 2xx answer acknowledges it.
The page of the emulator shows all events: http://127.0.0.1:4431/
Keep secrets.json out of version control.
`

/** `eventgrid-binding init`. */
export const init: Command = {
  help,
  async run(args) {
    parseOptions(args, {})
    const existing = files.filter((file) => existsSync(file))
    if (existing.length > 0) {
      throw new Error(`this folder has ${existing.join(', ')}; init overwrites nothing: run it in another folder`)
    }
    for (const file of files) {
      mkdirSync(dirname(file), { recursive: true })
      const text = readFileSync(new URL(`../starter/${file}`, import.meta.url))
      // wx: a file that somebody has written meanwhile stays as it is.
      writeFileSync(file, text, { flag: 'wx', mode: file === 'secrets.json' ? 0o600 : 0o666 })
      process.stdout.write(`wrote ${file}\n`)
    }
    process.stdout.write(`\n${next}`)
    return 0
  },
}
