import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { connectHost } from '../sidecar/pluggable/grpc-host.ts'
import { type Command, startProcess } from '../support/command.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { makeSocketFolder } from '../support/socket-folder.ts'
import { type Fleet, openFleet } from './fleet.ts'

const main = resolve(import.meta.dirname, '../../dist/src/sidecar/cli/main.js')

/** A process of `serve`, and what stands for its daprd. */
export interface Server {
  readonly serving: Command
  /** Resolves when `/readyz` is 200; from then on the ingress leads to it. */
  readonly ready: Promise<void>
  /** As Kubernetes ends a pod: the ingress leads elsewhere first. */
  stop(): Promise<void>
}

export interface ServeFleet extends Fleet {
  startServers(count: number, changes: Readonly<Record<string, string>>): Promise<readonly Server[]>
  /** Entra accepts this secret from now on. */
  renew(clientSecret: string): void
  /** Changes of the event subscription that Resource Manager accepted so far. */
  writes(): number
  /** How deliveries were answered so far: the status, and what the answer says where that is not 200; with their number. */
  answers(): Readonly<Record<string, number>>
}

/** An emulator and an ingress that spreads deliveries over the processes that are ready. The test's end stops all. */
export async function openServeFleet(): Promise<ServeFleet> {
  const fleet = await openFleet({ operationDelayMs: 1_500 })
  const { emulator, fields } = fleet
  const routed: number[] = []
  let turn = 0
  const ingress = ({ pathname }: URL) => `http://127.0.0.1:${routed[turn++ % routed.length] ?? 1}${pathname}`
  emulator.setIngress(ingress)
  const counted: Record<string, number> = {}
  emulator.records.deliveries.listen(({ status, responseBody = '', error }) => {
    const [, detail = ''] = /"detail":"([^"]*)"/.exec(responseBody) ?? []
    const answer = status === 200 ? '200' : `${status ?? error} ${detail}`
    counted[answer] = (counted[answer] ?? 0) + 1
  })

  async function startServer(changes: Readonly<Record<string, string>>): Promise<Server> {
    const sockets = makeSocketFolder()
    const serving = startProcess(
      process.execPath,
      [main, 'serve', '--sockets-folder', sockets, '--metrics-port', '0'],
      {
        AZURE_RESOURCE_MANAGER_URL: emulator.endpoints.resourceManager,
        AZURE_AUTHORITY_HOST: emulator.endpoints.authorityHost,
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../.cache/compile'),
      },
    )
    const [, metrics] = await serving.line(/health and metrics.* port=(\d+)/)
    await serving.line(/\bready\b/)
    const daprd = connectHost(join(sockets, 'azure.eventgrid.sock'))
    onTestFinished(() => daprd.close())
    const port = await freePort()
    const own = { handshakePort: String(port), ...changes }
    await daprd.init('input', 'orders', { ...fields, ...own })
    const reading = await daprd.read('orders')
    const handle = async (): Promise<never> => {
      for (;;) {
        const event = await reading.next()
        fleet.handled(JSON.parse(event.data.toString()).id)
        reading.acknowledge(event)
      }
    }
    void handle()
    const probe = async () => {
      const { status } = await fetch(`http://127.0.0.1:${metrics}/readyz`)
      if (status !== 200) throw new Error(`/readyz answers ${status}`)
    }
    const ready = eventually(probe).then(() => void routed.push(port))
    // Whoever starts many awaits them later.
    ready.catch(() => {})
    return {
      serving,
      ready,
      async stop() {
        routed.splice(routed.indexOf(port), 1)
        // What was on its way to it is handled meanwhile.
        await fleet.progress(200)
        serving.process.kill('SIGTERM')
        await serving.ended
      },
    }
  }

  return {
    ...fleet,
    startServers: (count, changes) => Promise.all(Array.from({ length: count }, () => startServer(changes))),
    renew(clientSecret) {
      const { clientId, tenantId } = emulator
      emulator.reconfigure({ ingress, clients: [{ clientId, tenantId, clientSecret }] })
    },
    writes: () =>
      emulator.records.requests.filter(
        ({ route, method, status }) => route === 'arm' && (method === 'PUT' || method === 'PATCH') && status < 400,
      ).length,
    answers: () => counted,
  }
}
