// A public address that can really be asked: https on `localhost`, in front of a listener, with a certificate of its own.
import 'reflect-metadata'
import { randomUUID, webcrypto } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { createServer } from 'node:https'
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'
import { listen } from './listen.ts'

/** Where a request goes: to a port of this machine, or to an answer of the ingress itself. */
export type Route = number | ((response: ServerResponse, request: IncomingMessage) => void)

export interface PublicIngress {
  readonly url: string
  /** Its certificate (PEM), which is its authority too. */
  readonly ca: string
  /** The methods by which the binding itself asked. */
  readonly asked: readonly string[]
  /** How requests are answered from now on. At first by 503. */
  route(next: (request: IncomingMessage) => Route): void
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** An answer of the ingress itself. */
export const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Route =>
  (response) =>
    void response.writeHead(status, headers).end(body)

/** As an ingress without a backend that is ready. */
export const noBackend = answer(503, { 'content-type': 'text/html' }, '<title>no healthy upstream</title>')

/** A key, and a certificate for a name that is signed by it (PEM). */
export async function ownCertificate(host: string): Promise<{ readonly key: string; readonly certificate: string }> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${host} ${randomUUID()}`,
    keys,
    signingAlgorithm: algorithm,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
  })
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
    certificate: certificate.toString('pem'),
  }
}

/** @param host the name of its certificate, which only a proxy leads here */
export async function openIngress(host = 'localhost'): Promise<PublicIngress & { readonly port: number }> {
  const { key, certificate: ca } = await ownCertificate(host)
  const asked: string[] = []
  let routeOf: (request: IncomingMessage) => Route = () => noBackend
  const server = createServer({ key, cert: ca }, (request, response) => {
    if (isQuestion(request)) asked.push(`${request.method}`)
    const route = routeOf(request)
    if (typeof route === 'number') passOn(route, request, response)
    else route(response, request)
  })
  server.on('tlsClientError', () => {})
  const port = await listen(server)
  return {
    port,
    url: `https://${host}${host === 'localhost' ? `:${port}` : ''}/api/events`,
    ca,
    asked,
    route(next) {
      routeOf = next
    },
  }
}

/** Does the binding ask, and not Event Grid, whose connections are kept? */
const isQuestion = ({ headers }: IncomingMessage): boolean =>
  headers.connection === 'close' &&
  (headers['webhook-request-origin'] !== undefined || headers['aeg-event-type'] === 'SubscriptionValidation')

function passOn(port: number, request: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = request
  const sending = send({ host: '127.0.0.1', port, method, path: url, headers, agent: false })
  sending.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()))
  sending.on('response', (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers)
    answered.on('error', () => response.destroy())
    answered.pipe(response)
  })
  request.pipe(sending)
}
