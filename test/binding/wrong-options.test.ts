import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Binding, BindingError, type BindingOptions } from '../../src/index.ts'
import { captureLog } from '../support/captured-log.ts'
import { queue } from '../support/open-pull.ts'
import { startEmulator } from '../support/start-emulator.ts'

/** What a program in JavaScript may write, which the compiler would refuse. */
const untyped = (value: unknown): object => Object(value)
const handler = () => {}

describe('new Binding', () => {
  it.each<[name: string, options: unknown, said: string]>([
    ['a handler that is none', { onEvent: 'x' }, 'onEvent must be a function'],
    ['a generator function', { onEvent: function* () {} }, 'onEvent must not be a generator'],
    ['an async generator', { onEvent: async function* () {} }, 'onEvent must not be a generator'],
    ['a plugin that is none', { fastify: {} }, 'fastify must be a function'],
    ['a slip of a name', { onEvents: handler }, 'no "onEvents"; did you mean onEvent?'],
    ['another name', { retries: 3 }, 'there are onEvent, onError, logger, credential, endpoints'],
    ['a logger that lacks a method', { logger: { info() {} } }, 'logger must be an object with a'],
    ['a credential that is none', { credential: 'secret' }, 'credential must be an object with a'],
    ['endpoints that are none', { endpoints: 'https://x' }, 'endpoints must be an object'],
    ['a slip in endpoints', { endpoints: { authority: 'x' } }, 'no "authority"'],
    ['an endpoint that is no text', { endpoints: { authorityHost: 5 } }, 'authorityHost must be'],
    ['a path for certificates', { endpoints: { ca: '/etc/ca.pem' } }, 'ca must be certif'],
    ['a function for options', [handler], 'the options of Binding must be an object'],
  ])('refuses %s with a TypeError', (_name, options, said) => {
    expect(() => new Binding(untyped(options))).toThrow(TypeError)
    expect(() => new Binding(untyped(options))).toThrow(said)
  })

  it.each([
    ['what is none', 'x', 'the handler must be a function'],
    ['a generator function', function* () {}, 'must not be a generator function: calling it handles no event'],
  ])('has a read that refuses for a handler %s', (_name, handler, said) => {
    const read = () => Reflect.apply(Binding.prototype.read, new Binding(), [handler])
    expect(read).toThrow(TypeError)
    expect(read).toThrow(said)
  })

  it('takes console for a logger, and undefined for what is left out', () => {
    const nothing = { onEvent: undefined, credential: undefined, endpoints: undefined, fastify: undefined }
    expect(new Binding(untyped({ logger: console, ...nothing })).health().status).toBe('unhealthy')
  })
})

describe('init', () => {
  it.each([
    { name: 'another word', options: { subscription: 'never' }, said: `subscription must be 'wait' or 'background'` },
    { name: 'a slip of a name', options: { subscribtion: 'wait' }, said: 'did you mean subscription?' },
    { name: 'a signal that is none', options: { signal: 1_000 }, said: 'signal must be an AbortSignal' },
  ])('refuses $name with a TypeError, and may be called again', async ({ options, said }) => {
    const binding = new Binding()
    onTestFinished(() => binding.close())
    await expect(binding.init({}, untyped(options))).rejects.toThrow(new RegExp(said.replace('?', '\\?')))
    await expect(binding.init({}, untyped(options))).rejects.toBeInstanceOf(TypeError)
    await expect(binding.init({})).rejects.toMatchObject({ code: 'METADATA_INVALID' })
  })
})

const outputByKey = { topicEndpoint: 'http://127.0.0.1:1/', accessKey: 'key' }
const outputByEntra = {
  ...{ topicEndpoint: 'https://127.0.0.1:1/', topicAuthentication: 'entra', azureCredential: 'managedIdentity' },
  direction: 'output',
}
const credential = { getToken: async () => null }
const noListener = 'the option fastify does nothing: this component has no listener'
const keysAlone = 'the option credential does nothing: this component goes by keys alone'

it.each<[name: string, options: BindingOptions, fields: Record<string, string>, told: readonly string[]]>([
  ['neither', {}, outputByKey, []],
  ['fastify without a listener', { fastify: () => {} }, outputByKey, [noListener]],
  ['a credential beside a key', { credential }, outputByKey, [keysAlone]],
  ['both', { fastify: () => {}, credential }, outputByKey, [noListener, keysAlone]],
  ['a credential that publishes', { credential }, outputByEntra, []],
])('warns once of options that do nothing: %s', async (_name, options, fields, told) => {
  const logger = captureLog()
  const binding = new Binding({ ...options, logger })
  onTestFinished(() => binding.close())
  await binding.init(fields)
  await binding.update({ ...fields, publishTimeout: '20s' })
  const warnings = logger.lines.filter(({ message }) => message.startsWith('the option'))
  expect(warnings.map(({ level, message }) => `${level} ${message}`)).toEqual(told.map((line) => `warn ${line}`))
})

it.each([
  { name: 'a controller for its signal', options: { signal: new AbortController() }, said: 'must be an AbortSignal' },
  { name: 'a slip of a name', options: { metdata: {} }, said: 'did you mean metadata?' },
  { name: 'metadata that are none', options: { metadata: ['type'] }, said: 'metadata must be an object' },
  { name: 'null', options: null, said: 'the options of invoke must be an object' },
])('invoke refuses $name with a TypeError', async ({ options, said }) => {
  const binding = new Binding()
  onTestFinished(() => binding.close())
  await binding.init({ topicEndpoint: 'http://127.0.0.1:1/', accessKey: 'key' })
  // In TypeScript the compiler says so.
  const refused = Reflect.apply(binding.invoke, binding, ['create', {}, options])
  await expect(refused).rejects.toThrow(said)
  await expect(refused).rejects.toBeInstanceOf(TypeError)
})

it.each([{ operation: 'create', data: {} }, undefined, 17, ['create']])(
  'invoke shows the right call where it is given %j for an operation',
  async (operation) => {
    const binding = new Binding()
    const refused = Reflect.apply(binding.invoke, binding, [operation])
    await expect(refused).rejects.toThrow("write invoke('create', payload, { metadata })")
    await expect(refused).rejects.toBeInstanceOf(TypeError)
  },
)

it.each([{ endpoints: {} }, undefined])(
  'connect of an emulator refuses a binding that would ask Azure: %j',
  async (options) => {
    const emulator = await startEmulator()
    const binding = new Binding(options)
    onTestFinished(() => binding.close())
    for (const other of [undefined, null, {}, 'orders', Binding, Promise.resolve(binding)]) {
      const connect: unknown = Reflect.apply(emulator.connect, emulator, [other])
      await expect(connect).rejects.toThrow('connect takes a Binding: write emulator.connect(binding, { topic })')
    }
    await expect(emulator.connect(binding)).rejects.toThrow('new Binding({ endpoints: emulator.endpoints })')
    expect(binding.address()).toBeUndefined()
  },
)

it('connect of an emulator refuses a binding that was made for another one, and says which', async () => {
  const [emulator, other] = [await startEmulator(), await startEmulator()]
  const binding = new Binding({ endpoints: other.endpoints })
  onTestFinished(() => binding.close())
  const refused = emulator.connect(binding)
  await expect(refused).rejects.toBeInstanceOf(TypeError)
  await expect(refused).rejects.toThrow(
    `made for another emulator: it looks for Azure at ${other.endpoints.resourceManager}, and this one is at ${emulator.endpoints.resourceManager}`,
  )
  expect(emulator.records.requests.length + other.records.requests.length).toBe(0)
  const resourceManager = emulator.endpoints.resourceManager.replace('127.0.0.1', 'localhost')
  const named = new Binding({ endpoints: { ...emulator.endpoints, resourceManager } })
  onTestFinished(() => named.close())
  expect((await emulator.connect(named)).name).toBe('orders')
})

it('connect refuses a second binding for the event subscription of one that listens, or is about to', async () => {
  const emulator = await startEmulator({ topics: [{ name: 'orders' }, { name: 'parcels' }] })
  const make = () => {
    const binding = new Binding({ endpoints: emulator.endpoints, onEvent: handler })
    onTestFinished(() => binding.close())
    return binding
  }
  const first = make()
  const connecting = emulator.connect(first)
  for (const when of ['meanwhile', 'after']) {
    for (const options of [{}, { topic: 'parcels', name: 'ORDERS' }]) {
      const refused = emulator.connect(make(), options)
      await expect(refused, when).rejects.toBeInstanceOf(RangeError)
      await expect(refused).rejects.toThrow(/another binding is connected as orders, .*: close it first, or/i)
    }
    await connecting
  }
  await first.invoke('create', { order: 1 })
  await emulator.settled()
  expect(first.health().input?.answered).toEqual({ 200: 1 })
  await emulator.connect(make(), { name: 'orders2' })
  await first.close()
  expect((await emulator.connect(make())).name).toBe('orders')
})

it.each<{ name: string; options: BindingOptions; pick: readonly string[]; warns: readonly string[] }>([
  { name: 'output alone', options: { fastify: () => {} }, pick: ['topicEndpoint', 'accessKey'], warns: ['fastify'] },
  { name: 'pull', options: { fastify: () => {} }, pick: [], warns: ['fastify'] },
  {
    name: 'keys alone',
    options: { credential: { getToken: async () => null } },
    pick: ['topicEndpoint', 'accessKey'],
    warns: ['credential'],
  },
])('an option that does nothing for $name is a warning, once', async ({ options, pick, warns }) => {
  const emulator = await startEmulator({ namespaces: queue })
  const log = captureLog()
  const binding = new Binding({ endpoints: emulator.endpoints, logger: log, onEvent: handler, ...options })
  onTestFinished(() => binding.close())
  const { endpoint: topicEndpoint, key: accessKey } = emulator.topic()
  const topic = emulator.namespaceTopic()
  const byKey = {
    ...{ deliveryMode: 'pull', namespaceTopic: topic.id, namespaceEndpoint: topic.namespaceEndpoint },
    ...{ namespaceKey: topic.key, eventSubscriptionName: 'app' },
  }
  const properties = pick.length > 0 ? { topicEndpoint, accessKey } : byKey
  await binding.init(properties)
  await binding.update(properties)
  expect(log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual(
    warns.map((option) => expect.stringMatching(`^the option ${option} does nothing: `)),
  )
})

it('gives the logger no second argument for a line without fields: console would write undefined', async () => {
  const emulator = await startEmulator()
  const lines: unknown[][] = []
  const write = (...line: unknown[]) => void lines.push(line)
  const logger = { debug: write, info: write, warn: write, error: write }
  for (const _start of ['first', 'second']) {
    const binding = new Binding({ endpoints: emulator.endpoints, logger, onEvent: handler })
    onTestFinished(() => binding.close())
    await emulator.connect(binding)
    await binding.close()
  }
  // The first start writes it and reads it again; the second finds it.
  expect(lines.filter(([line]) => String(line).includes('as the metadata asks'))).toEqual([
    [expect.stringMatching(/ is now, read again, as the metadata asks$/)],
    [expect.stringMatching(/ is as the metadata asks; nothing is written$/)],
  ])
  expect(lines.filter((line) => line.length > 1 && line[1] === undefined)).toEqual([])
})

it('shows a fix only where there is one', () => {
  expect(inspect(new BindingError('TIMEOUT', { what: 'w' }))).not.toContain('fix')
  expect(new BindingError('TIMEOUT', { what: 'w', fix: 'do it' }).fix).toBe('do it')
})
