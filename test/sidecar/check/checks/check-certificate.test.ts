import { listen } from '../../../support/listen.ts'
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { createServer as createTcpServer, type Server } from 'node:net'
import { createServer } from 'node:tls'
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'
import { expect, it } from 'vitest'
import { checkCertificate } from '../../../../src/sidecar/check/checks/check-certificate.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000

interface Issued {
  readonly pem: string
  readonly name: string
  readonly keys: webcrypto.CryptoKeyPair
}

interface Wanted {
  readonly name: string
  readonly issuer?: Issued | undefined
  readonly host?: string
  readonly days?: number
}

/** A certificate, its issuer's or its own. */
async function issue({ name, issuer, host, days = 100 }: Wanted): Promise<Issued> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: `CN=${issuer?.name ?? name}`,
    notBefore: new Date(Date.now() - 200 * dayMs),
    notAfter: new Date(Date.now() + days * dayMs),
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: algorithm,
    extensions:
      host === undefined
        ? [new BasicConstraintsExtension(true)]
        : [new SubjectAlternativeNameExtension([{ type: 'dns', value: host }])],
  })
  return { pem: certificate.toString('pem'), name, keys }
}

async function open(server: Server): Promise<{ readonly address: string; readonly port: number }> {
  return { address: '127.0.0.1', port: await listen(server) }
}

/** A server that shows these certificates, the leaf first. */
async function serve(
  [leaf, ...others]: readonly [Issued, ...Issued[]],
  options: { readonly maxVersion?: 'TLSv1.1' } = {},
) {
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', leaf.keys.privateKey)).toString('base64')
  const pem = `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`
  const cert = [leaf, ...others].map((one) => one.pem).join('\n')
  const weak = options.maxVersion
    ? ({ maxVersion: options.maxVersion, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const)
    : {}
  const server = createServer({ key: pem, cert, ...weak })
  server.on('tlsClientError', () => {})
  return open(server)
}

const hostname = 'orders.example.com'
const signal = new AbortController().signal
const root = await issue({ name: 'Public root' })
const intermediate = await issue({ name: 'Intermediate', issuer: root })
const options = { hostname, ca: undefined, signal, publicRoots: [root.pem] }

const leafOf = (changes: Partial<Wanted> = {}): Wanted => ({
  ...{ name: 'leaf', issuer: intermediate, host: hostname },
  ...changes,
})
const shop = { host: 'shop.example.com' }
const noIntermediate =
  /no certificate of "Intermediate".*A browser fetches a missing one by itself[\s\S]*fullchain\.pem/

it.each<[name: string, leaf: Wanted, chain: readonly Issued[], status: string, says: RegExp]>([
  ['one with its whole chain', leafOf(), [intermediate], 'ok', /^TLSv1\.3, valid until \d{4}-/],
  ['a chain without its intermediate certificate', leafOf(), [], 'failed', noIntermediate],
  [
    'another host',
    leafOf(shop),
    [intermediate],
    'failed',
    /is for DNS:shop\.example\.com, not for orders\.example\.com/,
  ],
  ['one that has expired', leafOf({ days: -3 }), [intermediate], 'failed', /expired on \d{4}-[\s\S]*renew it/],
  ['one that expires soon', leafOf({ days: 5.5 }), [intermediate], 'warning', /expires in 5 days/],
  ['a self-signed one', { name: 'own', host: hostname }, [], 'failed', /self-signed/],
])('judges %s', async (_name, leaf, chain, status, says) => {
  const target = await serve([await issue(leaf), ...chain])
  const finding = await checkCertificate({ ...options, target })
  expect(finding?.status).toBe(status)
  expect(`${finding?.detail}\n${finding?.remedy}`).toMatch(says)
})

it('warns of an authority that this machine alone knows, and still sees what else is wrong', async () => {
  const own = await issue({ name: 'Own root' })
  const good = await serve([await issue({ name: 'leaf', issuer: own, host: hostname })])
  const known = { ...options, ca: own.pem }
  expect(await checkCertificate({ ...known, target: good })).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('"Own root"'),
  })
  const odd = await serve([await issue({ name: 'leaf', issuer: own, host: 'shop.example.com', days: 5.5 })])
  const all = await checkCertificate({ ...known, target: odd })
  expect(all).toMatchObject({ status: 'failed' })
  expect(all?.detail).toMatch(
    /is for DNS:shop\.example\.com[\s\S]*"Own root", is known on this machine[\s\S]*expires in 5 days/,
  )
  const soon = await serve([await issue({ name: 'leaf', issuer: own, host: hostname, days: 5.5 })])
  // Known to nobody here.
  const unknown = await checkCertificate({ ...options, ca: root.pem, target: soon })
  expect(unknown).toMatchObject({ status: 'failed' })
  expect(unknown?.detail).toMatch(/no certificate of "Own root"[\s\S]*expires in 5 days/)
})

it('takes no TLS before 1.2', async () => {
  const target = await serve([await issue({ name: 'leaf', issuer: root, host: hostname })], { maxVersion: 'TLSv1.1' })
  expect(await checkCertificate({ ...options, target })).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('speaks no TLS 1.2'),
  })
})

it('tells a server that does not speak TLS, and one that is not there', async () => {
  const target = await open(createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
  expect(await checkCertificate({ ...options, target })).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('does not speak TLS'),
  })
  expect(await checkCertificate({ ...options, target: { address: '127.0.0.1', port: 1 } })).toBeUndefined()
})

it('shows the names in a certificate without what could move a cursor', async () => {
  const target = await serve([
    await issue({ name: 'leaf', issuer: await issue({ name: 'evil\u001b[2J' }), host: hostname }),
  ])
  const finding = await checkCertificate({ ...options, target })
  expect(finding?.detail).not.toContain('\u001b')
})
