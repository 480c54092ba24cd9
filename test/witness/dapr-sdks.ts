import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { quickRetries } from '../support/quick-retries.ts'
import { goProgramOf, prepareGo } from './go-program.ts'
import { startProgram } from './program.ts'
import { lastLine, preparePython, pythonOf, pythonSources } from './python-environment.ts'
import type { Step, Witness } from './witness.ts'

const main = resolve(import.meta.dirname, '../../src/sidecar/cli/main.ts')

const python = 'dapr-python'

/** Dapr's SDK for Python against `run` over gRPC. */
export const daprPythonSdk: Witness = {
  name: "Dapr's Python SDK over gRPC",
  prepare: () => preparePython(python, 'requirements-dapr.txt'),
  run: () => witness(pythonOf(python), [join(pythonSources, 'dapr_app.py')]),
}

const goFolder = 'go-sdk'

/** Dapr's SDK for Go against `run` over gRPC. */
export const daprGoSdk: Witness = {
  name: "Dapr's Go SDK over gRPC",
  prepare: () => prepareGo(goFolder),
  run: () => witness(goProgramOf(goFolder), []),
}

/** Runs an application beside `run`. It writes its steps as lines of JSON, and ends with a call of Shutdown. */
async function witness(program: string, args: readonly string[]): Promise<readonly Step[]> {
  const [handshakePort, appPort, httpPort, grpcPort] = await freePorts(4)
  const folder = await mkdtemp(join(tmpdir(), 'dapr-witness-'))
  try {
    await using emulator = await EventGridEmulator.start({
      ingress: () => `http://127.0.0.1:${handshakePort}/api/events`,
      topics: [{ name: 'orders' }],
      retrySchedule: quickRetries,
    })
    await writeFile(join(folder, 'ca.pem'), emulator.ca)
    await writeFile(join(folder, 'orders.yaml'), component(emulator, String(handshakePort)))
    const ports = [
      ...['--app-port', `${appPort}`, '--app-protocol', 'grpc'],
      ...['--http-port', `${httpPort}`, '--grpc-port', `${grpcPort}`],
    ]
    const token = { DAPR_API_TOKEN: 'for-callers', APP_API_TOKEN: 'for-the-application' }
    const host = startProgram(process.execPath, [main, 'run', '--components', folder, ...ports], {
      timeoutMs: 120_000,
      env: {
        ...token,
        AZURE_RESOURCE_MANAGER_URL: emulator.endpoints.resourceManager,
        AZURE_AUTHORITY_HOST: emulator.endpoints.authorityHost,
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
        NO_PROXY: '*',
      },
    })
    host.end()
    const app = startProgram(program, args, {
      timeoutMs: 120_000,
      env: {
        ...token,
        APP_PORT: `${appPort}`,
        DAPR_HTTP_PORT: `${httpPort}`,
        DAPR_GRPC_PORT: `${grpcPort}`,
        PYTHONDONTWRITEBYTECODE: '1',
        NO_PROXY: '*',
      },
    })
    await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
    app.write('go')
    const steps: Step[] = []
    // Only our applications write lines of JSON, and each has this shape; the Go SDK writes its log among them.
    for await (const line of app.lines) if (line.startsWith('{')) steps.push(JSON.parse(line) as Step)
    app.end()
    const [ofApp, ofHost] = [await app.ended, await host.ended]
    const ended = { step: 'run ends with 0 after the shutdown' }
    steps.push(ofHost.code === 0 ? ended : { ...ended, error: lastLine(ofHost) })
    if (steps.some(({ error }) => error !== undefined)) process.stderr.write(ofApp.stderr + ofHost.stderr)
    return ofApp.code === 0 ? steps : [...steps, { step: 'the application runs to its end', error: lastLine(ofApp) }]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function component(emulator: EventGridEmulator, handshakePort: string): string {
  const topic = emulator.topic('orders')
  const fields = {
    tenantId: emulator.tenantId,
    subscriptionId: emulator.subscriptionId,
    clientId: emulator.clientId,
    clientSecret: emulator.clientSecret,
    subscriberEndpoint: 'https://orders.example.com/api/events',
    handshakePort,
    scope: topic.id,
    topicEndpoint: topic.endpoint,
    accessKey: topic.key,
  }
  return JSON.stringify({
    apiVersion: 'dapr.io/v1alpha1',
    kind: 'Component',
    metadata: { name: 'orders' },
    spec: {
      type: 'bindings.azure.eventgrid',
      version: 'v1',
      metadata: Object.entries(fields).map(([name, value]) => ({ name, value })),
    },
  })
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((found) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address()
            found(typeof address === 'object' && address ? address.port : 0)
          })
        }),
    ),
  )
  for (const server of servers) server.close()
  return ports
}
