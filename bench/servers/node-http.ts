// The bare node:http server: what Node itself needs for taking a delivery. It reads and parses the body, and answers 200.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerLines, say, setup } from './json-lines.ts'

const { servers = 1 } = setup<{ servers?: number }>()
const ports: number[] = []
let events = 0

for (let index = 0; index < servers; index++) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      events++
      JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-length': 0 }).end()
    })
  })
  server.maxConnections = 100_000
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve))
  // A server that listens on TCP has an address of this kind.
  ports.push((server.address() as AddressInfo).port)
}
say({ ports })
await answerLines(() => ({ events }))
