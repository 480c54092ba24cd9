/**
 * The application of the fault suite, in a process that no fault touches: it writes down what handlers finished.
 *
 * `POST /events` with a key: a handler's work. `POST /mode?hold=1&fail=0.2&hang=0.1&seed=7`: how it goes from now on.
 * `GET /held?least=50` and `?most=0`: answered once so many handlers are being held. `GET /finished`: count by key.
 */
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { seededRandom } from './seeded-random.ts'

interface Mode {
  readonly hold: boolean
  readonly fail: number
  readonly hang: number
}

interface Watcher {
  readonly reached: (held: number) => boolean
  readonly answer: () => void
}

const finished = new Map<string, number>()
const held = new Map<ServerResponse, string>()
let watchers: Watcher[] = []
let mode: Mode = { hold: false, fail: 0, hang: 0 }
let random = seededRandom(1)

function finish(key: string, response: ServerResponse): void {
  finished.set(key, (finished.get(key) ?? 0) + 1)
  response.end()
}

function tellWatchers(): void {
  const reached = watchers.filter((watcher) => watcher.reached(held.size))
  watchers = watchers.filter((watcher) => !reached.includes(watcher))
  for (const watcher of reached) watcher.answer()
}

function handle(key: string, response: ServerResponse): void {
  const luck = random()
  if (luck < mode.fail) {
    response.writeHead(500).end()
  } else if (luck < mode.fail + mode.hang) {
    // Never answered: the handler has to give up by itself.
  } else if (mode.hold) {
    held.set(response, key)
    response.once('close', () => {
      held.delete(response)
      tellWatchers()
    })
    tellWatchers()
  } else {
    finish(key, response)
  }
}

function setMode(query: URLSearchParams): void {
  mode = { hold: query.has('hold'), fail: Number(query.get('fail') ?? 0), hang: Number(query.get('hang') ?? 0) }
  random = seededRandom(Number(query.get('seed') ?? 1))
  if (mode.hold) return
  const waiting = [...held]
  held.clear()
  for (const [response, key] of waiting) finish(key, response)
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://ledger')
  const body = await text(request).catch(() => undefined)
  if (body === undefined) return
  if (pathname === '/events') return handle(body, response)
  if (pathname === '/mode') {
    setMode(searchParams)
    return response.end()
  }
  if (pathname === '/held') {
    const [least, most] = [Number(searchParams.get('least') ?? 0), Number(searchParams.get('most') ?? Number.MAX_VALUE)]
    watchers.push({ reached: (count) => count >= least && count <= most, answer: () => response.end(`${held.size}`) })
    return tellWatchers()
  }
  response.end(JSON.stringify([...finished]))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address) console.log(address.port)
})
