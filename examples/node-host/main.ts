/**
 * Runs the host: `node examples/node-host/main.ts components.yaml secrets.json http://127.0.0.1:3000`
 *
 * With a running emulator in place of Azure, the address of its page comes last: `http://127.0.0.1:4431`
 */
import { readFileSync } from 'node:fs'
import { startHost } from './host.ts'

const [componentsFile, secretsFile, app, emulator] = process.argv.slice(2)
if (!componentsFile || !secretsFile || !app) {
  console.error('usage: node examples/node-host/main.ts COMPONENTS.yaml SECRETS.json APP_URL [EMULATOR_PAGE_URL]')
  process.exit(2)
}

// The emulator tells its endpoints as the binding takes them.
const endpoints = emulator ? await (await fetch(new URL('/page/endpoints', emulator))).json() : undefined

const host = await startHost({
  components: componentsFile,
  load: { secrets: JSON.parse(readFileSync(secretsFile, 'utf8')) },
  app,
  binding: endpoints ? { logger: console, endpoints } : { logger: console },
})
for (const [name, binding] of host.bindings) console.log(`${name} listens on port ${binding.address()?.port ?? 'none'}`)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => host.close())
