import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { listen } from './listen.ts'

/** What a webhook was sent. */
export interface WebhookCall {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The webhook of {@link openWebhook}. */
export interface Webhook {
  /** Its public https URL; any path under it ends up here. */
  readonly url: string
  readonly calls: readonly WebhookCall[]
}

/** How the webhook answers: a status, and whether it gives its consent to handshakes. */
export interface WebhookAnswer {
  readonly status?: number
  readonly consents?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Opens a webhook on a free local port, and routes a public URL of the emulator there; the test's end closes it. */
export async function openWebhook(
  emulator: EventGridEmulator,
  answer: (call: WebhookCall) => WebhookAnswer = () => ({}),
): Promise<Webhook> {
  const calls: WebhookCall[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const call = { method, url, headers, body: await text(request) }
    calls.push(call)
    const { status = 200, consents = true, headers: more = {}, body = '' } = answer(call)
    const origin = String(headers['webhook-request-origin'] ?? '*')
    const consent = consents ? { 'webhook-allowed-origin': origin, 'webhook-allowed-rate': '*' } : {}
    response.writeHead(status, { ...consent, ...more })
    response.end(body)
  })
  emulator.useIngress('https://webhook.example.com/', `http://127.0.0.1:${await listen(server)}/`)
  return { url: 'https://webhook.example.com/api/events', calls }
}
