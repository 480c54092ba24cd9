import { expect, it } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { openPublishing } from '../sidecar/host/api/open-api.ts'

const event = JSON.stringify({ operation: 'create', data: 'made by a page' })

const publish = { method: 'POST', url: '/v1.0/bindings/orders', payload: event } as const
const shutdown = { method: 'POST', url: '/v1.0/shutdown' } as const
const attacker = 'www.attacker.example'

/** What a browser sends for a page of somebody else. It sends Sec-Fetch-Site to hosts that it trusts, as `localhost`, only. */
const attacks = [
  {
    name: 'publishes a no-cors request to a name that resolves to 127.0.0.1',
    ...publish,
    headers: { host: 'local.attacker.example:3500', origin: `http://${attacker}`, 'content-type': 'text/plain' },
  },
  {
    name: 'reads the metadata by DNS rebinding',
    ...{ method: 'GET', url: '/v1.0/metadata' },
    headers: { host: `${attacker}:3500` },
  },
  {
    name: 'publishes by DNS rebinding',
    ...publish,
    headers: { host: `${attacker}:3500`, origin: `http://${attacker}:3500` },
  },
  {
    name: 'publishes from another port of this machine',
    ...publish,
    headers: { host: 'localhost:3500', origin: 'http://localhost:8080', 'sec-fetch-site': 'same-site' },
  },
  {
    name: 'publishes from another port of this machine with an old browser',
    ...publish,
    headers: { host: '127.0.0.1:3500', origin: 'http://127.0.0.1:8080' },
  },
  {
    name: 'shuts it down by a plain form',
    ...shutdown,
    payload: 'a=b',
    headers: {
      host: 'localhost.localhost:3500',
      origin: `http://${attacker}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
  },
  {
    name: 'shuts it down by a plain form of no origin',
    ...shutdown,
    headers: { host: '127.0.0.1:3500', origin: 'null', 'sec-fetch-site': 'cross-site' },
  },
] as const

it.each(attacks)('a web page that $name is answered 403', async ({ name: _name, ...request }) => {
  let shutdowns = 0
  const { api, published } = await openPublishing({ onShutdown: () => shutdowns++ })
  const answer = await api.ask(request)
  expect([answer.statusCode, shutdowns, published()]).toEqual([403, 0, []])
  expect(answer.body).not.toContain('orders')
})

it.each([
  { name: 'curl', listeningOn: '127.0.0.1', host: '127.0.0.1:3500' },
  { name: 'an SDK', listeningOn: '127.0.0.1', host: 'localhost:3500' },
  { name: 'a client over IPv6', listeningOn: '::1', host: '[::1]:3500' },
  { name: 'a client of the address that is listened on', listeningOn: '10.1.2.3', host: '10.1.2.3:3500' },
  { name: 'a client of the name that is listened on', listeningOn: 'Shop', host: 'shop' },
  { name: 'a client of one of all addresses', listeningOn: '0.0.0.0', host: '10.1.2.3:3500' },
  { name: 'a client of one of all addresses of IPv6', listeningOn: '::', host: '[fd00::1]:3500' },
])('$name publishes by the host $host', async ({ listeningOn, host }) => {
  const { api, published } = await openPublishing({ listeningOn })
  const answer = await api.ask({ method: 'POST', url: '/v1.0/bindings/orders', headers: { host }, payload: event })
  expect(answer.statusCode).toBe(200)
  expect(published()).toHaveLength(1)
})

it.each([
  { name: 'a name', listeningOn: '0.0.0.0', host: 'sidecar:3500' },
  { name: 'another address than the one that is listened on', listeningOn: '10.1.2.3', host: '10.1.2.4:3500' },
])('takes $name as host with a token only', async ({ listeningOn, host }) => {
  const headers = { host, 'dapr-api-token': 'the-token' }
  const [open, guarded] = await Promise.all([
    openPublishing({ listeningOn }),
    openPublishing({ listeningOn, token: new Secret('the-token') }),
  ])
  const url = '/v1.0/metadata'
  const answers = await Promise.all([open.api.ask({ url, headers }), guarded.api.ask({ url, headers })])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([403, 200])
  expect(answers[0]?.body).toContain('set DAPR_API_TOKEN')
})
