// A webhook that consents to every delivery, for witnesses that only manage event subscriptions.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Serves it on a free port of 127.0.0.1. `to` is its URL. */
export async function openConsentingWebhook(): Promise<{ readonly to: string } & AsyncDisposable> {
  const server = createServer(({ headers }, answer) => {
    answer.setHeader('webhook-allowed-origin', headers['webhook-request-origin'] ?? '')
    answer.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Only a server on a Unix socket has a text for its address.
  const { port } = server.address() as AddressInfo
  return {
    to: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
