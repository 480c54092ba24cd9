/** The server of `/healthz`, `/readyz`, `/config` and `/metrics`. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Health } from '../../binding/health.ts'
import type { ComponentProperties, Side } from '../../core/component.ts'
import { redacted, Secret } from '../../core/secret.ts'
import { isPrintable } from '../../metadata/fields/find-field.ts'
import { closable } from '../../support/net/closable-server.ts'
import { isForeignPage, isLoopback, isOwnHost } from '../../support/net/hosts.ts'
import { inBackground } from '../../support/work/work.ts'

export interface Observed {
  readonly draining: boolean
  readonly ready: boolean
  health(): Readonly<Record<string, Health>>
  /** The active configuration, by name of the component. */
  active(): Readonly<Record<string, ActiveComponent>>
  /** Whether the files of components were taken over. @default not told: nothing reads files */
  config?(): ConfigState
  readonly metrics: { readonly contentType: string; text(): Promise<string> }
}

/** An active component: the last metadata that were accepted. Holds no secret. */
export interface ActiveComponent {
  /** @default not known: daprd does not tell the name */
  readonly type?: string
  readonly version?: string
  /** The file that holds the component. */
  readonly file?: string
  readonly sides: readonly Side[]
  readonly metadata: ReturnType<typeof withoutSecrets>
}

/** Metadata as they were given, by name; what may be a secret is `(redacted)`: secret fields, what a secret store gave, unknown names. */
export function withoutSecrets(properties: ComponentProperties) {
  const shown = Object.entries(properties).map(([name, value]) => {
    const isHidden = value instanceof Secret || !isPrintable(name, String(value))
    return [name, isHidden ? redacted : value] as const
  })
  return Object.fromEntries(shown)
}

/** What became of the files of components when they were read last. */
export interface ConfigState {
  /** False: a fault keeps all components as they were, or one could not be started or changed. */
  readonly successful: boolean
  /** When the files were last taken over whole. */
  readonly lastSuccess: Date
  /** Why the last reload failed. */
  readonly faults: readonly string[]
  /** The components that say `ignoreErrors` and failed, by name: why they do not run. */
  readonly leftOut: Readonly<Record<string, string>>
}

export interface MetricsServer {
  readonly address: { readonly address: string; readonly port: number }
  close(): Promise<void>
}

/** Far more than probes and scrapers open. Each connection takes a descriptor, of which the listener needs some too. */
const maxConnections = 256

export interface MetricsServerOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Cancels the start, which then rejects. */
  readonly signal?: AbortSignal
}

/**
 * `/healthz` is 200 as long as the process runs: a restart does not help where Azure or the host is out of reach, and a host that runs
 * on would not read events from a new process. `/readyz` is 503 unless `ready`. Both show the health of each component, `/config` what it
 * was given.
 *
 * @throws the error of `listen`, where the port is taken for instance
 */
export async function openMetricsServer(observed: Observed, at: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port, signal } = at
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    // Outside of a promise an error would end the process.
    inBackground(answer(request, response, observed, host), () => response.destroy())
  })
  server.maxConnections = maxConnections
  const { close } = closable(server)
  server.listen({ host, port })
  try {
    await once(server, 'listening', { signal })
  } catch (error) {
    server.close()
    throw error
  }
  const address = server.address()
  return { address: typeof address === 'object' && address ? address : { address: host, port }, close }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  observed: Observed,
  host: string,
): Promise<void> {
  const path = request.url?.split('?')[0]
  if (isRefused(request, host)) response.writeHead(403).end()
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
  } else if (path === '/healthz') sendHealth(response, 200, observed)
  else if (path === '/readyz') sendHealth(response, observed.ready ? 200 : 503, observed)
  else if (path === '/config') sendJson(response, 200, { components: observed.active() })
  else if (path === '/metrics') await sendMetrics(response, observed)
  else response.writeHead(404).end()
}

/**
 * A web page must not read them: one of another site, or, where only this machine is served, one whose name was made to point here (DNS
 * rebinding). Elsewhere those who scrape use names that this process does not know.
 */
function isRefused({ headers }: IncomingMessage, host: string): boolean {
  const request = { headers, protocol: 'http' }
  return isForeignPage(request) || (isLoopback(host) && !isOwnHost(request, host))
}

function sendHealth(response: ServerResponse, status: number, { draining, ready, health, config }: Observed): void {
  sendJson(response, status, { ready, draining, components: health(), config: config?.() })
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function sendMetrics(response: ServerResponse, { metrics }: Observed): Promise<void> {
  try {
    const text = await metrics.text()
    response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
  } catch {
    response.writeHead(500).end()
  }
}
