import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startHeldTopic } from '../../publisher/scripted-topic.ts'
import { openDaprApp } from '../../support/dapr-app.ts'
import { eventually } from '../../support/eventually.ts'
import { healthChecked, openHostWorld } from './open-host.ts'

const names = (metadata: { readonly body: string }) =>
  JSON.parse(metadata.body).components.map(({ name }: { readonly name: string }) => name)

/** Does a component's listener say that it takes deliveries? One that drains does not, or answers no more. */
const isUp = (port: string) =>
  fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS' }).then(
    ({ ok }) => ok,
    () => false,
  )

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
  await host.line(/ info {2}events go to the application at \/elsewhere.* component=orders/)
  expect(names(await host.get('/v1.0/metadata'))).toEqual(['orders', 'parcels'])
  expect(host.lines.filter((line) => / listening .*component=parcels/.test(line))).toHaveLength(1)
  await host.invoke('orders', { operation: 'create', data: 'moved' })
  expect((await app.received('POST', 2)).map(({ path }) => path)).toEqual(['/parcels', '/elsewhere'])

  world.write('orders.yaml', { fields: { scope: '/nowhere', handlerTimeout: '25' } })
  await host.line(/orders\.yaml:\d+:\d+: scope /)
  await host.line(/orders\.yaml:\d+:\d+: handlerTimeout /)
  await host.line(/ warn {2}the previous version of these files stays active/)
  await host.invoke('orders', { operation: 'create', data: 'still' })
  expect((await app.received('POST', 3)).at(-1)?.path).toBe('/elsewhere')
  world.write('orders.yaml', { fields: { route: '/elsewhere' } })
  await host.line(/ info {2}every component file is valid again/)

  world.write('orders.yaml', { type: 'bindings.azure.eventgird' })
  await host.line(/ error .*eventgird.*did you mean bindings\.azure\.eventgrid\?/)
  await host.invoke('orders', { operation: 'create', data: 'with a typo' })
  expect((await app.received('POST', 4)).at(-1)?.path).toBe('/elsewhere')
  world.write('orders.yaml', { fields: { route: '/elsewhere' } })

  world.folder.remove('parcels.yaml')
  await host.line(/ info {2}removed.* component=parcels/)
  expect(names(await host.get('/v1.0/metadata'))).toEqual(['orders'])
  expect((await host.invoke('parcels', { operation: 'create' })).body).toContain("couldn't find output binding parcels")
})

it('keeps a component whose file is empty, a folder, not readable, or in a folder that is gone; not one whose file is deleted', async () => {
  const world = await openHostWorld()
  const host = world.start()
  await host.api
  const { path } = world.folder
  const file = join(path, 'orders.yaml')
  const text = readFileSync(file, 'utf8')
  const works = async () => expect((await host.invoke('orders', { operation: 'create', data: 1 })).status).toBe(200)
  const isValidAgain = async (count: number) =>
    eventually(() => expect(host.lines.filter((line) => line.includes('valid again'))).toHaveLength(count))

  writeFileSync(file, '')
  await host.line(/ error .*orders\.yaml holds no component: it is empty/)
  await host.line(/ warn {2}the previous version of these files stays active/)
  await works()
  // As kubectl, editors and config maps write it.
  writeFileSync(join(path, '.new'), text)
  renameSync(join(path, '.new'), file)
  await isValidAgain(1)
  rmSync(file)
  mkdirSync(file)
  await host.line(/ error .*orders\.yaml can't be read: it is a folder, not a file/)
  await works()
  rmSync(file, { recursive: true })
  symlinkSync('gone', file)
  await host.line(/ error .*orders\.yaml can't be read: ENOENT/)
  await works()
  renameSync(path, `${path}-away`)
  await host.line(/ error .*--components .* can't be read: ENOENT/)
  await works()
  renameSync(`${path}-away`, path)
  rmSync(file)
  writeFileSync(file, text)
  await isValidAgain(2)
  await works()
  expect(host.lines.filter((line) => / listening |removed/.test(line))).toHaveLength(1)
  rmSync(file)
  await host.line(/ info {2}removed.* component=orders/)
})

it('starts a component anew when the file of --secrets is corrected, and keeps it while that file is broken', async () => {
  const world = await openHostWorld()
  const file = join(world.folder.path, 'given.json')
  const give = (accessKey: string) => writeFileSync(file, JSON.stringify({ 'orders-accessKey': accessKey }))
  give('d3Jvbmc=')
  const host = world.start(['--secrets', file])
  const create = () => host.invoke('orders', { operation: 'create', data: 'sent' })
  expect((await create()).body).toContain('CREDENTIALS_REJECTED')

  writeFileSync(file, 'not JSON')
  await host.line(/ error --secrets: .*given\.json must hold a JSON object/)
  await host.line(/ warn {2}the previous version of these files stays active/)
  expect((await create()).body).toContain('CREDENTIALS_REJECTED')

  give(world.emulator.topic('orders').key)
  await host.line(/ info {2}every component file is valid again/)
  await host.line(/ info {2}accessKey changed: the output side starts anew component=orders$/)
  await eventually(async () => expect((await create()).status).toBe(200))
})

it('starts the output side alone anew where only its fields changed: events go on, and nothing is asked of Azure', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp()
  const { promise: held, resolve: answer } = Promise.withResolvers<number>()
  app.answerWith(() => held)
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')
  const create = (data: string) => host.invoke('orders', { operation: 'create', data })
  await create('first')
  await app.received('POST', 1)
  const { records } = world.emulator
  const asked = () => records.requests.filter(({ face }) => face === 'arm').length
  const before = asked()

  world.write('orders.yaml', { fields: { topicSchema: 'CloudEventSchemaV1_0' } })
  await host.line(/ info {2}topicSchema changed: the output side starts anew component=orders$/)
  await create('second')
  await app.received('POST', 2)
  world.write('orders.yaml', { fields: { topicEndpoint: world.emulator.topic('parcels').endpoint } })
  await eventually(async () => expect((await create('third')).status).not.toBe(200))
  answer(200)
  await world.emulator.idle()
  expect(records.deliveries.filter(({ status }) => status !== 200)).toEqual([])
  expect(asked()).toBe(before)
  expect(host.lines.filter((line) => / listening .*component=orders/.test(line))).toHaveLength(1)
})

it('lets the application publish by components that change, while one waits for what the application has', async () => {
  const world = await openHostWorld()
  world.write('parcels.yaml', { name: 'parcels' })
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')
  const port = await host.port('orders')
  app.answerWith(async (_call, index) => {
    if (index > 0) return 200
    world.write('orders.yaml', { fields: { route: '/elsewhere', handlerTimeout: '24s' } })
    world.write('parcels.yaml', { name: 'parcels', fields: { topicSchema: 'CloudEventSchemaV1_0' } })
    await eventually(async () => expect(await isUp(port)).toBe(false))
    const { status } = await host.invoke('parcels', { operation: 'create', data: 'parcel' })
    return status === 200
      ? (await host.invoke('orders', { operation: 'create', data: 'while draining' })).status
      : status
  })
  await host.invoke('orders', { operation: 'create', data: 'first' })
  const posts = await app.received('POST', 3)
  expect(posts.map(({ path, body }) => [path, JSON.parse(body).data]).sort()).toEqual([
    ['/elsewhere', 'while draining'],
    ['/orders', 'first'],
    ['/parcels', 'parcel'],
  ])
})

it('takes no more events at SIGTERM, though a component that changes waits for what the application has', async () => {
  const world = await openHostWorld()
  world.write('parcels.yaml', { name: 'parcels' })
  const app = await openDaprApp()
  const { promise: held, resolve: answer } = Promise.withResolvers<number>()
  app.answerWith(() => held)
  const host = world.start(['--app-port', String(app.port)])
  await Promise.all([host.takesEvents('orders'), host.takesEvents('parcels')])
  const [orders, parcels] = await Promise.all([host.port('orders'), host.port('parcels')])
  await host.invoke('orders', { operation: 'create', data: 'held' })
  await app.received('POST', 1)
  world.write('orders.yaml', { fields: { handlerTimeout: '24s' } })
  await eventually(async () => expect(await isUp(orders)).toBe(false))
  expect(await isUp(parcels)).toBe(true)
  host.process.kill('SIGTERM')
  await eventually(async () => expect(await isUp(parcels)).toBe(false))
  const { status } = await host.invoke('orders', { operation: 'create', data: 'while draining' })
  answer(200)
  expect([status, await host.ended]).toEqual([200, 0])
  expect(host.lines.filter((line) => / listening .*component=orders/.test(line))).toHaveLength(1)
})

it('answers every create while a component changes, and those that wait for the topic it had', async () => {
  const world = await openHostWorld()
  const { topic, open } = await startHeldTopic()
  world.write('orders.yaml', { fields: { topicEndpoint: topic.endpoint } })
  const host = world.start()
  const create = () => host.invoke('orders', { operation: 'create', data: 'sent' })
  const calls = [create()]
  await topic.arrived(1)
  world.write('orders.yaml', { fields: { topicEndpoint: world.emulator.topic('orders').endpoint } })
  await eventually(() => {
    calls.push(create())
    expect(host.lines.filter((line) => / v1: input and output component=orders$/.test(line))).toHaveLength(2)
  })
  expect((await create()).status).toBe(200)
  open()
  const answers = await Promise.all(calls)
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  expect(world.emulator.figures().published).toBeGreaterThan(0)
})

it('goes back to what a component was when its new port is taken, and leaves out what never ran', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')
  world.write('orders.yaml', { handshakePort: String(app.port), fields: { listenAddress: '127.0.0.1' } })
  await host.line(/ error PORT_UNAVAILABLE.* component=orders/)
  await host.line(/ warn {2}its previous version goes on.* component=orders/)
  await host.invoke('orders', { operation: 'create', data: 'still' })
  await app.received('POST', 1)

  // Opened before orders.
  world.write('a-parcels.yaml', {
    name: 'parcels',
    handshakePort: String(app.port),
    fields: { listenAddress: '127.0.0.1' },
  })
  const [{ input }] = await Promise.all([
    host.line(/ error PORT_UNAVAILABLE.* component=parcels/),
    host.line(/ warn {2}it is left out until its file changes.* component=parcels/),
  ])
  expect(input).not.toContain('has its handshakePort')
  world.write('a-parcels.yaml', { name: 'parcels' })
  await host.takesEvents('parcels')

  const port = await host.port('orders')
  world.write('a-parcels.yaml', { name: 'parcels', handshakePort: port })
  await host.line(/ error the former input side could not be opened again.* component=orders/)
  expect((await host.invoke('orders', { operation: 'create', data: 'its output goes on' })).status).toBe(200)
})

it('lets a component keep the port that another one asks for, and names the two', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp()
  world.write('z-parcels.yaml', { name: 'parcels' })
  const host = world.start(['--app-port', String(app.port)])
  await Promise.all([host.takesEvents('orders'), host.takesEvents('parcels')])
  const port = await host.port('parcels')
  world.write('orders.yaml', { handshakePort: port })
  await host.line(/ error PORT_UNAVAILABLE.*component "parcels" has its handshakePort already.* component=orders/)
  await host.line(/ warn {2}its previous version goes on.* component=orders/)
  await host.invoke('orders', { operation: 'create', data: 'one' })
  await host.invoke('parcels', { operation: 'create', data: 'other' })
  expect((await app.received('POST', 2)).map(({ path }) => path).sort()).toEqual(['/orders', '/parcels'])
  expect(host.lines.join('\n')).not.toMatch(/ removed .*component=parcels/)
})

it('asks for no events of a component that is on its way out, though the application comes back meanwhile', async () => {
  const world = await openHostWorld()
  let wanted = true
  const app = await openDaprApp({ subscribed: () => wanted })
  const { promise: held, resolve: answer } = Promise.withResolvers<number>()
  app.answerWith(() => held)
  const host = world.start(['--app-port', String(app.port), ...healthChecked(1)])
  await host.takesEvents('orders')
  const port = await host.port('orders')
  await host.invoke('orders', { operation: 'create', data: 'held' })
  await app.received('POST', 1)
  wanted = false
  world.folder.remove('orders.yaml')
  await eventually(async () => expect(await isUp(port)).toBe(false))
  app.feel(false)
  await host.line(/ warn {2}the application is unhealthy/)
  app.feel(true)
  await host.line(/ info {2}the application is back/)
  answer(200)
  await host.line(/ info {2}removed.* component=orders/)
  host.process.kill('SIGTERM')
  expect(await host.ended).toBe(0)
  expect(host.lines.filter((line) => line.includes('the application answers OPTIONS'))).toEqual([])
})

it('says each warning of a component with both sides once', async () => {
  const world = await openHostWorld()
  world.write('orders.yaml', { fields: { handlerTimeuot: '1s' } })
  const host = world.start()
  await host.line(/ info {2}the event subscription .* is provisioned.* component=orders/)
  expect(host.lines.filter((line) => line.includes('handlerTimeuot'))).toEqual([
    expect.stringContaining('did you mean handlerTimeout'),
  ])
  expect(host.lines.join('\n')).toMatch(
    / warn {2}there is no --app-port: deliveries get 503, and Event Grid sends them again component=orders$/m,
  )
})
