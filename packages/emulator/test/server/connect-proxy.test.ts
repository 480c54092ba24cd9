import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { AzureKeyCredential, generateSharedAccessSignature } from '@azure/eventgrid'
import { describe, expect, it } from 'vitest'
import { send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import type { EventGridEmulator } from '../../src/index.ts'
import { answersFor, topicOfHost } from '../../src/server/tls/connect-proxy.ts'

const program = fileURLToPath(new URL('../fixtures/client-of-azure.ts', import.meta.url))

it('serves a program that knows no host names but Azure’s', async () => {
  const emulator = await startEmulator()
  const webhook = await openWebhook(emulator)
  const caFile = join(temporaryFolder(), 'ca.pem')
  writeFileSync(caFile, emulator.ca)
  const { id, key } = emulator.topic()
  const args = [emulator.tenantId, emulator.clientId, emulator.clientSecret, emulator.subscriptionId, id.slice(1)]
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, webhook.url, key], {
    env: { PATH: process.env.PATH, HTTPS_PROXY: emulator.proxy, NODE_EXTRA_CA_CERTS: caFile },
  })
  expect(JSON.parse(stdout)).toEqual({ provisioningState: 'Succeeded' })
  await emulator.idle()
  expect(webhook.calls.map(({ method }) => method)).toEqual(['OPTIONS', 'POST'])
  const hosts = new Set(emulator.records.requests.all().map(({ headers }) => headers.host))
  expect(hosts).toEqual(
    new Set(['login.microsoftonline.com', 'management.azure.com', 'orders.westeurope-1.eventgrid.azure.net']),
  )
})

it('tunnels nowhere else', async () => {
  const emulator = await startEmulator()
  const { hostname, port } = new URL(emulator.proxy)
  const asked = request({ host: hostname, port, method: 'CONNECT', path: 'example.com:443' })
  const status = await new Promise((resolve, reject) => {
    asked.on('connect', ({ statusCode }) => resolve(statusCode))
    asked.on('error', reject)
    asked.end()
  })
  expect(status).toBe(403)
})

it.each([
  ['management.azure.com:443', true],
  ['MANAGEMENT.azure.com:443', true],
  ['login.microsoftonline.com:443', true],
  ['orders.westeurope-1.eventgrid.azure.net:443', true],
  ['127.0.0.1:8443', true],
  ['management.azure.com:80', false],
  ['127.0.0.1:22', false],
  ['example.com:443', false],
  ['evil.management.azure.com:443', false],
  ['eventgrid.azure.net.example.com:443', false],
  ['', false],
  [':443', false],
])('answers for %j: %j', (authority, expected) => {
  expect(answersFor(authority, ['127.0.0.1:8443'])).toBe(expected)
})

it.each([
  ['orders.westeurope-1.eventgrid.azure.net', 'orders'],
  ['Orders.westeurope-1.eventgrid.azure.net:443', 'orders'],
  ['eventgrid.azure.net', undefined],
  ['127.0.0.1:8443', undefined],
  [undefined, undefined],
])('finds the topic of the host %j: %j', (host, topic) => {
  expect(topicOfHost(host)).toBe(topic)
})

describe('below Azure’s host name of a topic', () => {
  const host = 'orders.westeurope-1.eventgrid.azure.net'
  const url = `https://${host}/api/events`
  const path = '/api/events?api-version=2018-01-01'
  const body = JSON.stringify([{ specversion: '1.0', id: '1', source: '/shop', type: 'order.placed' }])
  const post = (emulator: EventGridEmulator, at: string, headers: Record<string, string>) =>
    send(emulator, at, {
      method: 'POST',
      headers: { host, 'content-type': 'application/cloudevents-batch+json', ...headers },
      body,
    })

  it.each([
    ['without a query', url],
    ['with the query of the SDKs', `${url}?api-version=2018-01-01`],
    ['with the port', `https://${host}:443/api/events`],
  ])('a SAS token for that URL publishes, %s', async (_name, resource) => {
    const emulator = await startEmulator()
    const expiry = new Date(Date.now() + 3_600_000).toISOString()
    const signed = `r=${encodeURIComponent(resource)}&e=${encodeURIComponent(expiry)}`
    const key = Buffer.from(emulator.topic().key, 'base64')
    const token = `${signed}&s=${encodeURIComponent(createHmac('sha256', key).update(signed).digest('base64'))}`
    expect(await post(emulator, path, { 'aeg-sas-token': token })).toMatchObject({ status: 200 })
  })

  it('the SDK publishes with a SAS token that it made', async () => {
    const emulator = await startEmulator()
    const credential = new AzureKeyCredential(emulator.topic().key)
    const token = await generateSharedAccessSignature(url, credential, new Date(Date.now() + 3_600_000))
    expect(await post(emulator, path, { 'aeg-sas-token': token })).toMatchObject({ status: 200 })
  })

  it.each([
    { name: 'a wrong path', at: '/api/event', of: host },
    { name: 'the path of a namespace', at: '/topics/orders/api', of: host },
    { name: 'an unknown topic', at: '/api/events', of: host.replace('orders', 'others') },
    { name: 'a wrong region', at: '/api/events', of: host.replace('europe', 'us') },
  ])('$name is answered 404 ResourceNotFound with the URL that was asked for', async ({ at, of }) => {
    const emulator = await startEmulator()
    expect(await post(emulator, at, { host: of, 'aeg-sas-key': emulator.topic().key })).toMatchObject({
      status: 404,
      body: {
        error: {
          message: expect.stringContaining(`the request URI 'https://${of}${at}'`),
          details: [{ code: 'ResourceNotFound' }],
        },
      },
    })
  })
})

it('survives a client that speaks no TLS through the tunnel, and one that speaks nothing', async () => {
  const emulator = await startEmulator()
  const { hostname, port } = new URL(emulator.proxy)
  for (const noise of ['GET / HTTP/1.1\r\n\r\n', '\u0000\u0001\u0002', '']) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.write('CONNECT management.azure.com:443 HTTP/1.1\r\nHost: management.azure.com:443\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    socket.resume().end(noise)
    await new Promise((resolve) => socket.once('close', resolve))
  }
  expect(emulator.topic().name).toBe('orders')
})
