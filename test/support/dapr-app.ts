import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** One request that the application was sent. */
export interface AppCall {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What the application answers: a status, `'hang'` for nothing at all, `'drop'` for a connection that ends, `'upgrade'` for a 101. */
export type AppAnswer = number | 'hang' | 'drop' | 'upgrade'

/**
 * An application as Dapr calls it over HTTP, for every door: the embedded host, and daprd with the pluggable component. It
 * takes events at each
 * path that `subscribed` names, and remembers all that it was sent.
 */
export interface DaprApp {
  readonly port: number
  readonly calls: readonly AppCall[]
  /** Resolves with the calls of a method, once there are so many; without a number, with those there are. */
  received(method: 'POST' | 'OPTIONS' | 'GET', count: number): Promise<readonly AppCall[]>
  /** How posted events are answered from now on. */
  answerWith(answer: (call: AppCall, index: number) => AppAnswer | Promise<AppAnswer>): void
  /** Whether GET, which asks for its health, is answered 200 or 500 from now on. It is well to begin with. */
  feel(well: boolean): void
  close(): Promise<void>
}

/** Opens one on a port, a free one unless said; the test's end closes it. */
export async function openDaprApp({
  port = 0,
  subscribed = () => true,
}: {
  readonly port?: number
  readonly subscribed?: (path: string) => boolean | Promise<boolean>
} = {}): Promise<DaprApp> {
  const calls: AppCall[] = []
  let answer: (call: AppCall, index: number) => AppAnswer | Promise<AppAnswer> = () => 200
  let watchers: (() => void)[] = []
  let well = true
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const call = { method, path, headers, body: await text(request).catch(() => '') }
    calls.push(call)
    for (const look of watchers) look()
    if (method === 'OPTIONS') return void response.writeHead((await subscribed(path)) ? 200 : 404).end()
    const posted = calls.filter((one) => one.method === 'POST')
    const status = method === 'POST' ? await answer(call, posted.indexOf(call)) : well ? 200 : 500
    if (status === 'hang') return
    if (status === 'drop') request.socket.destroy()
    else if (status === 'upgrade')
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tea\r\n\r\n')
    else response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  onTestFinished(close)
  return {
    // A listening TCP server has an address of this form.
    port: (server.address() as AddressInfo).port,
    calls,
    received: (method, count) =>
      new Promise((resolve) => {
        const look = () => {
          const found = calls.filter((call) => call.method === method)
          if (found.length < count) return
          watchers = watchers.filter((one) => one !== look)
          resolve(found)
        }
        watchers.push(look)
        look()
      }),
    answerWith(next) {
      answer = next
    },
    feel(now) {
      well = now
    },
    close,
  }
}
