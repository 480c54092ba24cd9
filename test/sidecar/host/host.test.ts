import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { componentFile } from '../../support/component-folder.ts'
import { freePort } from '../../support/free-port.ts'
import { listen } from '../../support/listen.ts'
import { loadTexts } from '../../support/load-texts.ts'
import { fieldsFor } from '../../support/open-world.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { openHost, publisherFile } from './open-sidecar.ts'

/** A host, and components that listen on ports of an emulator's topic. */
async function open() {
  const emulator = await startEmulator({ topics: [{ name: 'orders' }] })
  const { host, log, metrics } = openHost({ endpoints: emulator.endpoints })
  return {
    host,
    metrics,
    listener: (name: string, port: number) =>
      componentFile(name, {
        ...fieldsFor(emulator),
        handshakePort: String(port),
        eventSubscriptionName: `${name}orders`,
      }),
    names: () => host.components().map(({ loaded }) => loaded.component.name),
    said: (part: string) => log.lines.filter(({ message }) => message.includes(part)).map(({ message }) => message),
  }
}

it('starts components by the order of their files', async () => {
  const { host, listener, names, said } = await open()
  const port = await freePort()
  const files = { '1.yaml': listener('z', port), '2.yaml': publisherFile('m'), '3.yaml': listener('a', port) }
  await expect(host.start(loadTexts(files))).rejects.toMatchObject({ code: 'PORT_UNAVAILABLE' })
  expect(names()).toEqual(['m', 'z'])
  expect(said('could not be started')).toHaveLength(1)
  expect([host.find('m')?.port(), host.find('z')?.port(), host.find('a')]).toEqual([undefined, port, undefined])
})

it('keeps what runs where a change cannot be made, and leaves out what never ran', async () => {
  const { host, listener, names, said } = await open()
  const [one, two] = [await freePort(), await freePort()]
  const before = { 'a.yaml': listener('a', one), 'b.yaml': listener('b', two) }
  await host.start(loadTexts(before))
  await host.change(loadTexts({ ...before, 'b.yaml': listener('b', one), 'c.yaml': listener('c', one) }))
  expect(names()).toEqual(['a', 'b'])
  expect(host.find('b')?.port()).toBe(two)
  expect(said('PORT_UNAVAILABLE')).toHaveLength(2)
  expect(said('until a file changes')).toEqual([
    'its previous version goes on until a file changes',
    'it is left out until a file changes',
  ])
  // What failed is tried again, with the port that is free now.
  await host.change(loadTexts({ 'b.yaml': listener('b', one), 'c.yaml': listener('c', two) }))
  expect(said('removed')).toEqual(['removed'])
  expect(names()).toEqual(['b', 'c'])
  // Somebody else has this one.
  await host.change(
    loadTexts({ 'b.yaml': listener('b', one), 'c.yaml': listener('c', await listen(createServer(), '::')) }),
  )
  expect(host.find('c')?.port()).toBe(two)
})

it('opens what a failed change has closed, as soon as the files are as before', async () => {
  const { host, listener, said } = await open()
  const [one, two] = [await freePort(), await freePort()]
  const before = { 'a.yaml': listener('a', one), 'b.yaml': listener('b', two) }
  await host.start(loadTexts(before))
  const taken = await listen(createServer(), '::')
  // Somebody else has the new port of a, and b takes the former one.
  const failed = await host.change(loadTexts({ 'a.yaml': listener('a', taken), 'b.yaml': listener('b', one) }))
  expect(failed).toEqual([expect.stringContaining('PORT_UNAVAILABLE')])
  expect(said('until a file changes')).toEqual(['it takes no events until a file changes'])
  expect(await host.change(loadTexts(before))).toEqual([])
  expect([host.find('a')?.port(), host.find('b')?.port()]).toEqual([one, two])
})

it('says each warning of a component with both sides once, and what becomes of its events without an application', async () => {
  const { host, said, listener } = await open()
  const text = `${listener('a', await freePort())}\n    - { name: handlerTimeuot, value: 1s }`
  await host.start(loadTexts({ 'a.yaml': text }))
  expect(said('handlerTimeuot')).toEqual([expect.stringContaining('did you mean handlerTimeout')])
  expect(said('there is no --app-port')).toEqual([
    'there is no --app-port: deliveries get 503, and Event Grid sends them again',
  ])
})

it('starts nothing anew whose file is as before, and forgets the counts of what is removed', async () => {
  const { host, names, said, metrics } = await open()
  await host.start(loadTexts({ 'a.yaml': publisherFile('a'), 'b.yaml': publisherFile('b') }))
  await host.change(loadTexts({ 'b.yaml': publisherFile('b') }))
  await expect.poll(() => said('removed')).toHaveLength(1)
  expect([names(), said('v1: output').length]).toEqual([['b'], 2])
  expect(await metrics.text()).not.toContain('component="a"')
})

it('has no series of a component that never ran, nor of one that is gone and ends a call late', async () => {
  const { host, listener, metrics } = await open()
  const port = await freePort()
  const both = { 'a.yaml': listener('a', port), 'b.yaml': publisherFile('b') }
  await host.start(loadTexts(both))
  await host.change(loadTexts({ ...both, 'c.yaml': listener('c', port) }))
  expect(await metrics.text()).not.toContain('component="c"')
  const late = metrics.component('late')
  metrics.forget('late')
  late.event('acknowledged', 1)
  late.invoke('OK', 1)
  late.init('input', 'OK')
  expect(await metrics.text()).not.toContain('component="late"')
})

it('starts nothing more once it closes', async () => {
  const { host, names } = await open()
  await host.start(loadTexts({ 'a.yaml': publisherFile('a') }))
  const closed = host.close()
  await host.change(loadTexts({ 'b.yaml': publisherFile('b') }))
  await closed
  expect(names()).toEqual([])
})
