import { expect, it } from 'vitest'
import { createLogWriter } from '../../../src/sidecar/cli/log-writer.ts'
import { openDaprApp } from '../../support/dapr-app.ts'
import { openHostWorld } from './open-host.ts'

it('logs JSON lines with the keys of daprd, all of them on stderr', async () => {
  const world = await openHostWorld()
  const host = world.start(['--log-format', 'json', '--log-level', 'debug'])
  await host.line(/"msg":"ready/)
  host.process.kill('SIGTERM')
  await host.ended
  for (const line of host.lines) {
    expect(JSON.parse(line)).toMatchObject({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      level: expect.stringMatching(/^(debug|info|warn|error)$/),
      msg: expect.any(String),
    })
  }
  expect(host.lines.some((line) => JSON.parse(line).component === 'orders')).toBe(true)
  expect(host.stdout).toEqual([])
})

it('leaves out what is below its level', async () => {
  const world = await openHostWorld()
  const host = world.start(['--log-level', 'warn'])
  await host.line(/ warn {2}there is no --app-port/)
  host.process.kill('SIGTERM')
  expect(await host.ended).toBe(0)
  expect(host.lines.filter((line) => !/ (warn {2}|error )/.test(line))).toEqual([])
})

it('writes durations in words for people, and in milliseconds for programs', () => {
  const written: string[] = []
  for (const format of ['text', 'json'] as const) {
    createLogWriter({ level: 'info', format, out: { write: (line) => written.push(line) } }).info('again', {
      retryMs: 60_000,
    })
  }
  expect(written[0]).toMatch(/ again retry="60 s"\n$/)
  expect(JSON.parse(written[1] ?? '')).toMatchObject({ retryMs: 60_000 })
})

it('serves health and the metrics of its components where it is told to', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp()
  app.answerWith((_call, index) => (index === 0 ? 500 : 200))
  const host = world.start(['--app-port', String(app.port), '--metrics-port', '0'])
  await host.takesEvents('orders')
  const [, port] = await host.line(/health and metrics.* port=(\d+)/)
  await host.invoke('orders', { operation: 'create', data: 1 })
  await world.emulator.settled()
  await host.invoke('orders', { operation: 'create', data: { specversion: '1.0' } })
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'eventgrid_binding_events_total{component="orders",result="acknowledged"} 1',
      'eventgrid_binding_events_total{component="orders",result="failed"} 1',
      'eventgrid_binding_deliveries_total{component="orders",status="200"} 1',
      'eventgrid_binding_deliveries_total{component="orders",status="500"} 1',
      'eventgrid_binding_events_total{component="orders",result="abandoned"} 0',
      'eventgrid_binding_deliveries_total{component="orders",status="401"} 0',
      'eventgrid_binding_invokes_total{component="orders",code="PUBLISH_UNAVAILABLE"} 0',
      'eventgrid_binding_invokes_total{component="orders",code="OK"} 1',
      'eventgrid_binding_invokes_total{component="orders",code="PAYLOAD_INVALID"} 1',
      'eventgrid_binding_events_in_flight{component="orders"} 0',
      'eventgrid_binding_health{component="orders",side="input",status="healthy"} 1',
      'eventgrid_binding_health{component="orders",side="output",status="healthy"} 1',
    ]),
  )
  expect(text).not.toContain('eventgrid_binding_reads{')
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
  const health = await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()
  expect(health).toMatchObject({ ready: true, draining: false, components: { orders: { status: 'healthy' } } })
})

it('is ready while it is not known whether the event subscription has its credential', async () => {
  const world = await openHostWorld()
  world.emulator.failNext({ route: 'arm', delayMs: 600_000, times: 10 })
  const host = world.start(['--metrics-port', '0'])
  const [, port] = await host.line(/health and metrics.* port=(\d+)/)
  await host.line(/ ready: /)
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
})
