import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { closable } from '../support/closable-server.ts'
import type { Pluggable } from './server.ts'

/** The port for those who watch this process. */
export interface Observation {
  readonly address: { readonly address: string; readonly port: number }
  close(): Promise<void>
}

export interface ObservationOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  /** Cancels the start, which then rejects. */
  readonly signal?: AbortSignal
}

/**
 * Serves over http: `/healthz` (200 as long as the process runs: a restart helps nothing that Azure or the host lacks, and a host that
 * runs on would not read events from the new process), `/readyz` (503 while it drains, and until the host has initialised a component), both with the health of each component, and
 * `/metrics`. Throws where the port is taken.
 */
export async function observe(pluggable: Pluggable, at: ObservationOptions): Promise<Observation> {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const path = request.url?.split('?')[0]
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
    } else if (path === '/healthz') sendHealth(response, 200, pluggable)
    else if (path === '/readyz') sendHealth(response, pluggable.ready ? 200 : 503, pluggable)
    else if (path === '/metrics') void sendMetrics(response, pluggable)
    else response.writeHead(404).end()
  })
  const { close } = closable(server)
  const { host, port, signal } = at
  server.listen({ host, port })
  try {
    await once(server, 'listening', { signal })
  } catch (error) {
    server.close()
    throw error
  }
  const address = server.address()
  return {
    address: typeof address === 'object' && address ? address : { address: at.host, port: at.port },
    close,
  }
}

function sendHealth(response: ServerResponse, status: number, { draining, ready, health }: Pluggable): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ ready, draining, components: health() }))
}

async function sendMetrics(response: ServerResponse, { metrics }: Pluggable): Promise<void> {
  try {
    const text = await metrics.text()
    response.writeHead(200, { 'content-type': metrics.contentType }).end(text)
  } catch {
    response.writeHead(500).end()
  }
}
