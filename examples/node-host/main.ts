/**
 * Runs the host: `node examples/node-host/main.ts components secrets.json http://127.0.0.1:3000`. SIGHUP has it read the components again.
 *
 * With a running emulator in place of Azure, the address of its page comes last: `http://127.0.0.1:4431`
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { component } from 'eventgrid-binding'
import { startHost } from './host.ts'
import { timer } from './timer.ts'

const [components, secretsFile, app, emulator] = process.argv.slice(2)
if (!components || !secretsFile || !app) {
  console.error('usage: node examples/node-host/main.ts COMPONENTS SECRETS.json APP_URL [EMULATOR_PAGE_URL]')
  process.exit(2)
}

// The emulator tells its endpoints as the binding takes them.
const endpoints = emulator ? await (await fetch(new URL('/emulator/endpoints', emulator))).json() : undefined

const host = await startHost({
  components,
  load: { secrets: JSON.parse(readFileSync(secretsFile, 'utf8')) },
  app,
  plugins: [
    timer,
    { ...component, create: (options) => component.create({ ...options, ...(endpoints ? { endpoints } : {}) }) },
  ],
})
for (const [name, binding] of host.bindings) console.log(`${name} listens on port ${binding.address()?.port ?? 'none'}`)
process.on('SIGHUP', () => host.reload().catch((error) => console.error(error.message)))
// For Prometheus.
const server = createServer(async (_request, response) => response.end(await host.metrics()))
server.listen(9464, '127.0.0.1')
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    server.close()
    return host.close()
  })
