import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openDaprApp } from '../../support/dapr-app.ts'
import { eventually } from '../../support/eventually.ts'
import { openHostWorld } from './open-host.ts'

/** Does a component's listener say that it takes deliveries? One that drains does not, or answers no more. */
const isUp = (port: string) =>
  fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS' }).then(
    ({ ok }) => ok,
    () => false,
  )

it('keeps a component whose folder is gone or whose file cannot be read; not one whose file is deleted, or a folder now', async () => {
  const world = await openHostWorld()
  const host = world.start()
  await host.api
  const { path } = world.folder
  const file = join(path, 'orders.yaml')
  const text = readFileSync(file, 'utf8')
  const works = async () => expect((await host.invoke('orders', { operation: 'create', data: 1 })).status).toBe(200)
  const isValidAgain = async (count: number) =>
    eventually(() => expect(host.lines.filter((line) => line.includes('valid again'))).toHaveLength(count))

  rmSync(file)
  execFileSync('mkfifo', [file])
  await host.line(/ error .*orders\.yaml: can't be read: it is a pipe/)
  await works()
  // As kubectl, editors and config maps write it.
  writeFileSync(join(path, '.new'), text)
  renameSync(join(path, '.new'), file)
  await isValidAgain(1)
  renameSync(path, `${path}-away`)
  await host.line(/ error .*: can't be read: ENOENT.*make it, or correct the path/)
  await works()
  renameSync(`${path}-away`, path)
  await isValidAgain(2)
  await works()
  expect(host.lines.filter((line) => / listening |removed/.test(line))).toHaveLength(1)
  rmSync(file)
  mkdirSync(file)
  await host.line(/ warn {2}.*orders\.yaml is a folder: left out/)
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
  await host.line(/ warn {2}nothing is changed: all components go on as before/)
  expect((await create()).body).toContain('CREDENTIALS_REJECTED')

  give(world.emulator.topic('orders').key)
  await host.line(/ info {2}every component file is valid again/)
  await host.line(/ info {2}the output side starts anew component=orders$/)
  await eventually(async () => expect((await create()).status).toBe(200))
})

it('lets the application publish by components that change, while one waits for what the application has', async () => {
  const world = await openHostWorld()
  world.write('parcels.yaml', { name: 'parcels' })
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')
  const listenings = () => host.lines.filter((line) => / listening .*component=orders/.test(line)).length
  app.answerWith(async (_call, index) => {
    if (index > 0) return 200
    world.write('orders.yaml', { fields: { route: '/elsewhere', handlerTimeout: '24s' } })
    world.write('parcels.yaml', { name: 'parcels', fields: { topicSchema: 'CloudEventSchemaV1_0' } })
    // The former listener drains behind the new one.
    await eventually(() => expect(listenings()).toBe(2))
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

it('takes no more events at SIGTERM, also of a component that changed while the application has an event; all still publish', async () => {
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
  const listenings = () => host.lines.filter((line) => / listening .*component=orders/.test(line)).length
  await eventually(() => expect(listenings()).toBe(2))
  expect(await Promise.all([isUp(orders), isUp(parcels)])).toEqual([true, true])
  host.process.kill('SIGTERM')
  await eventually(async () => expect(await Promise.all([isUp(orders), isUp(parcels)])).toEqual([false, false]))
  const publish = (name: string) => host.invoke(name, { operation: 'create', data: 'while draining' })
  const published = await Promise.all([publish('orders'), publish('parcels')])
  answer(200)
  expect([published.map(({ status }) => status), await host.ended]).toEqual([[200, 200], 0])
  expect(host.lines.at(-1)).toMatch(/ info {2}ended$/)
  expect(listenings()).toBe(2)
})
