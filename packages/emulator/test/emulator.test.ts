import { type DetailedPeerCertificate, connect as tlsConnect } from 'node:tls'
import { AzureKeyCredential, EventGridPublisherClient } from '@azure/eventgrid'
import { describe, expect, it } from 'vitest'
import { credentialOf, managementOf, send, sendArm } from '../../../test/support/azure-clients.ts'
import { failToAccept, listeningServers } from '../../../test/support/listening-servers.ts'
import { startEmulator } from '../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../test/support/webhook.ts'
import { EventGridEmulator, ManualClock } from '../src/index.ts'

const scope = 'https://management.azure.com/.default'

describe('EventGridEmulator.start()', () => {
  it('serves on after a connection that the system could not hand over', async () => {
    const { result: emulator, servers } = await listeningServers(() => startEmulator())
    expect(servers).toHaveLength(2)
    failToAccept(servers)
    const { id, httpEndpoint } = emulator.topic('orders')
    expect((await sendArm(emulator, id)).status).toBe(200)
    expect((await fetch(httpEndpoint, { method: 'OPTIONS' })).status).toBeLessThan(500)
  })

  it('alone gives one client, one registered subscription with its role, and the topic orders', async () => {
    const emulator = await startEmulator()
    const webhook = await openWebhook(emulator)
    const { eventSubscriptions } = managementOf(emulator)
    const { id, httpEndpoint, key } = emulator.topic('orders')
    const destination = { endpointType: 'WebHook' as const, endpointUrl: webhook.url }
    await eventSubscriptions.beginCreateOrUpdateAndWait(id.slice(1), 'shop', { destination })
    const publisher = new EventGridPublisherClient(httpEndpoint, 'CloudEvent', new AzureKeyCredential(key), {
      allowInsecureConnection: true,
    })
    await publisher.send([{ type: 'order.placed', source: '/shop', id: 'one', data: { lamp: 1 } }])
    await emulator.idle()
    expect(webhook.calls.map(({ method }) => method)).toEqual(['OPTIONS', 'POST'])
    expect(emulator.records.handshakes.last).toMatchObject({ outcome: 'validated', subscriptionName: 'shop' })
    expect(emulator.records.deliveries.last).toMatchObject({ outcome: 'delivered', eventIds: ['one'], status: 200 })
    expect(emulator.pending).toBe(0)
  })

  it('gives several worlds at once', async () => {
    const [one, other] = await Promise.all([startEmulator(), startEmulator()])
    expect(one.endpoints.resourceManager).not.toBe(other.endpoints.resourceManager)
    expect(one.clientSecret).not.toBe(other.clientSecret)
    expect(one.ca).not.toBe(other.ca)
  })

  it('rejects when a port is in use, and leaves the other one free', async () => {
    const portOf = (url: string) => Number(new URL(url).port)
    const emulator = await startEmulator()
    const used = portOf(emulator.endpoints.resourceManager)
    await expect(EventGridEmulator.start({ port: used })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    const closed = await EventGridEmulator.start()
    const port = portOf(closed.endpoints.resourceManager)
    await closed.close()
    await expect(EventGridEmulator.start({ port, httpPort: used })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    const again = await startEmulator({ port })
    expect(portOf(again.endpoints.resourceManager)).toBe(port)
  })

  it('takes tenants, clients, subscriptions and topics as they are described', async () => {
    const emulator = await startEmulator({
      tenantId: 'a0000000-0000-4000-8000-000000000000',
      clients: [{ clientId: 'b0000000-0000-4000-8000-000000000000', clientSecret: 'a secret' }],
      subscriptions: [{ id: 'c0000000-0000-4000-8000-000000000000', resourceGroups: ['shop'] }],
      topics: [
        { name: 'lamps', keys: ['S2V5MQ==', 'S2V5Mg=='] },
        { name: 'chairs', resourceGroup: 'other' },
      ],
    })
    expect(emulator).toMatchObject({
      tenantId: 'a0000000-0000-4000-8000-000000000000',
      clientId: 'b0000000-0000-4000-8000-000000000000',
      clientSecret: 'a secret',
      subscriptionId: 'c0000000-0000-4000-8000-000000000000',
    })
    expect(emulator.topic()).toMatchObject({
      name: 'lamps',
      id: '/subscriptions/c0000000-0000-4000-8000-000000000000/resourceGroups/shop/providers/Microsoft.EventGrid/topics/lamps',
      keys: ['S2V5MQ==', 'S2V5Mg=='],
    })
    expect(emulator.topic('chairs').id).toContain('/resourceGroups/other/')
    expect(() => emulator.topic('tables')).toThrow(RangeError)
  })
})

describe('close()', () => {
  it('ends with `await using`, and refuses connections then', async () => {
    let url = ''
    {
      await using emulator = await EventGridEmulator.start()
      url = emulator.endpoints.resourceManager
    }
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  it('can be called twice, and while requests wait', async () => {
    const emulator = await startEmulator()
    emulator.failNext({ route: 'entra', delayMs: 600_000 })
    const waiting = credentialOf(emulator).getToken(scope)
    waiting.catch(() => {})
    await Promise.all([emulator.close(), emulator.close()])
    await expect(waiting).rejects.toThrow()
  })

  it('ends an operation under way', async () => {
    const emulator = await startEmulator({ operationDelayMs: 600_000 })
    const { id } = emulator.topic()
    const path = `${id}/providers/Microsoft.EventGrid/eventSubscriptions/shop`
    const destination = { endpointType: 'WebHook', properties: { endpointUrl: 'https://webhook.example.com' } }
    const body = JSON.stringify({ properties: { destination } })
    expect((await sendArm(emulator, path, { method: 'PUT', body })).status).toBe(201)
    await emulator.close()
    expect(emulator.eventSubscription(id, 'shop')?.provisioningState).toBe('Creating')
  })
})

describe('failNext()', () => {
  it('answers the next calls with a status, its usual code and Retry-After, then as ever', async () => {
    const emulator = await startEmulator()
    emulator.failNext({ route: 'arm', times: 2, status: 429, retryAfter: 7 })
    const path = `/subscriptions/${emulator.subscriptionId}?api-version=2022-12-01`
    for (const _ of [1, 2]) {
      const answer = await sendArm(emulator, path)
      expect(answer).toMatchObject({ status: 429, body: { error: { code: 'TooManyRequests' } } })
      expect(answer.headers['retry-after']).toBe('7')
    }
    expect((await sendArm(emulator, path)).status).toBe(403)
  })

  it('hits only the calls that match, with the code and message asked for', async () => {
    const emulator = await startEmulator()
    const matches = ({ method }: { method: string }) => method === 'PUT'
    emulator.failNext({ route: 'arm', status: 409, code: 'Busy', message: 'Not now.', matches })
    const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/shop`
    expect((await sendArm(emulator, path)).status).toBe(404)
    expect(await sendArm(emulator, path, { method: 'PUT', body: '{}' })).toMatchObject({
      status: 409,
      body: { error: { code: 'Busy', message: 'Not now.' } },
    })
  })

  it('drops the connection', async () => {
    const emulator = await startEmulator()
    emulator.failNext({ route: 'entra', drop: true })
    await expect(send(emulator, '/common/discovery/instance')).rejects.toThrow('socket hang up')
    expect((await send(emulator, '/common/discovery/instance')).status).toBe(200)
    expect(emulator.records.requests.at(0)).toMatchObject({ route: 'entra', status: 0 })
  })

  it('delays by the clock, then answers as ever', async () => {
    const clock = new ManualClock()
    const emulator = await startEmulator({ clock })
    const asked = Promise.withResolvers<void>()
    const matches = () => {
      asked.resolve()
      return true
    }
    emulator.failNext({ route: 'entra', delayMs: 60_000, matches })
    let answered = false
    const answer = send(emulator, '/common/discovery/instance').finally(() => {
      answered = true
    })
    await asked.promise
    expect(answered).toBe(false)
    await clock.advance(60_000)
    expect((await answer).status).toBe(200)
  })

  it('is forgotten by clearFaults()', async () => {
    const emulator = await startEmulator()
    emulator.failNext({ route: 'entra', status: 500, times: 1000 })
    emulator.clearFaults()
    expect((await send(emulator, '/common/discovery/instance')).status).toBe(200)
  })
})

describe('the servers', () => {
  it('offer ARM and Entra over https only', async () => {
    const emulator = await startEmulator()
    for (const path of [`/subscriptions/${emulator.subscriptionId}`, `/${emulator.tenantId}/oauth2/v2.0/token`]) {
      const answer = await fetch(new URL(path, emulator.proxy), { method: 'POST', body: 'x' })
      expect(answer.status).toBe(403)
      expect(await answer.json()).toMatchObject({ error: { code: 'HttpsRequired' } })
    }
  })

  it.each(['localhost', '127.0.0.1', 'management.azure.com', 'orders.westeurope-1.eventgrid.azure.net'])(
    'present a certificate for %s that the emulator’s CA signed',
    async (servername) => {
      const emulator = await startEmulator()
      const { hostname, port } = new URL(emulator.endpoints.resourceManager)
      const name = /^\d/.test(servername) ? {} : { servername }
      const certificate = await new Promise<DetailedPeerCertificate>((resolve, reject) => {
        const socket = tlsConnect({ host: hostname, port: Number(port), ca: emulator.ca, ...name }, () => {
          resolve(socket.getPeerCertificate(true))
          socket.destroy()
        })
        socket.on('error', reject)
      })
      expect(certificate.subjectaltname).toContain(servername)
      expect(certificate.issuer.CN).toBe('Event Grid emulator CA')
    },
  )
})
