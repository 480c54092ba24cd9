/** The health of topics and domains, as a publisher asks for it that fails over to another topic. */
import { expect, it } from 'vitest'
import { send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'

const host = 'orders.westeurope-1.eventgrid.azure.net'
const health = '/topics/orders/api/health'

it.each<{ what: string; path: string; host?: string; method?: string; status: number }>([
  { what: 'a topic', path: health, status: 200 },
  { what: 'a topic, with a query', path: `${health}?t=1`, status: 200 },
  { what: 'a topic by HEAD', path: health, method: 'HEAD', status: 200 },
  { what: 'a topic at its short path', path: '/orders/api/health', status: 200 },
  { what: 'a domain', path: '/topics/tenants/api/health', status: 200 },
  { what: 'Azure’s host name of a topic', path: '/api/health', host, status: 200 },
  { what: 'Azure’s host name of a domain', path: '/api/health', host: host.replace('orders', 'tenants'), status: 200 },
  { what: 'an unknown topic', path: '/topics/others/api/health', status: 404 },
  { what: 'an unknown host name', path: '/api/health', host: host.replace('orders', 'others'), status: 404 },
  { what: 'a host name with a wrong region', path: '/api/health', host: host.replace('europe', 'us'), status: 404 },
  { what: 'what is below', path: `${health}/more`, status: 404 },
  { what: 'a topic by POST', path: health, method: 'POST', status: 405 },
])('$what is answered $status, without a key', async ({ path, method = 'GET', status, ...given }) => {
  const emulator = await startEmulator({ topics: [{ name: 'orders' }], domains: [{ name: 'tenants' }] })
  const headers = given.host === undefined ? {} : { host: given.host }
  const answer = await send(emulator, path, { method, headers })
  expect(answer.status).toBe(status)
  if (status === 200) expect(answer.body).toBe('')
  expect(answer.headers.allow).toBe(status === 405 ? 'GET, HEAD' : undefined)
})

it('is there over http, ends with the topic, and counts as no publish', async () => {
  const emulator = await startEmulator()
  const url = emulator.topic('orders').httpEndpoint.replace('/events', '/health')
  const statusOf = async () => (await fetch(url)).status
  expect(await statusOf()).toBe(200)
  emulator.failNext({ route: 'topic', status: 503 })
  expect(await statusOf()).toBe(503)
  expect(await statusOf()).toBe(200)
  emulator.removeTopic('orders')
  expect(await statusOf()).toBe(404)
  expect(emulator.figures()).toMatchObject({ refused: 0 })
  expect(emulator.records.requests.all().map(({ status, publish }) => ({ status, publish }))).toEqual(
    [200, 503, 200, 404].map((status) => ({ status, publish: undefined })),
  )
})
