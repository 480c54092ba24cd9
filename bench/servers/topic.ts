// A topic over TLS that is as fast as can be: it reads what is published and answers 200. What it counts shows that nothing was left out.
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { X509CertificateGenerator } from '@peculiar/x509'
import { answerLines, say } from './json-lines.ts'

/** What it has taken since it was asked last. */
export interface TopicFigures {
  readonly requests: number
  readonly events: number
  readonly connections: number
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
const certificate = await X509CertificateGenerator.createSelfSigned({
  name: 'CN=localhost',
  keys,
  signingAlgorithm: algorithm,
  extensions: [
    new (await import('@peculiar/x509')).SubjectAlternativeNameExtension([
      { type: 'dns', value: 'localhost' },
      { type: 'ip', value: '127.0.0.1' },
    ]),
  ],
})
const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
const cert = certificate.toString('pem')

/** In every event of the benchmark once; counting it costs less than parsing. */
const mark = Buffer.from('"specversion"')
let figures = { requests: 0, events: 0, connections: 0 }

const server = createServer(
  { key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`, cert },
  (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) figures.events++
      figures.requests++
      response.writeHead(200, { 'content-length': 0 }).end()
    })
  },
)
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
