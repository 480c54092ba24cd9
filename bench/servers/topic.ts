// A topic over TLS that is as fast as can be: it reads what is published and answers 200. What it counts shows that nothing was left out.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { answerLines, say } from './json-lines.ts'
import { selfSigned } from './self-signed.ts'

/** What it has taken since it was asked last. */
export interface TopicFigures {
  readonly requests: number
  readonly events: number
  readonly connections: number
}

const { key, cert } = await selfSigned()

/** In every event of the benchmark once; counting it costs less than parsing. */
const mark = Buffer.from('"specversion"')
let figures = { requests: 0, events: 0, connections: 0 }

const server = createServer({ key, cert }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) figures.events++
    figures.requests++
    response.writeHead(200, { 'content-length': 0 }).end()
  })
})
server.on('secureConnection', () => {
  figures.connections++
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
// A server that listens on TCP has an address of this kind.
const { port } = server.address() as AddressInfo
say({ endpoint: `https://127.0.0.1:${port}/api/events`, ca: cert })
await answerLines(() => {
  const taken: TopicFigures = figures
  figures = { requests: 0, events: 0, connections: 0 }
  return taken
})
