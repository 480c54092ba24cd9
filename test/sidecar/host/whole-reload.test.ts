// A reload is whole or not, and what failed is told by log, health and metrics; a component that says ignoreErrors may be missing.
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { componentFile } from '../../support/component-folder.ts'
import { eventually } from '../../support/eventually.ts'
import { listen } from '../../support/listen.ts'
import { openHostWorld, type RunningHost } from './open-host.ts'

const health = z.object({
  config: z.object({
    ...{ successful: z.boolean(), lastSuccess: z.iso.datetime(), faults: z.array(z.string()) },
    leftOut: z.record(z.string(), z.string()),
  }),
})

/** What a monitor sees of a running host. */
async function monitor(host: RunningHost) {
  const [, port] = await host.line(/health and metrics.* port=(\d+)/)
  const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  return {
    config: async () => health.parse(await (await at('/healthz')).json()).config,
    active: async () => (await at('/config')).text(),
    /** The values of the metrics about the files. */
    async metrics() {
      const lines = (await (await at('/metrics')).text()).split('\n')
      const named = lines.filter((line) => /^eventgrid_binding_(config|component_left_out)/.test(line))
      return Object.fromEntries(
        named
          .map((line) => line.replace('eventgrid_binding_', '').split(' '))
          .map(([name, value]) => [name, Number(value)]),
      )
    },
  }
}

const start = (world: Awaited<ReturnType<typeof openHostWorld>>) => world.start(['--metrics-port', '0'])
const opened = (host: RunningHost) => host.lines.filter((line) => /started anew|starts anew|removed/.test(line))

it.each([
  { name: 'a field that is not there', broken: (text: string) => text.replace('topicEndpoint', 'topicEndpint') },
  { name: 'no YAML', broken: () => 'kind: [' },
  { name: 'nothing', broken: () => '' },
  {
    name: 'a typo in its type',
    broken: (text: string) => text.replace(/bindings\.[\w.]+/, 'bindings.azure.eventgird'),
  },
])('keeps all that runs while one file has $name, though others change too', async ({ broken }) => {
  const world = await openHostWorld()
  world.write('parcels.yaml', { name: 'parcels' })
  const host = start(world)
  await host.api
  const seen = await monitor(host)
  const since = (await seen.metrics()).config_last_reload_success_timestamp_seconds ?? 0
  expect(Math.abs(since - Date.now() / 1000)).toBeLessThan(120)
  expect(await seen.metrics()).toMatchObject({ config_last_reload_successful: 1 })
  expect(await seen.config()).toMatchObject({ successful: true, faults: [], leftOut: {} })

  const orders = readFileSync(join(world.folder.path, 'orders.yaml'), 'utf8')
  writeFileSync(join(world.folder.path, 'orders.yaml'), broken(orders))
  world.write('parcels.yaml', { name: 'parcels', fields: { publishTimeout: '7s' } })
  const { endpoint: topicEndpoint, key: accessKey } = world.emulator.topic('orders')
  world.folder.write('third.yaml', componentFile('third', { topicEndpoint, accessKey }))
  await host.line(/ warn {2}nothing is changed: all components go on as before/)
  expect(opened(host)).toEqual([])
  expect((await host.invoke('third', { operation: 'create', data: 1 })).body).toContain(
    "couldn't find output binding third",
  )
  expect(await seen.metrics()).toMatchObject({
    config_last_reload_successful: 0,
    config_last_reload_success_timestamp_seconds: since,
  })
  const { successful, faults } = await seen.config()
  expect([successful, faults.length, faults[0]?.includes('orders.yaml')]).toEqual([false, 1, true])
  const active = await seen.active()
  const { scope, clientSecret, accessKey: key } = JSON.parse(active).components.orders.metadata
  expect([scope, clientSecret, key]).toEqual([world.emulator.topic('orders').id, '(redacted)', '(redacted)'])
  expect(Object.keys(JSON.parse(active).components)).toEqual(['orders', 'parcels'])
  for (const secret of [world.emulator.clientSecret, accessKey]) expect(active).not.toContain(secret)

  writeFileSync(join(world.folder.path, 'orders.yaml'), orders)
  await host.line(/ every component file is valid again/)
  await host.line(/the output side starts anew component=parcels/)
  expect((await host.invoke('third', { operation: 'create', data: 1 })).status).toBe(200)
  const after = await seen.metrics()
  expect(after.config_last_reload_successful).toBe(1)
  expect(after.config_last_reload_success_timestamp_seconds).toBeGreaterThan(since)
  expect(await seen.active()).toContain('"publishTimeout":"7s"')
})

it('goes on without a component that says ignoreErrors, and tells of that one', async () => {
  const world = await openHostWorld()
  rmSync(join(world.folder.path, 'orders.yaml'))
  const text = readFileSync(resolve(import.meta.dirname, '../../fixtures/components/ignore-errors.yaml'), 'utf8')
  const file = join(world.folder.path, 'both.yaml')
  writeFileSync(file, text)
  const host = start(world)
  await host.api
  const seen = await monitor(host)
  await host.line(/ error left out, as it says ignoreErrors: .*both\.yaml:8:3: accessKey is required/)
  expect(await seen.metrics()).toMatchObject({
    'component_left_out{component="orders"}': 1,
    config_last_reload_successful: 1,
  })
  expect((await seen.config()).leftOut.orders).toContain('accesKey')
  expect(JSON.parse((await host.invoke('orders', { operation: 'create', data: 1 })).body)).toMatchObject({
    errorCode: 'ERR_INVOKE_OUTPUT_BINDING',
  })

  writeFileSync(file, text.replace('accesKey', 'accessKey'))
  await host.line(/ v1: output component=orders/)
  await eventually(async () => expect((await seen.config()).leftOut).toEqual({}))
  // One that runs, and has a fault now: the set without it is the one that is valid.
  writeFileSync(file, text)
  await host.line(/ removed component=orders/)
  expect(await seen.config()).toMatchObject({ successful: true, leftOut: { orders: expect.any(String) } })
})

it('goes on without one whose port is taken at the start, which is else a failure', async () => {
  const world = await openHostWorld()
  const server = createServer()
  const handshakePort = String(await listen(server))
  world.write('parcels.yaml', { name: 'parcels', fields: { handshakePort } })
  const file = join(world.folder.path, 'parcels.yaml')
  const text = readFileSync(file, 'utf8').replace(/^( *)version: v1/m, '$1version: v1\n$1ignoreErrors: true')
  expect(text).toContain('ignoreErrors')
  writeFileSync(file, text)
  const host = start(world)
  await host.api
  const seen = await monitor(host)
  expect(await seen.metrics()).toMatchObject({ 'component_left_out{component="parcels"}': 1 })
  expect((await seen.config()).leftOut.parcels).toMatch(/PORT_UNAVAILABLE/)
  expect((await host.invoke('orders', { operation: 'create', data: 1 })).status).toBe(200)
})

it('says that a reload failed where a component could not be changed', async () => {
  const world = await openHostWorld()
  const server = createServer()
  const handshakePort = String(await listen(server))
  const host = start(world)
  await host.api
  const seen = await monitor(host)
  world.write('orders.yaml', { fields: { handshakePort } })
  await host.line(/ error .*PORT_UNAVAILABLE/)
  await eventually(async () => expect(await seen.metrics()).toMatchObject({ config_last_reload_successful: 0 }))
  expect((await seen.config()).faults).toEqual([expect.stringMatching(/^component orders: PORT_UNAVAILABLE/)])
})

it('follows the links of a mounted config map, whose folder is swapped', async () => {
  const world = await openHostWorld()
  const { path } = world.folder
  const text = readFileSync(join(path, 'orders.yaml'), 'utf8')
  const generation = (name: string, files: Readonly<Record<string, string>>) => {
    mkdirSync(join(path, name))
    for (const [file, content] of Object.entries(files)) writeFileSync(join(path, name, file), content)
    symlinkSync(name, join(path, '..data_tmp'))
    renameSync(join(path, '..data_tmp'), join(path, '..data'))
  }
  rmSync(join(path, 'orders.yaml'))
  generation('..2026_1', { 'orders.yaml': text })
  symlinkSync('..data/orders.yaml', join(path, 'orders.yaml'))
  const host = start(world)
  await host.api
  const timeout = '    - { name: publishTimeout, value: "9s" }'
  generation('..2026_2', { 'orders.yaml': text.replace(/( {2}metadata:\n)/, `$1${timeout}\n`) })
  await host.line(/the output side starts anew component=orders/)
  // The key is removed: kubelet swaps the folder, and then removes the link.
  generation('..2026_3', {})
  await host.line(/orders\.yaml is gone, or a link that leads nowhere: left out/)
  await host.line(/ removed component=orders/)
  expect(host.lines.filter((line) => / error /.test(line))).toEqual([])
})
