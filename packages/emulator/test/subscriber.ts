import http from 'node:http'
import https from 'node:https'
import { listen } from '../../../test/support/listen.ts'

/** A request as a subscriber got it. */
export interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
  /** Tells connections apart. */
  readonly remotePort: number | undefined
}

/** What a subscriber answers; undefined: nothing, ever. `'drop'` closes the connection. */
export type SubscriberAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'drop'
  | undefined

/** A real HTTP server that plays the webhook. */
export interface Subscriber {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** The requests that are no handshake. */
  readonly deliveries: () => readonly ReceivedRequest[]
  /** How the next deliveries are answered, one each; then 200. */
  answer(...answers: SubscriberAnswer[]): void
  /** How all deliveries to a path are answered. */
  answerTo(path: string, answer: SubscriberAnswer): void
  /** How handshakes are answered. */
  onHandshake(handler: (request: ReceivedRequest) => SubscriberAnswer): void
  /** Resolves once so many deliveries came in. */
  received(count: number): Promise<void>
}

/** Grants whatever is asked, in either schema. */
export const grant = (request: ReceivedRequest): SubscriberAnswer => {
  if (request.method === 'OPTIONS') {
    return { status: 200, headers: { 'webhook-allowed-origin': String(request.headers['webhook-request-origin']) } }
  }
  const [event] = JSON.parse(request.body)
  return { status: 200, body: JSON.stringify({ validationResponse: event.data.validationCode }) }
}

const isHandshake = ({ method, headers }: ReceivedRequest) =>
  method === 'OPTIONS' || headers['aeg-event-type'] === 'SubscriptionValidation'

/** Starts one on a free port, by https if there is a certificate; the test's end closes it. */
export async function startSubscriber(tls?: https.ServerOptions): Promise<Subscriber> {
  const requests: ReceivedRequest[] = []
  const answers: SubscriberAnswer[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const byPath = new Map<string, SubscriberAnswer>()
  let handshake = grant
  const nextAnswer = (path: string) => {
    if (byPath.has(path)) return byPath.get(path)
    return answers.length > 0 ? answers.shift() : { status: 200 }
  }
  const deliveries = () => requests.filter((request) => !isHandshake(request))
  const listener: http.RequestListener = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const received = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      remotePort: request.socket.remotePort,
    }
    requests.push(received)
    const answer = isHandshake(received) ? handshake(received) : nextAnswer(received.url)
    for (const { count, resolve } of waiting) if (deliveries().length >= count) resolve()
    if (answer === 'drop') request.socket.destroy()
    else if (answer) response.writeHead(answer.status, answer.headers).end(answer.body)
  }
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener)
  const port = await listen(server)
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    deliveries,
    answer: (...more) => void answers.push(...more),
    answerTo: (path, answer) => void byPath.set(path, answer),
    onHandshake(handler) {
      handshake = handler
    },
    received: (count) =>
      deliveries().length >= count
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.push({ count, resolve })),
  }
}

/** An endpoint that needs longer for an answer than the emulator takes to see that nothing moves. Returns its URL. */
export async function startSlowEndpoint(afterMs = 600): Promise<string> {
  const server = http.createServer(({ headers }, response) => {
    const origin = String(headers['webhook-request-origin'] ?? '')
    setTimeout(() => response.writeHead(200, { 'webhook-allowed-origin': origin }).end(), afterMs)
  })
  return `http://127.0.0.1:${await listen(server)}`
}
