// The application behind daprd: it wants the events of every binding and has handled each at once.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerLines, say } from './json-lines.ts'

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(200, { 'content-length': 0 }).end())
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
// A server that listens on TCP has an address of this kind.
say({ port: (server.address() as AddressInfo).port })
await answerLines(() => ({}))
