import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import type { PluggableOptions } from '../../../src/sidecar/pluggable/server.ts'
import { openMetricsServer } from '../../../src/sidecar/shared/health-and-metrics-server.ts'
import { eventually } from '../../support/eventually.ts'
import { failToAccept, listeningServers } from '../../support/listening-servers.ts'
import { openConnection } from '../../support/open-connection.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { makeSocketFolder } from '../../support/socket-folder.ts'
import { beginReading, openComponent } from '../pluggable/open-component.ts'

async function openServed(pluggable: Partial<PluggableOptions> = {}) {
  const open = await openComponent({ pluggable })
  const server = await openMetricsServer(open.pluggable, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => server.close())
  const get = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.address.port}${path}`, init)
  return { ...open, server, get }
}

it.each(['/healthz', '/readyz', '/readyz?verbose'])('tells the health of each component at %s', async (path) => {
  const { get, host, fields } = await openServed()
  await host.init('output', 'orders', fields)
  const answer = await get(path)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({
    draining: false,
    components: { orders: { status: 'healthy', output: { status: 'healthy', reasons: [] } } },
  })
})

it('shows the active configuration at /config without a secret', async () => {
  const { get, host, fields } = await openServed()
  expect(await (await get('/config')).json()).toEqual({ components: {} })
  const topicEndpoint = `${fields.topicEndpoint}?sig=hidden`
  const given = {
    ...fields,
    topicEndpoint,
    maxConcurrency: '7',
    nearlyASecret: 'hidden',
    deliveryToken: 'hidden'.repeat(8),
  }
  await host.init('output', 'orders', given)
  await expect(host.init('output', 'orders', { ...given, topicEndpoint: 'nowhere' })).rejects.toThrow()
  const answer = await get('/config')
  expect(answer.headers.get('content-type')).toBe('application/json')
  const text = await answer.text()
  expect(JSON.parse(text)).toMatchObject({
    components: {
      orders: {
        sides: ['output'],
        metadata: { scope: fields.scope, maxConcurrency: '7', accessKey: '(redacted)', nearlyASecret: '(redacted)' },
      },
    },
  })
  expect(text).not.toMatch(/hidden|nowhere/)
  for (const secret of [fields.clientSecret, fields.accessKey]) expect(text).not.toContain(secret)
})

it('closes further connections when 256 are open', async () => {
  const { server } = await openServed()
  const sockets = await Promise.all(Array.from({ length: 270 }, () => openConnection(server.address.port)))
  await eventually(() => expect(sockets.filter(({ closed }) => closed)).toHaveLength(14))
})

it('is alive but not ready until the host has initialised a component: one that has run since before never does', async () => {
  const { get, host, fields, log } = await openServed()
  const create = () => host.invoke('orders', { operation: 'create', data: Buffer.from('{}') })
  for (const _ of [1, 2]) await expect(create()).rejects.toThrow('NOT_INITIALIZED')
  expect((await get('/healthz')).status).toBe(200)
  const before = await get('/readyz')
  expect(before.status).toBe(503)
  expect(await before.json()).toMatchObject({ ready: false, components: { orders: { status: 'unhealthy' } } })
  const counted = 'eventgrid_binding_invokes_total{component="orders",code="FAILED_PRECONDITION"} 2'
  expect(await (await get('/metrics')).text()).toContain(counted)
  expect(log.lines.filter(({ message }) => message.includes('restart daprd'))).toHaveLength(1)

  await host.init('output', 'orders', fields)
  expect((await get('/readyz')).status).toBe(200)
})

it('shows from the first reading that it was restarted alone, and says once in the log what to do', async () => {
  const folder = makeSocketFolder()
  const first = await openServed({ folder })
  const metricsOf = async ({ get }: typeof first) => (await get('/metrics')).text()
  expect(await metricsOf(first)).toMatch(/^eventgrid_binding_uninitialised 1$/m)
  await expect(first.host.init('output', 'orders', { ...first.fields, topicEndpoint: 'nowhere' })).rejects.toThrow()
  expect(await metricsOf(first)).toMatch(/^eventgrid_binding_uninitialised 1$/m)
  await first.host.init('output', 'orders', first.fields)
  expect(await metricsOf(first)).toMatch(/^eventgrid_binding_uninitialised 0$/m)
  await first.pluggable.close()

  const second = await openServed({ folder, initWarningMs: 1 })
  expect(await metricsOf(second)).toMatch(/^eventgrid_binding_uninitialised 1$/m)
  // The host that runs on calls the new process by the same socket, and it is no Init.
  const create = first.host.invoke('orders', { operation: 'create', data: Buffer.from('{}') })
  await expect(create).rejects.toThrow('NOT_INITIALIZED')
  expect(await metricsOf(second)).toMatch(/^eventgrid_binding_uninitialised 1$/m)
  const warnings = () => second.log.lines.filter(({ message }) => message.startsWith('daprd has not initialised'))
  await expect.poll(warnings).toEqual([expect.objectContaining({ message: expect.stringContaining('restart daprd') })])

  await second.host.init('output', 'orders', second.fields)
  expect(await metricsOf(second)).toMatch(/^eventgrid_binding_uninitialised 0$/m)
})

it('is ready while it is not known whether the event subscription has its credential', async () => {
  const { get, host, fields, emulator } = await openServed()
  emulator.failNext({ route: 'arm', delayMs: 600_000, times: 10 })
  await host.init('input', 'orders', fields)
  await host.init('output', 'orders', fields)
  expect((await get('/healthz')).status).toBe(200)
  const answer = await get('/readyz')
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ ready: true, components: { orders: { input: { ready: true } } } })
})

it('is ready for the handshake of an event subscription that does not exist yet', async () => {
  const { get, host, fields, emulator } = await openServed()
  emulator.failNext({ route: 'delivery', status: 503, times: 1_000 })
  await host.init('input', 'orders', fields)
  await eventually(async () => expect((await get('/readyz')).status).toBe(200))
  expect(await (await get('/healthz')).json()).not.toMatchObject({ components: { orders: { status: 'healthy' } } })
})

it('is alive but not ready while it drains', async () => {
  const { get, host, fields, pluggable } = await openServed()
  await host.init('output', 'orders', fields)
  const closed = pluggable.close()
  expect(pluggable.ready).toBe(false)
  await closed
  expect((await get('/healthz')).status).toBe(200)
  expect((await get('/readyz')).status).toBe(503)
})

it('counts events, calls and Inits for Prometheus', async () => {
  const open = await openServed()
  const { get, host, emulator } = open
  const reading = await beginReading(open)
  reading.acknowledge(await reading.next(), 'not now')
  reading.acknowledge(await reading.next())
  await emulator.settled()
  await expect(host.invoke('orders', { operation: 'create' })).rejects.toThrow()

  // The event subscription stands in Azure before the binding has read that it does.
  await eventually(async () => {
    const answer = await get('/metrics')
    expect(answer.headers.get('content-type')).toContain('text/plain')
    const lines = (await answer.text()).split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'eventgrid_binding_events_total{component="orders",result="acknowledged"} 1',
        'eventgrid_binding_events_total{component="orders",result="failed"} 1',
        'eventgrid_binding_event_seconds_count{component="orders"} 2',
        'eventgrid_binding_deliveries_total{component="orders",status="500"} 1',
        'eventgrid_binding_deliveries_total{component="orders",status="200"} 1',
        'eventgrid_binding_invokes_total{component="orders",code="INVALID_ARGUMENT"} 1',
        'eventgrid_binding_inits_total{component="orders",side="input",code="OK"} 1',
        'eventgrid_binding_events_in_flight{component="orders"} 0',
        'eventgrid_binding_reads{component="orders"} 1',
        'eventgrid_binding_health{component="orders",side="input",status="healthy"} 1',
      ]),
    )
    expect(lines.some((line) => line.startsWith('process_cpu_seconds_total'))).toBe(true)
  })
})

it.each([
  { path: '/', method: 'GET', status: 404 },
  { path: '/metrics', method: 'POST', status: 405 },
  { path: '/healthz', method: 'HEAD', status: 200 },
  { path: '/readyz', method: 'HEAD', status: 503 },
])('answers $status to $method $path', async ({ path, method, status }) => {
  const { get } = await openServed()
  expect((await get(path, { method })).status).toBe(status)
})

it('goes on after a connection that the system could not hand over', async () => {
  const { pluggable } = await openComponent()
  const { result, servers } = await listeningServers(() => openMetricsServer(pluggable, { host: '127.0.0.1', port: 0 }))
  onTestFinished(() => result.close())
  expect(servers).toHaveLength(1)
  failToAccept(servers)
  expect((await fetch(`http://127.0.0.1:${result.address.port}/healthz`)).status).toBe(200)
})

it('closes though a connection has brought nothing, half a head, half a request, or half a head after a request', async () => {
  quickenTime()
  const { server } = await openServed()
  for (const bytes of [
    '',
    'GET /metrics HTTP/1.1\r\nhost: ',
    'POST /metrics HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{',
  ]) {
    await openConnection(server.address.port, bytes)
  }
  const two = await openConnection(server.address.port, 'GET / HTTP/1.1\r\nhost: a\r\n\r\nGET /metrics HTTP/1.1\r\n')
  // Once the first is answered, the head of the second has come too, but for its end.
  await once(two, 'data')
  await server.close()
})
