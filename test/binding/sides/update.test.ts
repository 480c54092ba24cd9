import { AsyncLocalStorage } from 'node:async_hooks'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Binding, parseComponents } from '../../../src/index.ts'
import { type Answer, createGate, startTopic } from '../../publisher/scripted-topic.ts'
import { captureLog } from '../../support/captured-log.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { listen } from '../../support/listen.ts'
import { openPull, order } from '../../support/open-pull.ts'
import {
  type Fields,
  inputFields,
  openWorld,
  outputFields,
  outputOnly,
  type World,
  without,
} from '../../support/open-world.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { refusal } from '../../support/refusal.ts'

/** What the log says of the sides that an update changes. */
const changesOf = ({ log }: Pick<World, 'log'>) =>
  log.lines.flatMap(({ message }) => (/^the \w+ side (starts|ends)/.test(message) ? [message] : []))

const listenings = ({ log }: World) => log.lines.filter(({ message }) => message.startsWith('listening')).length

const deliveryToken = 'a-token-that-is-long-enough'

/** Holds what it is called for until it is released. */
function createHold() {
  const [received, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    received: received.promise,
    release: () => released.resolve(),
    async hold() {
      received.resolve()
      await released.promise
    },
  }
}

it.each<[what: string, changes: Fields, told: readonly string[]]>([
  ['the same metadata', {}, []],
  [
    'the same values in other words',
    { handlerTimeout: '25000ms', deliveryMode: 'PUSH', topicSchema: 'auto', labels: '' },
    [],
  ],
  ['a field that nobody knows', { route: '/elsewhere' }, []],
  ['a secret of the output side', { accessKey: 'b3RoZXI=' }, ['the output side starts anew']],
  ['a secret of the input side', { deliveryToken }, ['the input side starts anew']],
  [
    'fields of both sides',
    { publishTimeout: '9s', maxConcurrency: '7' },
    ['the output side starts anew', 'the input side starts anew'],
  ],
])('starts the sides anew whose metadata differ, and no other: %s', async (_what, changes, told) => {
  const world = await openWorld()
  await world.init()
  const before = world.binding.address()
  await world.update(changes)
  expect(changesOf(world)).toEqual(told)
  expect(world.binding.address()).toEqual(before)
  expect(listenings(world)).toBe(told.join().includes('input') ? 2 : 1)
  expect(world.log.text()).not.toMatch(/a-token|b3RoZXI/)
  if (!('accessKey' in changes)) await world.roundTrip()
})

/** Stands for a port that somebody has. */
const taken = 'taken'

it.each<{
  what: string
  before: () => Record<string, unknown>
  change: (given: Record<string, unknown>) => unknown
}>([
  {
    what: 'a record that was changed in place',
    before: () => ({}),
    change: (given) => Object.assign(given, { maxConcurrency: '7' }),
  },
  {
    what: "the component's name",
    before: () => ({ eventSubscriptionName: undefined }),
    change: (given) => ({ name: 'renamed', properties: given }),
  },
])('starts the input side anew for $what', async ({ before, change }) => {
  const world = await openWorld()
  const given = Object.fromEntries(
    Object.entries({ ...world.fields, ...before() }).filter(([, value]) => value !== undefined),
  )
  await world.binding.init(given)
  await world.binding.update(change(given))
  expect(changesOf(world)).toEqual(['the input side starts anew'])
})

it.each<[what: string, code: string, listened: number, changes: Fields]>([
  ['metadata that are not valid', 'METADATA_INVALID', 1, { scope: 'nowhere', accessKey: 'b' }],
  ['a plugin that fails', 'PLUGIN_FAILED', 1, {}],
  ['a port that somebody has', 'PORT_UNAVAILABLE', 2, { handshakePort: taken }],
  ['a credential that is not there', 'CREDENTIALS_REJECTED', 3, { azureCredential: 'workloadIdentity', deliveryToken }],
])('goes on as before where the new metadata do not do: %s', async (_what, code, listened, changes) => {
  let servers = 0
  const world = await openWorld({
    binding: {
      fastify() {
        servers += 1
        if (code === 'PLUGIN_FAILED' && servers === 2) throw new Error('no')
      },
    },
  })
  await world.init()
  const before = world.binding.address()
  const port = changes.handshakePort === taken && { handshakePort: String(await listen(createServer(), '::')) }
  const update = world.update({ maxConcurrency: '7', publishTimeout: '9s', ...changes, ...port })
  expect(await refusal(update)).toMatchObject({ code })
  expect([world.binding.address(), listenings(world)]).toEqual([before, listened])
  await world.roundTrip()
  // What failed is tried anew.
  await world.update({ maxConcurrency: '8' })
  await world.roundTrip()
})

it('gives handlers no asynchronous context of who calls init or update', async () => {
  const store = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const world = await openWorld({ binding: { onEvent: () => void seen.push(store.getStore()) } })
  await store.run('of who calls init', () => world.init())
  await world.roundTrip()
  await store.run('of who calls update', () => world.update({ maxConcurrency: '7' }))
  await world.roundTrip()
  expect(seen).toEqual([undefined, undefined])
})

it('is unhealthy, and says so, where the former listener cannot come back either, until an update opens one', async () => {
  let servers = 0
  const world = await openWorld({
    binding: {
      fastify() {
        servers += 1
        if (servers === 3) throw new Error('no')
      },
    },
  })
  await world.init()
  const handshakePort = String(await listen(createServer(), '::'))
  expect(await refusal(world.update({ handshakePort }))).toMatchObject({ code: 'PORT_UNAVAILABLE' })
  expect(world.log.text()).toContain('the former input side could not be opened again: PLUGIN_FAILED')
  expect(world.binding.address()).toBeUndefined()
  expect(world.binding.health().input).toMatchObject({ status: 'unhealthy', ready: false })
  await world.binding.invoke('create', {})
  await world.update()
  await world.roundTrip()
})

it.each<{ topic: string; first?: Answer }>([
  { topic: 'is slow' },
  { topic: 'throttles', first: { status: 429, headers: { 'retry-after': '15' } } },
])(
  'ends calls under way on the former output side, though its topic $topic, and takes new ones on the other',
  async ({ first }) => {
    const gate = createGate()
    const topic = await startTopic(({ index }) => (index > 0 ? { status: 200 } : (first ?? gate)))
    const log = captureLog()
    const binding = new Binding({ logger: log })
    onTestFinished(() => binding.close())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const fields = { topicEndpoint: topic.endpoint, accessKey: 'Zm9ybWVy' }
    await binding.init(fields)
    const create = async (id: string) => (await binding.invoke('create', {}, { metadata: { id } })).ids
    const calls = [create('under way'), create('queued')]
    await topic.arrived(1)
    while (first && !log.text().includes('sending it again')) await new Promise(setImmediate)
    await binding.update({ ...fields, accessKey: 'b3RoZXI=' })
    expect(await create('new')).toEqual(['new'])
    // Longer than a close waits.
    vi.advanceTimersByTime(20_000)
    vi.useRealTimers()
    gate.open()
    expect(await Promise.all(calls)).toEqual([['under way'], ['queued']])
    const taken = topic.requests.filter(({ index }) => index > 0 || !first)
    const keys = taken.flatMap(({ events, headers }) => events.map(({ id }) => [id, headers['aeg-sas-key']]))
    expect(Object.fromEntries(keys)).toEqual({ 'under way': 'Zm9ybWVy', queued: 'Zm9ybWVy', new: 'b3RoZXI=' })
    expect(keys).toHaveLength(3)
  },
)

it('hands new deliveries to the next side at once, and the handlers of the former one end, publish and answer behind it', async () => {
  const { received, release, hold } = createHold()
  const world = await openWorld({
    binding: {
      async onEvent({ cloudEvent }) {
        if (cloudEvent.id !== 'held') return
        await hold()
        await world.binding.invoke('create', {}, { metadata: { id: 'from the handler' } })
      },
    },
  })
  await world.init()
  await world.binding.invoke('create', {}, { metadata: { id: 'held' } })
  await received
  await world.update({ maxConcurrency: '7', publishTimeout: '9s' })
  for (const id of ['1', '2', '3']) await world.binding.invoke('create', {}, { metadata: { id } })
  await eventually(() => expect(world.handled.map(({ cloudEvent }) => cloudEvent.id).sort()).toEqual(['1', '2', '3']))
  release()
  await world.emulator.settled()
  expect(world.handled.map(({ cloudEvent }) => cloudEvent.id).slice(3)).toEqual(['held', 'from the handler'])
  expect(world.emulator.records.deliveries.filter(({ status }) => status !== 200)).toEqual([])
})

it('runs the hooks onListen, preClose and onClose of a host for each server, and upgrades work on each', async () => {
  const ran: string[] = []
  const world = await openWorld({
    binding: {
      fastify(app) {
        const server = ran.filter((line) => line.startsWith('made')).length + 1
        ran.push(`made ${server}`)
        app.addHook('onListen', async () => void ran.push(`onListen ${server}`))
        app.addHook('preClose', async () => void ran.push(`preClose ${server}`))
        app.addHook('onClose', async () => void ran.push(`onClose ${server}`))
        app.server.on('upgrade', (_request, socket) => {
          socket.end(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: server-${server}\r\n\r\n`)
        })
      },
    },
  })
  const upgrade = () =>
    new Promise<string | undefined>((resolve, reject) => {
      const { port } = world.binding.address() ?? {}
      const headers = { connection: 'upgrade', upgrade: 'test' }
      const request = get({ host: '127.0.0.1', port, path: '/', headers }, ({ statusCode }) => resolve(`${statusCode}`))
      request.on('upgrade', ({ headers: answered }, socket) => {
        socket.destroy()
        resolve(answered.upgrade)
      })
      request.on('error', reject)
    })
  await world.init({ handshakePort: String(await freePort()) })
  const port = { handshakePort: String(world.binding.address()?.port) }
  expect(await upgrade()).toBe('server-1')
  await world.update({ ...port, maxConcurrency: '7' })
  expect(await upgrade()).toBe('server-2')
  await eventually(() => expect(ran).toContain('onClose 1'))
  await world.update({ ...port, maxConcurrency: '8' })
  expect(await upgrade()).toBe('server-3')
  await world.binding.close()
  for (const server of [1, 2, 3]) {
    const ofServer = ran.filter((line) => line.endsWith(` ${server}`)).map((line) => line.split(' ')[0])
    expect(ofServer).toEqual(['made', 'onListen', 'preClose', 'onClose'])
  }
})

it('opens and closes sides, push and pull', async () => {
  const world = await openWorld({
    emulator: { namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }] },
  })
  const { binding, emulator, handled } = world
  const sides = () => {
    const { input, output } = binding.health()
    return [input && (input.pull ? 'pull' : 'push'), output && 'output']
  }
  await world.init(outputOnly)
  expect(sides()).toEqual([undefined, 'output'])
  await world.update()
  await world.roundTrip()
  expect(sides()).toEqual(['push', 'output'])
  await world.update(without(...outputFields))
  expect(sides()).toEqual(['push', undefined])
  const taken = String(await listen(createServer(), '::'))
  expect(await refusal(world.update({ handshakePort: taken }))).toMatchObject({ code: 'PORT_UNAVAILABLE' })
  expect(sides()).toEqual(['push', undefined])
  const port = binding.address()?.port

  const { id: namespaceTopic, namespaceEndpoint, key, endpoint: topicEndpoint } = emulator.namespaceTopic('orders')
  const none = without(...inputFields, 'eventSubscriptionName')
  const pull = { deliveryMode: 'pull', namespaceTopic, namespaceEndpoint, namespaceKey: key }
  await world.update({ ...none, ...pull, eventSubscriptionName: 'app', topicEndpoint, accessKey: key })
  expect([binding.address(), ...sides()]).toEqual([undefined, 'pull', 'output'])
  await listen(createServer(), '::')
    .then(() => fetch(`http://127.0.0.1:${port}`))
    .then(
      () => expect.unreachable('the port is free'),
      () => {},
    )
  await world.roundTrip()
  await world.update()
  await world.roundTrip()
  expect(sides()).toEqual(['push', 'output'])
  expect(handled).toHaveLength(3)
})

it('opens the new receiver of pull at once: the former one ends when its handlers do', async () => {
  const { received, release, hold } = createHold()
  const ids: string[] = []
  const { binding, emulator, publish, byKey } = await openPull({
    binding: {
      async onEvent({ cloudEvent: { id } }) {
        if (id === 'held') await hold()
        ids.push(id)
      },
    },
  })
  await binding.init({ ...byKey, handlerTimeout: '1h' })
  await publish(order('held'))
  await received
  await binding.update({ ...byKey, handlerTimeout: '50m' })
  await publish(order('next'))
  await eventually(() => expect(ids).toEqual(['next']))
  const closed = binding.close()
  release()
  await closed
  await emulator.settled()
  expect(ids).toEqual(['next', 'held'])
})

it.each<{ when: string; code: string; update: (world: World) => Promise<unknown> }>([
  { when: 'before init', code: 'NOT_INITIALIZED', update: (world) => world.update() },
  {
    when: 'during an init that fails',
    code: 'NOT_INITIALIZED',
    update: (world) => Promise.all([world.init({ clientSecret: 'wrong' }).catch(() => {}), world.update()]),
  },
  {
    when: 'after close',
    code: 'CLOSED',
    async update(world) {
      await world.init()
      await world.binding.close()
      await world.update()
    },
  },
  {
    when: 'with close right after it',
    code: 'CLOSED',
    async update(world) {
      await world.init()
      const [updated] = await Promise.allSettled([world.update({ maxConcurrency: '7' }), world.binding.close()])
      if (updated.status === 'rejected') throw updated.reason
    },
  },
  {
    when: 'with a signal that aborts',
    code: 'ABORTED',
    async update(world) {
      await world.init()
      const aborting = new AbortController()
      const update = world.update({ maxConcurrency: '7', publishTimeout: '9s' }, { signal: aborting.signal })
      aborting.abort()
      await update.finally(() => world.roundTrip())
    },
  },
])('is refused $when, with $code', async ({ code, update }) => {
  const world = await openWorld()
  expect(await refusal(update(world))).toMatchObject({ code })
})

it.each([
  { how: {}, side: undefined },
  { how: { sides: ['input'] as const }, side: { status: 'unhealthy', ready: false } },
])('ends by close($how) while it waits for a port, and opens nothing', async ({ how, side }) => {
  const { received, release, hold } = createHold()
  const world = await openWorld({ binding: { onEvent: hold } })
  await world.init()
  await world.binding.invoke('create', {})
  await received
  const handshakePort = String(await listen(createServer(), '::'))
  const updated = refusal(world.update({ handshakePort }))
  await eventually(() => expect(world.binding.address()).toBeUndefined())
  const closed = world.binding.close(how)
  expect(await updated).toMatchObject({ code: 'CLOSED' })
  release()
  await closed
  expect([listenings(world), world.handled.length]).toEqual([1, 1])
  const { input } = world.binding.health()
  if (side) expect(input).toMatchObject(side)
  else expect(input).toBeUndefined()
  expect(world.log.lines.filter(({ level }) => level === 'error')).toEqual([])
})

it('hears its signal while it waits for a port, and the former side runs again', async () => {
  const world = await openWorld()
  await world.init()
  const aborting = new AbortController()
  const handshakePort = String(await listen(createServer(), '::'))
  const updated = refusal(world.update({ handshakePort }, { signal: aborting.signal }))
  await eventually(() => expect(world.binding.address()).toBeUndefined())
  aborting.abort()
  expect(await updated).toMatchObject({ code: 'ABORTED' })
  await world.roundTrip()
})

it('hears its signal while it waits for an update before it, which goes on', async () => {
  const world = await openWorld()
  await world.init()
  const aborting = new AbortController()
  const handshakePort = String(await listen(createServer(), '::'))
  const ended: string[] = []
  const before = refusal(world.update({ handshakePort })).finally(() => ended.push('the update before'))
  const waiting = refusal(world.update({ maxConcurrency: '7' }, { signal: aborting.signal }))
  await eventually(() => expect(world.binding.address()).toBeUndefined())
  aborting.abort()
  expect(await waiting).toMatchObject({ code: 'ABORTED' })
  expect(await refusal(world.update({}, { signal: aborting.signal }))).toMatchObject({ code: 'ABORTED' })
  expect(ended).toEqual([])
  expect(await before).toMatchObject({ code: 'PORT_UNAVAILABLE' })
  await world.roundTrip()
})

it('opens the former input side again where an update is ended by close of the output side', async () => {
  const world = await openWorld()
  await world.init()
  const handshakePort = String(await listen(createServer(), '::'))
  const updated = refusal(world.update({ handshakePort, publishTimeout: '9s' }))
  await eventually(() => expect(world.binding.address()).toBeUndefined())
  await world.binding.close({ sides: ['output'] })
  expect(await updated).toMatchObject({ code: 'CLOSED', fix: expect.not.stringContaining('new Binding') })
  expect(world.binding.health()).toMatchObject({ input: { ready: true }, output: { status: 'unhealthy' } })
  await world.update()
  await world.roundTrip()
})

it('follows an init under way, and other updates in the order of the calls', async () => {
  const world = await openWorld()
  const started = world.init()
  const updates = ['7', 'nothing', '9'].map((maxConcurrency) => world.update({ maxConcurrency }))
  const outcomes = await Promise.allSettled([started, ...updates])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(listenings(world)).toBe(3)
  await world.roundTrip()
})

it('leaves a port to another component whose call comes at the same time, in any order, though a handler runs', async () => {
  const { received, release, hold } = createHold()
  const one = await openWorld({ binding: { onEvent: hold } })
  const [other, third] = [await openWorld(), await openWorld()]
  const [a, b] = [String(await freePort()), String(await freePort())]
  await Promise.all([one.init({ handshakePort: a }), other.init({ handshakePort: b })])
  const { ids } = await one.binding.invoke('create', {})
  await received
  await Promise.all([one.update({ handshakePort: b }), other.update({ handshakePort: a })])
  expect([one, other].map(({ binding }) => String(binding.address()?.port))).toEqual([b, a])
  await other.roundTrip()
  const over = Promise.all([one.binding.close(), third.init({ handshakePort: b })])
  release()
  await over
  await third.roundTrip()
  expect(one.handled.map(({ cloudEvent }) => cloudEvent.id)).toEqual(ids)
})

// Of 127.0.0.0/8 macOS has 127.0.0.1 alone.
it.skipIf(process.platform === 'darwin')('takes the same port of two addresses for two ports', async () => {
  const [one, other] = [await openWorld(), await openWorld()]
  const [handshakePort, elsewhere] = [String(await freePort()), String(await freePort())]
  const first = { listenAddress: '127.0.0.1', handshakePort }
  const second = { listenAddress: '127.0.0.2', handshakePort }
  other.emulator.setIngress(({ pathname }) => {
    const { address, port } = other.binding.address() ?? {}
    return `http://${address}:${port}${pathname}`
  })
  await Promise.all([one.init(first), other.init(second)])
  await Promise.all([one.update({ ...first, maxConcurrency: '7' }), other.update({ ...second, maxConcurrency: '7' })])
  await Promise.all([one.roundTrip(), other.roundTrip()])
  await Promise.all([one.update({ ...first, handshakePort: elsewhere }), other.update(first)])
  await Promise.all([one.roundTrip(), other.roundTrip()])
})

it('keeps the secrets of metadata that came later out of the log', async () => {
  const accessKey = Buffer.from('the key that came later').toString('base64')
  const world = await openWorld({
    binding: {
      onEvent() {
        throw new Error(`it was ${accessKey}`)
      },
    },
  })
  const entries = Object.entries(world.fields).map(([name, value]) => `    - { name: ${name}, value: "${value}" }`)
  const head = 'apiVersion: dapr.io/v1alpha1\nkind: Component\nmetadata: { name: orders }\nspec:\n'
  const componentWith = (key: string) => {
    const lines = entries.filter((line) => !line.includes('name: accessKey'))
    const spec = ['  type: bindings.azure.eventgrid', '  metadata:', `    - { name: accessKey, value: "${key}" }`]
    return parseComponents(`${head}${[...spec, ...lines].join('\n')}`)[0]
  }
  await world.binding.init(componentWith(world.emulator.topic('orders').key))
  await world.binding.invoke('create', {})
  await world.binding.update(componentWith(accessKey))
  await eventually(() => expect(world.log.text()).toContain('it was (redacted)'))
  expect(world.log.text()).not.toContain(accessKey)
})

it('lets go of the input sides that were replaced', async () => {
  quickenTime()
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const servers: WeakRef<object>[] = []
  const world = await openWorld({ binding: { fastify: (app) => void servers.push(new WeakRef(app)) } })
  await world.init()
  for (const maxConcurrency of ['7', '8', '9', '10']) await world.update({ maxConcurrency })
  await eventually(() => {
    collect()
    // The one that was replaced last may be in use by what has not ended.
    expect(servers.map((one) => one.deref() !== undefined).slice(0, 3)).toEqual([false, false, false])
  })
  expect(servers).toHaveLength(5)
})

it('closes one side alone, which an update opens again', async () => {
  const world = await openWorld()
  await world.init({}, { sides: ['output'] })
  expect(world.binding.health().input).toBeUndefined()
  await world.update({}, { sides: ['input'] })
  await world.roundTrip()
  await world.binding.close({ sides: ['input'] })
  expect(world.binding.address()).toBeUndefined()
  expect(world.binding.health()).toMatchObject({ status: 'unhealthy', input: { status: 'unhealthy', ready: false } })
  await world.binding.invoke('create', {})
  await world.binding.close({ sides: ['output'] })
  expect(world.binding.health().output).toMatchObject({ status: 'unhealthy' })
  expect(await refusal(world.binding.invoke('create', {}))).toMatchObject({
    code: 'CLOSED',
    what: expect.stringContaining('output side is closed'),
    fix: expect.stringContaining('update'),
  })
  await world.update()
  await world.emulator.settled()
  await world.roundTrip()
  expect(world.handled).toHaveLength(3)
})
