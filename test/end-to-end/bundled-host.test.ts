// A host that has this library within, bundled by esbuild: no file is looked up at run time.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../support/start-emulator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = resolve(import.meta.dirname, '../..')

/** Initialises, publishes, and prints the id of the event that is delivered. Its port goes to its parent, which leads the ingress there. */
const host = `
import { Binding, isBindingError } from 'eventgrid-binding'

async function main() {
  const { endpoints, metadata } = JSON.parse(process.env.HOST_SETTINGS)
  const received = Promise.withResolvers()
  const binding = new Binding({ endpoints, onEvent: ({ cloudEvent }) => received.resolve(cloudEvent.id) })
  await binding.init({}).catch((error) => console.log(isBindingError(error) ? error.code : error))
  const ready = binding.init(metadata)
  const { port } = await (async () => {
    for (;;) {
      const address = binding.address()
      if (address) return address
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })()
  process.send({ port })
  await ready
  await binding.invoke('create', { order: 1 }, { metadata: { id: 'bundled' } })
  console.log(await received.promise)
  await binding.close()
  process.disconnect()
}
main().catch((error) => { console.error(error); process.exit(1) })
`

const requireBanner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

it.each([
  { format: 'esm', file: 'host.mjs', banner: { js: requireBanner } },
  { format: 'cjs', file: 'host.cjs', banner: {} },
] as const)(
  'initialises, delivers and publishes in a bundle of the format $format',
  async ({ format, file, banner }) => {
    const outfile = join(temporaryFolder(), file)
    const stdin = { contents: host, resolveDir: root, loader: 'js' } as const
    await build({ stdin, outfile, format, banner, bundle: true, platform: 'node', target: 'node22', logLevel: 'error' })

    const emulator = await startEmulator({ topics: [{ name: 'orders' }] })
    const { id: scope, endpoint: topicEndpoint, key: accessKey } = emulator.topic('orders')
    const { tenantId, subscriptionId, clientId, clientSecret } = emulator
    const metadata = {
      ...{ tenantId, subscriptionId, clientId, clientSecret, scope, topicEndpoint, accessKey, handshakePort: '0' },
      subscriberEndpoint: 'https://orders.example.com/api/events',
    }
    const env = { ...process.env, HOST_SETTINGS: JSON.stringify({ endpoints: emulator.endpoints, metadata }) }
    const running = fork(outfile, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    onTestFinished(() => void running.kill('SIGKILL'))
    running.on('message', (message: { readonly port: number }) =>
      emulator.setIngress(({ pathname }) => `http://127.0.0.1:${message.port}${pathname}`),
    )
    const [said, complaints, [code]] = await Promise.all([
      running.stdout && text(running.stdout),
      running.stderr && text(running.stderr),
      once(running, 'exit'),
    ])
    expect({ said, complaints, code }).toEqual({ said: 'METADATA_INVALID\nbundled\n', complaints: '', code: 0 })
  },
)
