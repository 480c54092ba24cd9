// A stretch of network in front of the emulator's Resource Manager: it may hold a request, and passes it on though its sender has gone.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request as send } from 'node:https'
import { buffer } from 'node:stream/consumers'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { listen } from './listen.ts'
import { ownCertificate } from './public-ingress.ts'

/** What a request asks: its method, and its path without the query. */
export interface RelayedRequest {
  readonly method: string
  readonly path: string
}

/**
 * @param hold resolves when a request may go on
 * @returns endpoints that lead through it
 */
export async function openArmRelay(emulator: EventGridEmulator, hold: (request: RelayedRequest) => Promise<unknown>) {
  const { key, certificate: ca } = await ownCertificate('localhost')
  const { hostname, port } = new URL(emulator.endpoints.resourceManager)

  async function pass(request: IncomingMessage): Promise<{ readonly answer: IncomingMessage; readonly body: Buffer }> {
    const { method = 'GET', url: path = '/', headers } = request
    const body = await buffer(request)
    await hold({ method, path: path.replace(/\?.*/, '') })
    const sending = send({ hostname, port, method, path, headers, ca: emulator.ca })
    sending.end(body)
    const [answer] = await once(sending, 'response')
    return { answer, body: await buffer(answer) }
  }

  const server = createServer({ key, cert: ca }, (request, response) => {
    pass(request).then(
      ({ answer, body }) => response.writeHead(answer.statusCode ?? 502, answer.headers).end(body),
      () => response.destroy(),
    )
  })
  server.on('tlsClientError', () => {})
  const own = await listen(server)
  const { endpoints } = emulator
  return { ...endpoints, resourceManager: `https://localhost:${own}`, ca: `${endpoints.ca}\n${ca}` }
}
