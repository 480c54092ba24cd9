// The application behind daprd: it wants the events of every binding and has handled each at once. What it counts shows that
// none was left out.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerLines, say } from './json-lines.ts'

/** What it has handled since it was asked last. */
export interface AppFigures {
  readonly events: number
}

let events = 0

// While the others have their turn a connection of daprd rests; one that Node closes just when daprd uses it again would be
// an event that failed.
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  if (request.method === 'POST') events++
  request.resume()
  request.on('end', () => response.writeHead(200, { 'content-length': 0 }).end())
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
// A server that listens on TCP has an address of this kind.
say({ port: (server.address() as AddressInfo).port })
await answerLines(() => {
  const handled: AppFigures = { events }
  events = 0
  return handled
})
