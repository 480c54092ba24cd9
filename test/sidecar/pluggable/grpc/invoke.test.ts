import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { createConnection } from 'node:net'
import { status } from '@grpc/grpc-js'
import { expect, it, onTestFinished } from 'vitest'
import { BindingError, bindingErrorCodes } from '../../../../src/core/errors.ts'
import { failureOf, statusByCode } from '../../../../src/sidecar/pluggable/grpc/services.ts'
import { startTopic } from '../../../publisher/scripted-topic.ts'
import { eventually } from '../../../support/eventually.ts'
import { openComponent } from '../open-component.ts'

const json = (value: unknown) => Buffer.from(JSON.stringify(value))

it('publishes, and answers ids and count in the metadata and no data', async () => {
  const { host, fields, emulator } = await openComponent()
  await host.init('output', 'orders', fields)
  const answer = await host.invoke('orders', {
    operation: 'create',
    data: json({ order: 1 }),
    metadata: { id: 'one', type: 'order.placed' },
  })
  expect(answer.metadata).toMatchObject({ ids: '["one"]', count: '1' })
  expect(answer.data).toHaveLength(0)
  expect(emulator.figures().published).toBe(1)
})

it('publishes the bytes of a payload as data, and those that are no text as data_base64', async () => {
  const { host, fields, emulator } = await openComponent()
  await host.init('output', 'orders', fields)
  const bodyOf = async (data: Buffer) => {
    await host.invoke('orders', { operation: 'create', data })
    const requests = emulator.records.requests.filter(({ route, method }) => route === 'topic' && method === 'POST')
    return [requests.at(-1)?.body].flat()[0]
  }
  for (const { sent, data } of [
    { sent: '"a \\"text\\""', data: 'a "text"' },
    { sent: '""', data: '' },
    { sent: 'null', data: null },
    { sent: '17', data: 17 },
    { sent: '-1.5', data: -1.5 },
    { sent: 'true', data: true },
    { sent: 'false', data: false },
    { sent: '12345678901234567890', data: '12345678901234567890' },
    { sent: '1.0', data: '1.0' },
    { sent: 'plain text', data: 'plain text' },
    { sent: '\ufefftext', data: '\ufefftext' },
    { sent: 'true story', data: 'true story' },
    { sent: '"half', data: '"half' },
    { sent: '[1]', data: [1] },
    { sent: '{"a":{"b":null}}', data: { a: { b: null } } },
    { sent: '{half', data: '{half' },
  ])
    expect(await bodyOf(Buffer.from(sent)), sent).toMatchObject({ data })
  expect(await bodyOf(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ data_base64: 'Iv8i' })
})

it('publishes a number within an object as it is written, though JavaScript would round it', async () => {
  const { host, fields } = await openComponent()
  const topic = await startTopic()
  await host.init('output', 'orders', { ...fields, topicEndpoint: topic.endpoint })
  await host.invoke('orders', { operation: 'create', data: Buffer.from('{"n":12345678901234567890}') })
  expect(topic.requests[0]?.body).toContain('{"n":12345678901234567890}')
})

it('offers create, and answers Ping', async () => {
  const { host } = await openComponent()
  expect(await host.operations()).toEqual({ operations: ['create'] })
  expect([await host.ping('input'), await host.ping('output')]).toEqual([{}, {}])
})

it.each<{ name: string; side?: 'input' | 'output'; more?: object; says: RegExp }>([
  { name: 'before Init', says: /NOT_INITIALIZED.*restart daprd/ },
  { name: 'after an Init of the input side alone', side: 'input', says: /NOT_INITIALIZED/ },
  { name: 'of a side that is not configured', side: 'output', more: { direction: 'input' }, says: /accessKey/ },
])('refuses a call $name, and says what it takes', async ({ side, more, says }) => {
  const { host, fields } = await openComponent()
  if (side) await host.init(side, 'orders', { ...fields, ...more })
  await expect(host.invoke('orders', { operation: 'create', data: json({}) })).rejects.toMatchObject({
    code: status.FAILED_PRECONDITION,
    details: expect.stringMatching(says),
  })
})

it.each([
  { name: 'an operation that is none', request: { operation: 'get', data: json({}) }, code: 'UNIMPLEMENTED', says: '' },
  { name: 'no payload', request: { operation: 'create' }, code: 'INVALID_ARGUMENT', says: 'the payload is empty' },
  {
    name: 'an event of more than a megabyte, which still fits in a message',
    request: { operation: 'create', data: json({ text: 'x'.repeat(5_000_000) }) },
    code: 'INVALID_ARGUMENT',
    says: '1048576',
  },
] as const)('refuses $name with $code', async ({ request, code, says }) => {
  const { host, fields } = await openComponent()
  await host.init('output', 'orders', fields)
  const failed = { code: status[code], details: expect.stringContaining(says) }
  await expect(host.invoke('orders', request)).rejects.toMatchObject(failed)
})

it.each([
  { count: 1_000, outcome: 'fulfilled' },
  { count: 1_001, outcome: 'rejected' },
  { count: 50_000, outcome: 'rejected' },
])('bounds the metadata names of a call: $count are $outcome', async ({ count, outcome }) => {
  const { host, fields } = await openComponent()
  await host.init('output', 'orders', fields)
  const metadata = Object.fromEntries(Array.from({ length: count }, (_, n) => [`name-${n}`, 'x']))
  const [result] = await Promise.allSettled([host.invoke('orders', { operation: 'create', data: json({}), metadata })])
  expect(result.status).toBe(outcome)
  if (result.status === 'rejected') {
    expect(result.reason).toMatchObject({
      code: status.INVALID_ARGUMENT,
      message: expect.stringContaining('more than 1000 names'),
    })
  }
})

it('refuses a message of more than 64 MiB', async () => {
  const { host } = await openComponent()
  const request = { operation: 'create', data: Buffer.alloc(65 * 1024 * 1024, 'x') }
  await expect(host.invoke('orders', request)).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED })
})

it('takes back what waits when the caller cancels', async () => {
  const { host, fields, emulator, pluggable } = await openComponent()
  emulator.failNext({ route: 'topic', status: 503, times: Number.POSITIVE_INFINITY })
  await host.init('output', 'orders', fields)
  const cancelled = host.invoke('orders', { operation: 'create', data: json({}) }, (call) =>
    setImmediate(() => call.cancel()),
  )
  await expect(cancelled).rejects.toMatchObject({ code: status.CANCELLED })
  await eventually(async () => expect(await pluggable.metrics.text()).toContain('code="CANCELLED"'))
  emulator.clearFaults()
})

it.each(bindingErrorCodes)('has a gRPC status for %s', (code) => {
  const failure = failureOf(new BindingError(code, { what: 'it failed' }))
  expect(failure).toEqual({ code: status[statusByCode[code]], details: `${code}: it failed` })
  expect(failure.code).not.toBe(status.OK)
})

it.each(Object.entries(Object.groupBy(bindingErrorCodes, (code) => statusByCode[code])))(
  'has a row in docs/errors.md for %s',
  (name, codes = []) => {
    const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8')
    expect(page).toContain(`\n| ${name} | ${codes.map((code) => `\`${code}\``).join(', ')} |\n`)
  },
)

it('tells nothing of an unexpected error', () => {
  expect(failureOf(new Error('key=secret'))).toMatchObject({ code: status.INTERNAL })
  expect(failureOf(new Error('key=secret')).details).not.toContain('secret')
})

it('makes a text of any length and content fit into a header', () => {
  const { details } = failureOf(new BindingError('PAYLOAD_INVALID', { what: `\ud800${'é'.repeat(100_000)}` }))
  expect(encodeURI(details).length).toBeLessThan(32_000)
})

it('takes 1,024 calls of a connection at once, and answers those that its peer kept waiting', async () => {
  const { host, fields, pluggable } = await openComponent()
  const session = connect('http://localhost', { createConnection: () => createConnection(pluggable.sockets[0] ?? '') })
  onTestFinished(() => session.destroy())
  const [settings] = await once(session, 'remoteSettings')
  expect(settings).toMatchObject({ maxConcurrentStreams: 1_024 })

  const { promise: hold, resolve: release } = Promise.withResolvers<void>()
  const topic = await startTopic(() => ({ hold }))
  await host.init('output', 'orders', { ...fields, topicEndpoint: topic.endpoint })
  const create = (n: number) => host.invoke('orders', { operation: 'create', data: json({ n }) })
  const calls = Promise.all(Array.from({ length: 1_100 }, (_, n) => create(n)))
  await topic.arrived(1)
  release()
  expect((await calls).flatMap(({ metadata }) => metadata.count)).toEqual(Array(1_100).fill('1'))
})
