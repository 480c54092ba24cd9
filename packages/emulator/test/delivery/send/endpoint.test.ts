import 'reflect-metadata'
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'
import { describe, expect, it } from 'vitest'
import { startEmulator } from '../../../../../test/support/start-emulator.ts'
import { createCertificateAuthority } from '../../../src/server/tls/certificates.ts'
import {
  cloudEvent,
  type EventGridOptions,
  openDelivered,
  openEventGrid,
  publicUrl,
  publish,
} from '../../event-grid.ts'
import { startSubscriber } from '../../subscriber.ts'

const authority = createCertificateAuthority()
const { certificate, key } = authority.issue(['subscriber.example'])
const other = authority.issue(['other.example'])
const trustedCertificates = [authority.certificate]

describe('an https endpoint', () => {
  it('is delivered to if its certificate is of a trusted authority and for its public name', async () => {
    const { record, request } = await openDelivered({ tls: { cert: certificate, key }, trustedCertificates })
    expect(record).toMatchObject({ outcome: 'delivered' })
    expect(request?.headers.host).toBe('subscriber.example')
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
    const { record, request } = await openDelivered(options)
    expect(record).toMatchObject({ outcome: 'retry', error: expect.stringMatching(error) })
    expect(request).toBeUndefined()
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
    const { record, request } = await openDelivered({ tls, trustedCertificates })
    expect(record).toMatchObject({
      outcome: 'retry',
      error: expect.stringMatching(/^SocketError: self-signed certificate/),
    })
    expect(request).toBeUndefined()
    const { url } = await startSubscriber(tls)
    const eventSubscriptions = [{ name: 'Sub1', endpoint: publicUrl }]
    const emulator = await startEmulator({ trustedCertificates, ingress: () => url, eventSubscriptions })
    const { outcome, message } = await emulator.records.handshakes.waitFor(() => true)
    expect([outcome, message]).toEqual(['failed', expect.stringMatching(/code Unknown.*self-signed certificate/)])
    const trusting = await openDelivered({ tls, trustedCertificates: [selfSigned.toString('pem')] })
    expect(trusting.record).toMatchObject({ outcome: 'delivered' })
  })

  it('is refused below TLS 1.2', async () => {
    const tls = { cert: certificate, key, maxVersion: 'TLSv1.2' } as const
    expect((await openDelivered({ tls, trustedCertificates })).record).toMatchObject({ outcome: 'delivered' })
    const old = { ...tls, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const { record, request } = await openDelivered({ tls: old, trustedCertificates })
    expect(record).toMatchObject({ outcome: 'retry', error: expect.stringContaining('SocketError') })
    expect(request).toBeUndefined()
  })
})

describe('the ingress map', () => {
  it('is asked at each delivery, and may change path and query', async () => {
    let path = ''
    const subscriber = await startSubscriber()
    const { grid } = await openDelivered({ ingress: () => `${subscriber.url}${path}` })
    path = '/rewritten?x=1'
    await publish(grid, [cloudEvent()])
    await grid.emulator.idle()
    expect(subscriber.deliveries().map(({ url }) => url)).toEqual(['/api/events?code=s3cret', '/rewritten?x=1'])
    expect(grid.records.deliveries.last).toMatchObject({
      url: 'https://subscriber.example/api/events?(redacted)',
      target: `${subscriber.url}/rewritten?(redacted)`,
    })
  })

  it.each([
    {
      name: 'nobody listens',
      ingress: () => 'http://127.0.0.1:1',
      error: /^SocketError: .*; nothing listens at http:\/\/127\.0\.0\.1:1, /,
    },
    { name: 'there is no such host', ingress: () => 'http://nowhere.invalid', error: /^ResolutionError: / },
    { name: 'it names no URL', ingress: () => 'nonsense', error: /^Aborted: / },
  ])('leads to a failed try where $name', async ({ ingress, error }) => {
    const { record } = await openDelivered({ ingress })
    expect(record).toMatchObject({ outcome: 'retry', error: expect.stringMatching(error) })
  })
})

it('keeps its connections', async () => {
  const events = Array.from({ length: 20 }, (_, index) => cloudEvent({ id: `e${index}` }))
  const { grid } = await openDelivered({ concurrency: 1 }, {}, events)
  const ports = grid.subscriber.deliveries().map(({ remotePort }) => remotePort)
  expect(ports).toHaveLength(20)
  expect(new Set(ports).size).toBe(1)
})

describe('a fault asked for', () => {
  it('stands in for an answer, once', async () => {
    const grid = await openEventGrid()
    await grid.subscribe()
    grid.emulator.failNext({ route: 'delivery', status: 503 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(30_000)
    expect(grid.records.deliveries.all().map(({ status, outcome }) => [status, outcome])).toEqual([
      [503, 'retry'],
      [200, 'delivered'],
    ])
    expect(grid.subscriber.deliveries()).toHaveLength(1)
  })

  it('may come late', async () => {
    const grid = await openEventGrid()
    await grid.subscribe()
    grid.emulator.failNext({ route: 'delivery', delayMs: 5_000, status: 400 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(4_999)
    expect(grid.records.deliveries.length).toBe(0)
    await grid.clock.advance(1)
    expect(grid.records.deliveries.all()).toMatchObject([{ status: 400, outcome: 'dropped' }])
    expect(grid.subscriber.deliveries()).toEqual([])
  })

  it('may close the connection, or make the subscriber slow', async () => {
    const grid = await openEventGrid()
    await grid.subscribe()
    grid.emulator.failNext({ route: 'delivery', drop: true })
    grid.emulator.failNext({ route: 'delivery', delayMs: 5000 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(14_999)
    expect(grid.records.deliveries.all().map(({ error }) => error)).toEqual([expect.stringMatching(/^SocketError/)])
    expect(grid.subscriber.deliveries()).toHaveLength(0)
    await grid.clock.advance(1)
    expect(grid.subscriber.deliveries()).toHaveLength(1)
  })
})

it('an endpoint that switches to another protocol, unasked, has answered 101', async () => {
  const grid = await openEventGrid()
  grid.subscriber.answer({ status: 101, headers: { connection: 'upgrade', upgrade: 'x' } })
  await grid.subscribe()
  await publish(grid, [cloudEvent()])
  await grid.emulator.idle()
  expect(grid.records.deliveries.last).toMatchObject({ status: 101, outcome: 'retry' })
})
