import { expect, it } from 'vitest'
import { send } from '../../../../test/support/azure-clients.ts'
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
  const kids = async () => {
    const { body } = await send(emulator, `/${emulator.tenantId}/discovery/v2.0/keys`)
    return Object(body).keys.map(({ kid }: { readonly kid: string }) => kid)
  }
  const before = await kids()
  expect((await call('POST', '/emulator/keys/rotate')).status).toBe(204)
  expect((await kids()).slice(1)).toEqual(before)
  expect((await call('POST', '/emulator/keys/rotate', { forget: true })).status).toBe(204)
  expect(await kids()).toHaveLength(1)
})

it('shows the requests of a part, without secrets in headers, URL and body', async () => {
  const opened = await openInterface()
  const { call, emulator } = opened
  await publish(opened, '1')
  const form = { grant_type: 'client_credentials', client_id: emulator.clientId, client_secret: emulator.clientSecret }
  const asked = await send(emulator, `/${emulator.tenantId}/oauth2/v2.0/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams({ ...form, scope: 'https://management.azure.com/.default' })),
  })
  const { access_token: token } = Object(asked.body)
  const attribute = { name: 'auth', type: 'Static', properties: { value: 's3cret-attribute', isSecret: true } }
  const endpointUrl = 'https://shop.example.com/api?code=s3cret-code'
  const properties = {
    destination: { endpointType: 'WebHook', properties: { endpointUrl, deliveryAttributeMappings: [attribute] } },
    filter: { advancedFilters: [{ operatorType: 'StringIn', key: 'data.id', values: ['1'] }] },
  }
  const path = `${emulator.topic('orders').id}/providers/Microsoft.EventGrid/eventSubscriptions/s`
  await send(emulator, `${path}?api-version=2025-02-15&code=s3cret-query`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ properties }),
  })
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
