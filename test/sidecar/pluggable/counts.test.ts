/** What a component's counters say before anything happened: a counter that begins with its first value hides it from every alert. */
import { expect, it } from 'vitest'
import { outputFields } from '../../support/open-world.ts'
import { openComponent } from './open-component.ts'

it('counts of a component begin at 0, for every label that is known', async () => {
  const { host, fields, pluggable, emulator } = await openComponent()
  await host.init('input', 'orders', fields)
  await host.init('output', 'orders', fields)
  await emulator.idle()
  const text = await pluggable.metrics.text()
  const zeros = [
    ...['acknowledged', 'failed', 'abandoned'].map((result) => `events_total{component="orders",result="${result}"} 0`),
    ...[200, 400, 401, 403, 404, 413, 415, 500, 503].flatMap((status) => [
      `deliveries_total{component="orders",status="${status}"} 0`,
      `strangers_total{component="orders",status="${status}"} 0`,
    ]),
    ...['OK', 'INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED', 'INTERNAL'].map(
      (code) => `invokes_total{component="orders",code="${code}"} 0`,
    ),
    ...['input', 'output'].map((side) => `inits_total{component="orders",side="${side}",code="INVALID_ARGUMENT"} 0`),
    'event_subscription_deleted_total{component="orders"} 0',
    'event_subscription{component="orders",state="missing"} 0',
  ].map((line) => `eventgrid_binding_${line}`)
  expect(text.split('\n')).toEqual(expect.arrayContaining(zeros))
  const [, start] = /^eventgrid_binding_start_time_seconds\{component="orders"\} (.+)$/m.exec(text) ?? []
  expect(Math.abs(Number(start) - Date.now() / 1_000)).toBeLessThan(600)
})

it('has no count of events and no reader for a component that only publishes', async () => {
  const { host, fields, pluggable } = await openComponent()
  const output = Object.fromEntries(Object.entries(fields).filter(([name]) => outputFields.some((one) => one === name)))
  await host.init('input', 'orders', output)
  await host.init('output', 'orders', output)
  const text = await pluggable.metrics.text()
  expect(text).toContain('eventgrid_binding_invokes_total{component="orders",code="OK"} 0')
  expect(text).not.toMatch(/^eventgrid_binding_(reads|events_total|deliveries_total|event_subscription)\{/m)
})
