import { expect, it } from 'vitest'
import { ManualClock } from '../../src/index.ts'
import { startSubscriber } from '../subscriber.ts'
import { type Interface, openInterface, orders } from './open-interface.ts'

const publish = ({ emulator }: Pick<Interface, 'emulator'>, id: string) => {
  const { httpEndpoint, key } = emulator.topic('orders')
  return fetch(httpEndpoint, {
    method: 'POST',
    headers: { 'aeg-sas-key': key, 'content-type': 'application/cloudevents-batch+json' },
    body: JSON.stringify(orders(id)),
  })
}

it('makes calls fail as failNext does, only those that are meant, and takes faults back', async () => {
  const opened = await openInterface({ topics: [{ name: 'orders' }, { name: 'parcels' }] })
  const { call } = opened
  const matches = { method: 'post', url: '/topics/ORDERS/' }
  expect(
    (await call('POST', '/emulator/faults', { route: 'topic', status: 503, retryAfter: 7, times: 2, matches })).status,
  ).toBe(204)
  await call('POST', '/emulator/faults', { route: 'topic', status: 500, matches: { url: '/topics/parcels/' } })
  const first = await publish(opened, '1')
  expect([first.status, first.headers.get('retry-after')]).toEqual([503, '7'])
  expect((await call('DELETE', '/emulator/faults')).status).toBe(204)
  expect((await publish(opened, '2')).status).toBe(200)
  expect((await call('DELETE', '/emulator/faults')).status).toBe(204)
})

it('gives a call that a fault delays its real answer when the fault is taken back', async () => {
  const clock = new ManualClock()
  const opened = await openInterface({ clock })
  const timers = clock.waiting
  await opened.call('POST', '/emulator/faults', { route: 'topic', status: 503, delayMs: 60_000 })
  const delayed = publish(opened, '1')
  while (clock.waiting === timers) await opened.call('GET', '/emulator/dead-letters')
  await opened.call('DELETE', '/emulator/faults')
  expect((await delayed).status).toBe(200)
})

it('sends a delivery that a fault delays when the fault is taken back', async () => {
  const subscriber = await startSubscriber()
  const { call, emulator } = await openInterface({
    clock: new ManualClock(),
    ingress: [{ from: 'https://shop.example.com/', to: `${subscriber.url}/` }],
    eventSubscriptions: [{ name: 'billing', topic: 'orders', endpoint: 'https://shop.example.com/billing' }],
  })
  await emulator.idle()
  await call('POST', '/emulator/faults', { route: 'delivery', drop: true, delayMs: 60_000 })
  emulator.raise('orders', orders('1'))
  await emulator.idle()
  await call('DELETE', '/emulator/faults')
  expect((await call('POST', '/emulator/settle')).status).toBe(200)
  expect(subscriber.deliveries()).toHaveLength(1)
})

it('moves a manual clock, two requests at once by the sum of both', async () => {
  const clock = new ManualClock(1_700_000_000_000)
  const { call, emulator } = await openInterface({ clock })
  const answers = await Promise.all([
    call('POST', '/emulator/clock', { advance: '1h' }),
    call('POST', '/emulator/clock', { advance: '1h30m' }),
  ])
  expect(answers.map(({ body }) => body.now)).toEqual([1_700_003_600_000, 1_700_009_000_000])
  expect(clock.now()).toBe(1_700_009_000_000)
  expect(await emulator.advance(0)).toBe(1_700_009_000_000)
})

it('gives and takes roles', async () => {
  const { call, emulator } = await openInterface()
  const declared = emulator.roles()
  const scope = emulator.topic('orders').id
  const given = await call('POST', '/emulator/roles', { role: 'Owner', scope })
  expect(given.body).toEqual({ roles: [...declared, { role: 'Owner', scope }] })
  expect((await call('DELETE', `/emulator/roles?role=owner&scope=${encodeURIComponent(scope)}`)).body).toEqual({
    roles: declared,
  })
  expect((await call('DELETE', '/emulator/roles')).body).toEqual({ roles: [] })
})

it('rotates the keys of tokens', async () => {
  const { call, emulator } = await openInterface()
  const { request } = await import('node:https')
  const { json } = await import('node:stream/consumers')
  const keys = async () => {
    const url = `${emulator.endpoints.authorityHost}/${emulator.tenantId}/discovery/v2.0/keys`
    const answer = await new Promise<unknown>((resolve, reject) => {
      request(url, { ca: emulator.ca }, (response) => resolve(json(response)))
        .on('error', reject)
        .end()
    })
    return answer as { readonly keys: readonly { readonly kid: string }[] }
  }
  const before = await keys()
  expect((await call('POST', '/emulator/keys/rotate')).status).toBe(204)
  expect((await keys()).keys.map(({ kid }) => kid).slice(1)).toEqual(before.keys.map(({ kid }) => kid))
  expect((await call('POST', '/emulator/keys/rotate', { forget: true })).status).toBe(204)
  expect((await keys()).keys).toHaveLength(1)
})

it('shows the requests of a part, without secrets in headers, URL and body', async () => {
  const opened = await openInterface()
  const { call, emulator } = opened
  await publish(opened, '1')
  const { request } = await import('node:https')
  const { json } = await import('node:stream/consumers')
  const send = (method: string, path: string, headers: Record<string, string>, body: string) =>
    new Promise<unknown>((resolve, reject) => {
      request(new URL(path, emulator.endpoints.resourceManager), { method, headers, ca: emulator.ca }, (response) =>
        resolve(json(response)),
      )
        .on('error', reject)
        .end(body)
    })
  const form = { grant_type: 'client_credentials', client_id: emulator.clientId, client_secret: emulator.clientSecret }
  const { access_token: token } = (await send(
    'POST',
    `/${emulator.tenantId}/oauth2/v2.0/token`,
    { 'content-type': 'application/x-www-form-urlencoded' },
    new URLSearchParams({ ...form, scope: 'https://management.azure.com/.default' }).toString(),
  )) as { readonly access_token: string }
  const attribute = { name: 'auth', type: 'Static', properties: { value: 's3cret-attribute', isSecret: true } }
  await send(
    'PUT',
    `${emulator.topic('orders').id}/providers/Microsoft.EventGrid/eventSubscriptions/s?api-version=2025-02-15&code=s3cret-query`,
    { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    JSON.stringify({
      properties: {
        destination: {
          endpointType: 'WebHook',
          properties: {
            endpointUrl: 'https://shop.example.com/api?code=s3cret-code',
            deliveryAttributeMappings: [attribute],
          },
        },
        filter: { advancedFilters: [{ operatorType: 'StringIn', key: 'data.id', values: ['1'] }] },
      },
    }),
  )
  const all = (await call('GET', '/emulator/requests')).body.requests
  expect(all.map(({ route }: { route: string }) => route)).toEqual(['topic', 'entra', 'arm'])
  const text = JSON.stringify(all)
  for (const secret of [emulator.topic('orders').key, emulator.clientSecret, token, 's3cret']) {
    expect(text).not.toContain(secret)
  }
  expect(text).toContain('"key":"data.id"')
  const topic = (await call('GET', '/emulator/requests?route=topic')).body.requests
  expect(topic).toMatchObject([{ route: 'topic', method: 'POST', status: 200, body: orders('1') }])
})
