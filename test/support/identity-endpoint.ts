import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished, vi } from 'vitest'

/** Answers a request for a token of a managed identity. */
export type IdentityAnswer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

/** MSAL keeps the endpoint that it found first for as long as the process lives, so all tests of a process share one. */
let answerNow: IdentityAnswer = (_request, response) => void response.writeHead(500).end()
const server = createServer((request, response) => void answerNow(request, response))
server.unref()
const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

/**
 * Leads the managed identity of this process to an endpoint that answers as told, until the test ends. Tokens are kept by MSAL too, by
 * client: each test takes a client of its own.
 *
 * @returns its host and port
 */
export async function useIdentityEndpoint(answer: IdentityAnswer): Promise<string> {
  await listening
  const address = server.address()
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  answerNow = answer
  onTestFinished(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
  })
  vi.stubEnv('IDENTITY_ENDPOINT', `http://${host}/token`)
  vi.stubEnv('IDENTITY_HEADER', 'a header')
  return host
}
