import { expect, it } from 'vitest'
import { openDaprApp } from '../support/dapr-app.ts'
import { openHostWorld } from './open-host.ts'

const names = (metadata: { readonly body: string }) =>
  JSON.parse(metadata.body).components.map(({ name }: { readonly name: string }) => name)

it('adds, changes and removes components while it runs, and keeps what a broken file held', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')

  world.write('parcels.yaml', { name: 'parcels', type: 'bindings.cloud.eventrouter' })
  await host.takesEvents('parcels')
  expect(names(await host.get('/v1.0/metadata'))).toEqual(['orders', 'parcels'])
  expect((await host.invoke('parcels', { operation: 'create', data: 'sent' })).status).toBe(200)
  await app.received('POST', 1)

  world.write('orders.yaml', { fields: { route: '/elsewhere' } })
  await host.line(/^orders: events go to the application at \/elsewhere/)
  await host.invoke('orders', { operation: 'create', data: 'moved' })
  expect((await app.received('POST', 2)).map(({ path }) => path)).toEqual(['/parcels', '/elsewhere'])

  world.write('orders.yaml', { fields: { scope: '/nowhere', handlerTimeout: '25' } })
  await host.line(/orders\.yaml:\d+:\d+: scope /)
  await host.line(/orders\.yaml:\d+:\d+: handlerTimeout /)
  await host.line(/^what these files said before stays in force/)
  await host.invoke('orders', { operation: 'create', data: 'still' })
  expect((await app.received('POST', 3)).at(-1)?.path).toBe('/elsewhere')
  world.write('orders.yaml', { fields: { route: '/elsewhere' } })
  await host.line(/^every component file is valid again/)

  world.folder.remove('parcels.yaml')
  await host.line(/^parcels: removed/)
  expect(names(await host.get('/v1.0/metadata'))).toEqual(['orders'])
  expect((await host.invoke('parcels', { operation: 'create' })).body).toContain("couldn't find output binding parcels")
})

it('goes back to what a component was when its new port is taken', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')
  world.write('orders.yaml', { handshakePort: String(app.port), fields: { listenAddress: '127.0.0.1' } })
  await host.line(/^orders: error: PORT_UNAVAILABLE/)
  await host.line(/^orders: warning: going back to what it was before/)
  await host.invoke('orders', { operation: 'create', data: 'still' })
  await app.received('POST', 1)
})

it('lets a component keep the port that another one asks for, and names the two', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp()
  world.write('z-parcels.yaml', { name: 'parcels' })
  const host = world.start(['--app-port', String(app.port)])
  await Promise.all([host.takesEvents('orders'), host.takesEvents('parcels')])
  const [, port = ''] = await host.line(/^parcels: listening .*port: (\d+)/)
  world.write('orders.yaml', { handshakePort: port })
  await host.line(/^orders: error: PORT_UNAVAILABLE.*component "parcels" has its handshakePort already/)
  await host.line(/^orders: warning: going back to what it was before/)
  await host.invoke('orders', { operation: 'create', data: 'one' })
  await host.invoke('parcels', { operation: 'create', data: 'other' })
  expect((await app.received('POST', 2)).map(({ path }) => path).sort()).toEqual(['/orders', '/parcels'])
  expect(host.lines.join('\n')).not.toContain('parcels: removed')
})

it('says each warning of a component with both sides once', async () => {
  const world = await openHostWorld()
  world.write('orders.yaml', { fields: { handlerTimeuot: '1s' } })
  const host = world.start()
  await host.line(/^orders: the event subscription .* stands/)
  expect(host.lines.filter((line) => line.includes('handlerTimeuot'))).toEqual([
    expect.stringContaining('did you mean handlerTimeout'),
  ])
})
