/**
 * Event Grid, the binding, a stock daprd and an application on one machine: `npm run example:dapr`
 *
 * Somebody places an order on the topic; it reaches the application through the binding and daprd, and the application confirms it through
 * daprd and the binding. Ends with 0 when both events have gone their way. daprd is the one on the PATH, or Dapr's own
 * (`dapr init --slim`), or the one of the tests, which is built the first time and needs Go.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { createChildren } from './children.ts'

const here = import.meta.dirname
const cli = join(
  dirname(fileURLToPath(import.meta.resolve('eventgrid-binding/package.json'))),
  'dist/src/sidecar/cli/main.js',
)

/** Only a clone has the tests. */
const daprdOfTests = () =>
  import('../../test/dapr/daprd-program.ts').then(
    ({ obtainDaprd }) => obtainDaprd(),
    () => undefined,
  )

const daprd =
  [
    ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'daprd')),
    join(homedir(), '.dapr/bin/daprd'),
  ].find((file) => existsSync(file)) ?? (await daprdOfTests())
if (daprd === undefined) {
  console.error('There is no daprd: install Go, with which this script builds one, or run `dapr init --slim`.')
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'dapr-'))
const children = createChildren()
const emulator = await EventGridEmulator.start({ retrySchedule: [500] })
try {
  const [handshakePort, appPort, httpPort, grpcPort, internalPort] = await freePorts(5)
  const topic = emulator.topic('orders')

  // 1. Event Grid, Resource Manager and Entra; and the ingress that leads from the public address to handshakePort.
  emulator.useIngress('https://orders.example.com/', `http://127.0.0.1:${handshakePort}/`)

  // 2. The binding as a pluggable component. It comes first, since daprd looks for sockets only when it starts.
  const sockets = { DAPR_COMPONENTS_SOCKETS_FOLDER: join(folder, 'sockets') }
  await children.start('component', [process.execPath, cli, 'serve', '--emulator', emulator.proxy], {
    env: sockets,
    ready: / ready /,
  })

  // 3. The application, and its sidecar.
  const app = [process.execPath, join(here, 'app.ts'), `${appPort}`, `${httpPort}`]
  await children.start('app', app, { ready: /^ready/ })
  const metadata = {
    AZURE_TENANT_ID: emulator.tenantId,
    AZURE_SUBSCRIPTION_ID: emulator.subscriptionId,
    AZURE_CLIENT_ID: emulator.clientId,
    AZURE_CLIENT_SECRET: emulator.clientSecret,
    HANDSHAKE_PORT: `${handshakePort}`,
    TOPIC_ID: topic.id,
    TOPIC_ENDPOINT: topic.endpoint,
    TOPIC_KEY: topic.key,
  }
  const files = ['--resources-path', join(here, 'components'), '--config', join(here, 'config.yaml')]
  const ports = ['--dapr-http-port', `${httpPort}`, '--dapr-grpc-port', `${grpcPort}`]
  const inner = ['--dapr-internal-grpc-port', `${internalPort}`, '--enable-metrics=false']
  const sidecar = [daprd, '--app-id', 'shop', '--app-port', `${appPort}`, ...files, ...ports, ...inner]
  await children.start('daprd', sidecar, {
    env: { ...sockets, ...metadata },
    ready: /dapr initialized/,
    show: /registered for|init for|app.*discovered|initialized|level=fatal/,
  })

  // 4. The event subscription comes up in the background: the sidecar is ready before Event Grid shakes hands.
  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()

  // 5. Somebody places an order.
  const order = { specversion: '1.0', id: '17', source: '/shop', type: 'order.placed', data: { item: 'tea' } }
  const answer = await fetch(topic.httpEndpoint, {
    method: 'POST',
    headers: { 'aeg-sas-key': topic.key, 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(order),
  })
  if (!answer.ok) throw new Error(`the topic answered ${answer.status}`)
  await emulator.records.deliveries.waitFor(({ eventIds, status }) => eventIds[0] === 'confirmed-17' && status === 200)
  // The application publishes the confirmation before it acknowledges the order.
  await emulator.settled()
  const { published, delivered } = emulator.figures()
  console.log(`done: ${published} events published, ${delivered} delivered and acknowledged`)
} finally {
  await children.stop()
  await emulator.close()
  rmSync(folder, { recursive: true, force: true })
}

/** Ports that nobody listens on at the moment. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  return servers.map((server) => {
    const address = server.address()
    server.close()
    return typeof address === 'object' && address ? address.port : 0
  })
}
