import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished, vi } from 'vitest'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { credentialOf } from './azure-clients.ts'

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

const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}): IdentityAnswer =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{"error":"busy"}')

/** How an identity endpoint fails while it starts or is busy. */
export const stumbles: readonly { readonly name: string; readonly stumble: IdentityAnswer }[] = [
  { name: 'answers 410', stumble: answer(410) },
  { name: 'answers 429', stumble: answer(429, { 'retry-after': '0' }) },
  { name: 'answers 500', stumble: answer(500) },
  { name: 'drops the connection', stumble: (request) => void request.socket.destroy() },
]

/** Stumbles `times`, then gives the emulator's tokens; counts the requests. */
export function stumbling(emulator: EventGridEmulator, stumble: IdentityAnswer, times: number) {
  let asked = 0
  const answer: IdentityAnswer = async (request, response) => {
    asked++
    if (asked <= times) return stumble(request, response)
    const resource = new URL(request.url ?? '', 'http://localhost').searchParams.get('resource') ?? ''
    const { token, expiresOnTimestamp } = await credentialOf(emulator).getToken(`${resource}/.default`)
    const body = {
      access_token: token,
      expires_on: String(Math.floor(expiresOnTimestamp / 1000)),
      token_type: 'Bearer',
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ...body, resource, client_id: emulator.clientId }))
  }
  return { answer, asked: () => asked }
}

/** Metadata fields of a managed identity. Each call makes another identity, since MSAL keeps the tokens of one. */
export const managed = () => ({
  ...{ azureCredential: 'managedIdentity', tenantId: undefined, clientId: randomUUID(), clientSecret: undefined },
  deliveryToken: 'a-delivery-token-that-is-long-enough',
})

/** The same for both sides. */
export const byIdentity = () => ({ ...managed(), topicAuthentication: 'entra', accessKey: undefined })
