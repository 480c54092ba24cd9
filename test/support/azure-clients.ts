import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { EventGridManagementClient } from '@azure/arm-eventgrid'
import { ClientSecretCredential } from '@azure/identity'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'

/** An answer, its body parsed where it is JSON. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

/** A request to the emulator by hand, for what the SDKs would not send. */
export interface HandRequest {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** The SDKs' real credential, of the emulator's first client unless said otherwise. */
export function credentialOf(
  emulator: EventGridEmulator,
  secret: string = emulator.clientSecret,
): ClientSecretCredential {
  return new ClientSecretCredential(emulator.tenantId, emulator.clientId, secret, {
    authorityHost: emulator.endpoints.authorityHost,
    disableInstanceDiscovery: true,
    tlsOptions: { ca: emulator.ca },
    retryOptions: { maxRetries: 0 },
  })
}

/** The SDKs' real management client. */
export function managementOf(emulator: EventGridEmulator, apiVersion?: string): EventGridManagementClient {
  return new EventGridManagementClient(credentialOf(emulator), emulator.subscriptionId, {
    endpoint: emulator.endpoints.resourceManager,
    $host: emulator.endpoints.resourceManager,
    tlsOptions: { ca: emulator.ca },
    retryOptions: { maxRetries: 0 },
    ...(apiVersion === undefined ? {} : { apiVersion }),
  })
}

/** Sends a request by hand, over https with the emulator's CA. */
export async function send(emulator: EventGridEmulator, path: string, sent: HandRequest = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = sent
  // Node leaves it out for some methods, and their bodies would be taken for the next request.
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const options = { method, path, headers: { ...length, ...headers }, ca: emulator.ca }
  const out = request(emulator.endpoints.resourceManager, options)
  // An answer may come before all of a body is sent; what fails of the rest is no matter.
  out.on('error', () => {})
  out.end(body)
  const [answer] = await once(out, 'response')
  const content = await text(answer)
  return { status: answer.statusCode, headers: answer.headers, body: parsed(content) }
}

/** The same with a token for ARM, and `api-version` filled in. */
export async function sendArm(emulator: EventGridEmulator, path: string, sent: HandRequest = {}): Promise<Answer> {
  const { token } = await credentialOf(emulator).getToken('https://management.azure.com/.default')
  const url = path.includes('api-version') ? path : `${path}${path.includes('?') ? '&' : '?'}api-version=2022-06-15`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...sent.headers }
  return send(emulator, url, { ...sent, headers })
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return content
  }
}
