import { listen } from './listen.ts'
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { X509CertificateGenerator } from '@peculiar/x509'

/** An http server that answers everything with one status, as an ingress without a working backend does. Its base URL. */
export async function answering(status: number): Promise<string> {
  const server = createHttpServer((_request, response) => response.writeHead(status).end())
  return `http://127.0.0.1:${await listen(server)}`
}

/** An https server whose certificate nobody has signed but itself. Its base URL. */
export async function selfSigned(): Promise<string> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=127.0.0.1',
    keys,
    signingAlgorithm: algorithm,
  })
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  const pem = `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`
  const server = createHttpsServer({ key: pem, cert: certificate.toString('pem') }, (_request, response) =>
    response.end(),
  )
  return `https://127.0.0.1:${await listen(server)}`
}
