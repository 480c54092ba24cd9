/**
 * Runs the host: `node examples/node-host/main.ts components.yaml secrets.json http://127.0.0.1:3000`
 *
 * Against the emulator, set AZURE_RESOURCE_MANAGER_URL, AZURE_AUTHORITY_HOST and NODE_EXTRA_CA_CERTS.
 */
import { readFileSync } from 'node:fs'
import { startHost } from './host.ts'

const [componentsFile, secretsFile, app] = process.argv.slice(2)
if (!componentsFile || !secretsFile || !app) {
  console.error('usage: node examples/node-host/main.ts COMPONENTS.yaml SECRETS.json APP_URL')
  process.exit(2)
}

const host = await startHost({
  components: readFileSync(componentsFile, 'utf8'),
  secrets: JSON.parse(readFileSync(secretsFile, 'utf8')),
  app,
  binding: { logger: console },
})
for (const [name, binding] of host.bindings) console.log(`${name} listens on port ${binding.address()?.port ?? 'none'}`)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => host.close())
