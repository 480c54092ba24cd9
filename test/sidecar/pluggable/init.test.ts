import { createServer } from 'node:net'
import { status } from '@grpc/grpc-js'
import { expect, it, onTestFinished } from 'vitest'
import { createInstances } from '../../../src/sidecar/pluggable/instances.ts'
import { createMetrics } from '../../../src/sidecar/shared/metrics.ts'
import { startHeldTopic } from '../../publisher/scripted-topic.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { listen } from '../../support/listen.ts'
import { inputFields, outputFields } from '../../support/open-world.ts'
import { beginReading, openComponent } from './open-component.ts'

const without = (fields: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

const listens = async (port: number) => (await fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS' })).ok

it('answers Init with the listener up, while Azure is still out of reach', async () => {
  const { host, fields, emulator, port, log } = await openComponent()
  emulator.removeRoles(emulator.clientId)
  await host.init('input', 'orders', fields)
  expect(await listens(port)).toBe(true)
  await eventually(() => expect(log.text()).toContain('az role assignment create'))
})

it.each([
  { first: 'input', second: 'output' },
  { first: 'output', second: 'input' },
] as const)('sets up both sides, $first first', async ({ first, second }) => {
  const { host, fields, port, emulator } = await openComponent()
  await host.init(first, 'orders', fields)
  await host.init(second, 'orders', fields)
  expect(await listens(port)).toBe(true)
  await host.invoke('orders', { operation: 'create', data: Buffer.from('{"a":1}') })
  expect(emulator.figures().published).toBe(1)
})

it.each([
  { side: 'output', by: 'its fields', leftOut: [...inputFields, 'eventSubscriptionName'] },
  { side: 'input', by: 'its fields', leftOut: outputFields },
  { side: 'output', by: 'direction', more: { direction: 'output' } },
  { side: 'input', by: 'direction', more: { direction: 'input' } },
])('takes a component with its $side side alone, by $by: the other Init does nothing', async (given) => {
  const { side, leftOut = [], more = {} } = given
  const { host, fields, pluggable } = await openComponent()
  const some = { ...without(fields, leftOut), ...more }
  await host.init('input', 'orders', some)
  await host.init('output', 'orders', some)
  const { input, output } = pluggable.health().orders ?? {}
  expect([input !== undefined, output !== undefined]).toEqual([side === 'input', side === 'output'])
})

it('reports every fault of the metadata at once, as INVALID_ARGUMENT', async () => {
  const { host, fields, log } = await openComponent()
  const broken = { ...without(fields, ['tenantId', 'accessKey']), handshakePort: '70000', scope: 'nowhere' }
  const failure = host.init('input', 'orders', broken)
  await expect(failure).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
  for (const field of ['tenantId', 'accessKey', 'handshakePort', 'scope']) {
    await expect(failure).rejects.toThrow(field)
    expect(log.text()).toContain(field)
  }
})

it('asks for a secret that came empty: daprd sends an empty text where its secret store has none', async () => {
  const { host, fields, log } = await openComponent()
  const failure = await host.init('input', 'orders', { ...fields, clientSecret: '' }).catch(String)
  for (const text of [failure, log.text()]) expect(text).toMatch(/clientSecret is required on the input side; write /)
})

it('wants a real port: the host that routes to it could not know a free one', async () => {
  const { host, fields } = await openComponent()
  await expect(host.init('input', 'orders', { ...fields, handshakePort: '0' })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  })
})

it.each([{ sides: ['input', 'output'] }, { sides: ['input'] }, { sides: ['output'] }] as const)(
  'says once what $sides would warn of',
  async ({ sides }) => {
    const { host, fields, log } = await openComponent()
    for (const side of sides) await host.init(side, 'orders', { ...fields, handshakPort: '1', route: '/x' })
    expect(log.lines.filter(({ message }) => message.includes('handshakPort'))).toHaveLength(1)
  },
)

it('does nothing at an Init with the same metadata', async () => {
  const { host, fields, log, connect } = await openComponent()
  await host.init('input', 'orders', fields)
  await connect('cloud.eventrouter').init('input', 'orders', fields)
  expect(log.lines.filter(({ message }) => message.startsWith('listening'))).toHaveLength(1)
})

it('takes Inits that come at once one after the other', async () => {
  const { fields, emulator, log, port } = await openComponent()
  const { endpoints } = emulator
  const instances = createInstances({ loggerOf: () => log, metrics: createMetrics(), endpoints })
  onTestFinished(() => instances.close())
  const orders = instances.obtain('orders')
  await Promise.all(['7', '8', '9'].map((maxConcurrency) => orders.init('input', { ...fields, maxConcurrency })))
  expect(orders.current.input?.push?.maxConcurrency).toBe(9)
  expect(await listens(port)).toBe(true)
})

it('starts the side anew at once on the same port, with whoever reads, even with an event that nobody has acknowledged', async () => {
  const open = await openComponent()
  const { host, fields, emulator, log } = open
  const reading = await beginReading(open)
  await reading.next()
  await host.init('input', 'orders', { ...fields, subjectBeginsWith: '', maxConcurrency: '7' })
  expect(log.lines.filter(({ message }) => message.startsWith('listening'))).toHaveLength(2)
  expect(log.text()).toContain('the input side starts anew')
  reading.acknowledge(await reading.next())
  await emulator.settled()
  // In between there may be tries that find nobody at the port.
  const answers = emulator.records.deliveries.all().map(({ status }) => status)
  expect([answers.at(0), answers.filter((status) => status === 200)]).toEqual([500, [200]])
})

it('publishes by the new metadata at once, though an answer to the last call by the old ones is still due', async () => {
  const { host, fields, emulator } = await openComponent()
  const { topic: old, open } = await startHeldTopic()
  await host.init('output', 'orders', { ...fields, topicEndpoint: old.endpoint })
  const create = () => host.invoke('orders', { operation: 'create', data: Buffer.from('{}') })
  const first = create()
  await old.arrived(1)
  await host.init('output', 'orders', fields)
  await create()
  expect(emulator.figures().published).toBe(1)
  open()
  expect(await first).toMatchObject({ metadata: { count: '1' } })
})

it('leaves a side as it runs when the new metadata are not valid', async () => {
  const { host, fields, port } = await openComponent()
  await host.init('input', 'orders', fields)
  await expect(host.init('input', 'orders', { ...fields, scope: 'nowhere' })).rejects.toThrow('scope')
  expect(await listens(port)).toBe(true)
})

it('serves several components, each by its name', async () => {
  const { host, fields, connect, pluggable } = await openComponent()
  const ports = [await freePort(), await freePort()]
  await host.init('input', 'orders', { ...fields, handshakePort: String(ports[0]) })
  await connect('cloud.eventrouter').init('input', 'payments', { ...fields, handshakePort: String(ports[1]) })
  expect(Object.keys(pluggable.health())).toEqual(['orders', 'payments'])
  for (const port of ports) expect(await listens(port)).toBe(true)
})

it('takes the port from a component that nobody reads any more, as after a renaming', async () => {
  const { host, fields, log, pluggable } = await openComponent()
  await host.init('input', 'orders', fields)
  const reading = await host.read('orders')
  await eventually(() => expect(log.text()).toContain('the host reads events'))
  reading.cancel()
  await eventually(() => expect(log.text()).toContain('the host stopped reading events'))
  await host.init('input', 'shop', fields)
  expect(pluggable.health().orders).toMatchObject({ status: 'unhealthy' })
  expect(pluggable.health().shop?.input).toBeDefined()
  expect(log.text()).toContain('is released')
})

it('leaves the port to a component that somebody reads', async () => {
  const { host, fields, pluggable } = await openComponent()
  await host.init('input', 'orders', fields)
  await host.read('orders')
  await eventually(() => expect(pluggable.health().orders?.input?.reasons.join()).not.toContain('no handler'))
  await expect(host.init('input', 'shop', fields)).rejects.toMatchObject({
    code: status.FAILED_PRECONDITION,
    message: expect.stringContaining('PORT_UNAVAILABLE'),
  })
})

it('leaves the port to a component that daprd has just initialised, and will read when all are', async () => {
  const { host, fields, pluggable } = await openComponent()
  await host.init('input', 'orders', fields)
  await expect(host.init('input', 'shop', fields)).rejects.toMatchObject({ code: status.FAILED_PRECONDITION })
  expect(pluggable.health().orders?.input).toBeDefined()
})

it('refuses one component too many', async () => {
  const { fields, log } = await openComponent()
  const instances = createInstances({ loggerOf: () => log, metrics: createMetrics(), maxInitialized: 2 })
  onTestFinished(() => instances.close())
  // Initialises nothing but the name: the metadata configure no output side.
  const init = (name: string) => instances.init(name, 'output', { ...fields, direction: 'input' })
  await init('orders')
  await init('payments')
  await expect(init('more')).rejects.toMatchObject({ code: 'OVERLOADED' })
  await init('payments')
})

it('keeps its room for components that are initialised, whatever calls come with made-up names', async () => {
  const { host, fields, pluggable, log } = await openComponent()
  await host.init('output', 'orders', fields)
  const first = await host.read('made-up')
  await eventually(() => expect(Object.keys(pluggable.health())).toContain('made-up'))
  const create = (name: string) => host.invoke(name, { operation: 'create', data: Buffer.from('{}') })
  const broken = (name: string) => host.init('input', name, { scope: 'nowhere' })
  const calls = Array.from({ length: 150 }, (_, n) => [create(`made-up-${n}`), broken(`made-up-too-${n}`)])
  const outcomes = await Promise.allSettled(calls.flat())
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']))
  expect(log.lines.filter(({ message }) => message.includes('was not initialised')).length).toBeLessThanOrEqual(33)

  await host.init('output', 'payments', fields)
  for (const name of ['orders', 'payments']) expect(await create(name)).toMatchObject({ metadata: { count: '1' } })
  await first.ended
  const names = Object.keys(pluggable.health())
  expect(names.length).toBeLessThanOrEqual(102)
  const counted = [...(await pluggable.metrics.text()).matchAll(/component="([^"]+)"/g)].map(([, name]) => name)
  expect(new Set(counted)).toEqual(new Set(names))
})

it('takes nothing from a component that nobody reads where the port that is asked for is not its own', async () => {
  const { host, fields, port, log } = await openComponent()
  const other = await listen(createServer(), '::')
  await host.init('input', 'orders', fields)
  const failed = host.init('input', 'shop', { ...fields, handshakePort: String(other) })
  await expect(failed).rejects.toThrow('PORT_UNAVAILABLE')
  expect(await listens(port)).toBe(true)
  expect(log.text()).not.toContain('is released')
})

it('warns when nobody reads for a while, but of no component that could not be set up', async () => {
  const { host, fields, log } = await openComponent({ pluggable: { readWarningMs: 0 } })
  const port = await listen(createServer(), '::')
  const failed = host.init('input', 'failed', { ...fields, handshakePort: String(port) })
  await expect(failed).rejects.toThrow('PORT_UNAVAILABLE')
  await host.init('input', 'orders', fields)
  const warnings = () =>
    log.lines.filter(({ message }) => message.includes('daprd does not read the events of this component'))
  await eventually(() => expect(warnings()).not.toEqual([]))
  expect(warnings()).toHaveLength(1)
})
