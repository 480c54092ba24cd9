import 'reflect-metadata'
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'
import { describe, expect, it } from 'vitest'
import { createCertificateAuthority } from '../../../src/server/tls/certificates.ts'
import { cloudEvent, type EventGridOptions, openEventGrid, publish } from '../../event-grid.ts'

const authority = createCertificateAuthority()
const { certificate, key } = authority.issue(['subscriber.example'])
const other = authority.issue(['other.example'])
const trustedCertificates = [authority.certificate]

async function deliverOnce(options: EventGridOptions) {
  const grid = await openEventGrid(options)
  grid.subscribe()
  await publish(grid, [cloudEvent()])
  await grid.engine.idle()
  return { record: grid.records.deliveries.last, requests: grid.subscriber.requests }
}

describe('an https endpoint', () => {
  it('is delivered to if its certificate is of a trusted authority and for its public name', async () => {
    const { record, requests } = await deliverOnce({ tls: { cert: certificate, key }, trustedCertificates })
    expect(record).toMatchObject({ outcome: 'delivered' })
    expect(requests[0]?.headers.host).toBe('subscriber.example')
  })

  it.each<{ name: string; options: EventGridOptions; error: RegExp }>([
    {
      name: 'of nobody who is trusted',
      options: { tls: { cert: certificate, key } },
      error: /SocketError: .*certificate/,
    },
    {
      name: 'for another name',
      options: { tls: { cert: other.certificate, key: other.key }, trustedCertificates },
      error: /SocketError: .*altnames/,
    },
  ])('is refused with a certificate $name', async ({ options, error }) => {
    const { record, requests } = await deliverOnce(options)
    expect(record).toMatchObject({ outcome: 'retry', error: expect.stringMatching(error) })
    expect(requests).toHaveLength(0)
  })

  it('is refused with a self-signed certificate, by handshake and delivery alike', async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const selfSigned = await X509CertificateGenerator.createSelfSigned({
      name: 'CN=subscriber.example',
      keys,
      signingAlgorithm: algorithm,
      extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: 'subscriber.example' }])],
    })
    const exported = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
    const tls = {
      cert: selfSigned.toString('pem'),
      key: `-----BEGIN PRIVATE KEY-----\n${exported}\n-----END PRIVATE KEY-----`,
    }
    const { record, requests } = await deliverOnce({ tls, trustedCertificates })
    expect(record).toMatchObject({
      outcome: 'retry',
      error: expect.stringMatching(/^SocketError: self-signed certificate/),
    })
    expect(requests).toHaveLength(0)
    const grid = await openEventGrid({ tls, trustedCertificates })
    const outcome = await grid.engine.validate(grid.subscribe(), new AbortController().signal, {
      over: new AbortController().signal,
    })
    expect(outcome).toMatchObject({ outcome: 'failed', message: expect.stringContaining('response code Unknown') })
    expect(grid.records.handshakes.last?.message).toContain('self-signed certificate')
    expect((await deliverOnce({ tls, trustedCertificates: [selfSigned.toString('pem')] })).record).toMatchObject({
      outcome: 'delivered',
    })
  })

  it('is refused below TLS 1.2', async () => {
    const tls = { cert: certificate, key, maxVersion: 'TLSv1.2' } as const
    expect((await deliverOnce({ tls, trustedCertificates })).record).toMatchObject({ outcome: 'delivered' })
    const old = { ...tls, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const { record, requests } = await deliverOnce({ tls: old, trustedCertificates })
    expect(record).toMatchObject({ outcome: 'retry', error: expect.stringContaining('SocketError') })
    expect(requests).toHaveLength(0)
  })
})

describe('the ingress map', () => {
  it('is asked at each delivery, and may change path and query', async () => {
    let path = ''
    const grid = await openEventGrid({ ingress: () => `${grid.subscriber.url}${path}` })
    grid.subscribe()
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    path = '/rewritten?x=1'
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    expect(grid.subscriber.deliveries().map(({ url }) => url)).toEqual(['/api/events?code=s3cret', '/rewritten?x=1'])
    expect(grid.records.deliveries.last).toMatchObject({
      url: 'https://subscriber.example/api/events?(redacted)',
      target: `${grid.subscriber.url}/rewritten?(redacted)`,
    })
  })

  it.each([
    { name: 'nobody listens', ingress: () => 'http://127.0.0.1:1', error: 'SocketError' },
    { name: 'there is no such host', ingress: () => 'http://nowhere.invalid', error: 'ResolutionError' },
    { name: 'it names no URL', ingress: () => 'nonsense', error: 'Aborted' },
  ])('leads to a failed try where $name', async ({ ingress, error }) => {
    const { record } = await deliverOnce({ ingress })
    expect(record).toMatchObject({ outcome: 'retry', error: expect.stringMatching(`^${error}: `) })
  })
})

it('keeps its connections', async () => {
  const grid = await openEventGrid({ delivery: { concurrency: 1 } })
  grid.subscribe()
  await publish(
    grid,
    Array.from({ length: 20 }, (_, index) => cloudEvent({ id: `e${index}` })),
  )
  await grid.engine.idle()
  const ports = grid.subscriber.deliveries().map(({ remotePort }) => remotePort)
  expect(ports).toHaveLength(20)
  expect(new Set(ports).size).toBe(1)
})

describe('a fault asked for', () => {
  it('stands in for an answer, once', async () => {
    const grid = await openEventGrid()
    grid.subscribe()
    grid.faults.add({ route: 'delivery', status: 503 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(30_000)
    expect(grid.records.deliveries.all().map(({ status, outcome }) => [status, outcome])).toEqual([
      [503, 'retry'],
      [200, 'delivered'],
    ])
    expect(grid.subscriber.deliveries()).toHaveLength(1)
  })

  it('may close the connection, or make the subscriber slow', async () => {
    const grid = await openEventGrid()
    grid.subscribe()
    grid.faults.add({ route: 'delivery', drop: true })
    grid.faults.add({ route: 'delivery', delayMs: 5000 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(14_999)
    expect(grid.records.deliveries.all().map(({ error }) => error)).toEqual([expect.stringMatching(/^SocketError/)])
    expect(grid.subscriber.deliveries()).toHaveLength(0)
    await grid.clock.advance(1)
    expect(grid.subscriber.deliveries()).toHaveLength(1)
  })
})

describe('an endpoint that', () => {
  it('switches to another protocol, unasked, has answered 101', async () => {
    const grid = await openEventGrid()
    grid.subscriber.answer({ status: 101, headers: { connection: 'upgrade', upgrade: 'x' } })
    grid.subscribe()
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    expect(grid.records.deliveries.last).toMatchObject({ status: 101, outcome: 'retry' })
  })
})
