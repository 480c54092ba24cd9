import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { listen } from '../support/listen.ts'

/** One request as the topic got it. */
export interface TopicRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The events of the body. */
  readonly events: readonly Record<string, unknown>[]
  /** Number of the request, from 0. */
  readonly index: number
}

/** What the topic does with a request: a status, headers and body, a connection cut, or nothing until `release` is called. */
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | { readonly cut: true }
  /** An answer of this status whose body never ends. */
  | { readonly endless: number }
  /** An answer of this status that breaks off in the middle of its body. */
  | { readonly half: number }
  | { readonly hold: Promise<unknown>; readonly afterwards?: Answer }
  /** Something else answers in the topic's place: nothing of Event Grid's is in it. */
  | { readonly foreign: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer }
  /** The head of an answer of this status, whose body never comes. */
  | { readonly headOf: number; readonly headers?: Record<string, string> }

/** The id that every answer of the topic's own has. */
export const requestId = '0f8fad5b-d9cb-469f-a165-70867728950e'

const ok: Answer = { status: 200 }

/** Answers the first request so, and takes the others. */
export const atFirst =
  (first: Answer) =>
  ({ index }: Pick<TopicRequest, 'index'>): Answer =>
    index === 0 ? first : ok

/** Event Grid's form of an error body. */
export const problem = (code: string, message: string) => ({ error: { code, message, details: [{ code, message }] } })

/**
 * A topic on a free port of loopback that answers by a script and records what it gets. Written from Event Grid's
 * documentation, apart from the product's code.
 */
export async function startTopic(answerTo: (request: TopicRequest) => Answer = () => ok) {
  const requests: TopicRequest[] = []
  let waiters: { count: number; resolve: () => void }[] = []
  let connections = 0
  let underWay = 0
  let mostUnderWay = 0
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const { method = '', url = '', headers } = incoming
      const request = { method, url, headers, body, events: JSON.parse(body), index: requests.length }
      requests.push(request)
      underWay += 1
      mostUnderWay = Math.max(mostUnderWay, underWay)
      outgoing.on('close', () => {
        underWay -= 1
      })
      waiters = waiters.filter((waiter) => {
        if (requests.length < waiter.count) return true
        waiter.resolve()
        return false
      })
      give(answerTo(request), outgoing)
    })
  })
  let lastGone = Promise.resolve()
  server.on('connection', (socket) => {
    connections += 1
    lastGone = new Promise((resolve) => socket.once('close', () => resolve()))
  })
  const port = await listen(server)
  return {
    /** Ends the topic, so that nobody listens on its port. */
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    origin: `http://127.0.0.1:${port}`,
    endpoint: `http://127.0.0.1:${port}/api/events`,
    requests,
    connections: () => connections,
    /** Resolves when the newest connection has ended. */
    disconnected: () => lastGone,
    mostUnderWay: () => mostUnderWay,
    /** Resolves when so many requests have arrived. */
    arrived: (count: number) =>
      new Promise<void>((resolve) => {
        if (requests.length >= count) resolve()
        else waiters.push({ count, resolve })
      }),
    events: () => requests.flatMap(({ events }) => events),
  }
}

function give(answer: Answer, outgoing: ServerResponse): void {
  if ('hold' in answer) {
    void answer.hold.then(() => give(answer.afterwards ?? ok, outgoing))
  } else if ('endless' in answer) {
    outgoing.writeHead(answer.endless, { 'content-type': 'text/plain' })
    outgoing.flushHeaders()
    const more = () => {
      while (!outgoing.destroyed && outgoing.write('x'.repeat(10_000)));
    }
    outgoing.on('drain', more)
    more()
  } else if ('foreign' in answer) {
    outgoing.writeHead(answer.foreign, answer.headers).end(answer.body)
  } else if ('headOf' in answer) {
    outgoing.writeHead(answer.headOf, answer.headers).flushHeaders()
  } else if ('half' in answer) {
    outgoing.writeHead(answer.half, { 'content-length': 1_000 })
    outgoing.write('{"error":', () => outgoing.socket?.destroy())
  } else if ('cut' in answer) {
    outgoing.socket?.destroy()
  } else {
    const { status, headers, body } = answer
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    outgoing.writeHead(status, {
      'x-ms-request-id': requestId,
      'api-supported-versions': '2018-01-01',
      ...(text !== '' && { 'content-type': 'application/json; charset=utf-8' }),
      ...headers,
    })
    outgoing.end(text)
  }
}

/** A gate that holds answers until it is opened. */
export function createGate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { hold: promise, open: () => resolve() }
}

/** A topic that holds its first answer until `open`, so that what follows has to wait. */
export async function startHeldTopic(
  rest: (index: number, events: readonly Record<string, unknown>[]) => Answer = () => ok,
) {
  const gate = createGate()
  const topic = await startTopic(({ index, events }) => (index === 0 ? { hold: gate.hold } : rest(index, events)))
  return { topic, open: gate.open }
}

/** A CloudEvent of so few words. */
export const event = (id: string, more: object = {}) => ({ specversion: '1.0', id, source: '/s', type: 't', ...more })

export const ids = (events: readonly Record<string, unknown>[]) => events.map(({ id }) => id)
