import { AsyncLocalStorage } from 'node:async_hooks'
import { text as readText } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type EventGridEmulator, ManualClock } from '../../packages/emulator/src/index.ts'
import { Binding } from '../../src/index.ts'
import { openPull, order } from '../support/open-pull.ts'
import { bringsOnce, openSide, type Script, scriptNamespace, settles, startNamespace } from './scripted-namespace.ts'

it('shows no key that an answer repeats', async () => {
  const { namespaceEndpoint, binding: options } = await startNamespace(({ headers: { authorization } }, response) =>
    response.writeHead(401).end(JSON.stringify({ error: { message: `no entry for ${authorization}` } })),
  )
  const { binding, log, byKey } = await openPull({ binding: options })
  await binding.init({ ...byKey, namespaceEndpoint }, { subscription: 'background' })
  while (!log.text().includes('events cannot be received')) await new Promise((settle) => setImmediate(settle))
  expect(log.text()).toContain('no entry for SharedAccessKey (redacted)')
  expect(JSON.stringify([binding.health(), log.text()])).not.toContain(byKey.namespaceKey)
})

it('shows no key that the reason of a lost settlement repeats', async () => {
  const { side, close, world, finish, log } = await holdEvent(({ operation, lockTokens, authorization }) =>
    operation === 'acknowledge' ? settles(lockTokens, { one: authorization }) : null,
  )
  finish()
  await expect.poll(() => side.health().pull?.failedSettlements).toBe(1)
  await close()
  expect(log.text()).toContain('could not be settled (acknowledge)')
  expect(log.text()).not.toContain(world.properties.namespaceKey)
})

it('gives each event an asynchronous context of its own', async () => {
  const store = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const { emulator, binding, publish, byKey } = await openPull({
    binding: {
      onEvent({ cloudEvent }) {
        seen.push(store.getStore())
        store.enterWith(cloudEvent.id)
      },
    },
  })
  await publish(order('one'), order('two'))
  await store.run('of who calls init', () => binding.init(byKey))
  await emulator.settled()
  await publish(order('three'))
  await emulator.settled()
  expect(seen).toEqual([undefined, undefined, undefined])
})

it('leaves no timer behind when it closes, though a handler failed in the same way again', async () => {
  // Each event comes a second time at once, and a third time never.
  const { emulator, publish, byKey } = await openPull({ emulator: { clock: new ManualClock() } })
  const { side, close, log, pending } = await openSide(byKey, emulator.endpoints, () => {
    throw new Error('the store is gone')
  })
  await publish(order('one'), order('two'))
  await expect.poll(() => side.health().pull?.settled).toMatchObject({ release: 4 })
  await close()
  expect(log.text()).toMatch(/warn the handler failed, so the event is not acknowledged .*"leftOut":3}/)
  expect(pending()).toBe(0)
})

/** A way to the emulator's namespace that holds back the answers to all receives but the first, until `release`. */
async function startSlowWay(emulator: EventGridEmulator) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const heldBack: string[] = []
  let receives = 0
  const way = await startNamespace(async (request, response) => {
    const { url = '', headers } = request
    const isHeldBack = url.includes(':receive') && ++receives > 1
    const answer = await fetch(`${emulator.proxy}/namespaces/shop${url}`, {
      method: 'POST',
      headers: { authorization: String(headers.authorization), 'content-type': 'application/json' },
      body: await readText(request),
    })
    const body = await answer.text()
    if (isHeldBack) {
      heldBack.push(body)
      await released
    }
    response.writeHead(answer.status).end(body)
  })
  return { ...way, heldBack, release, receives: () => receives }
}

it('releases the events that are on their way when it closes, and asks for no more', async () => {
  const { emulator, publish, byKey } = await openPull()
  const { namespaceEndpoint, binding: options, heldBack, release, receives } = await startSlowWay(emulator)
  const handled: string[] = []
  const binding = new Binding({ ...options, onEvent: ({ cloudEvent }) => void handled.push(cloudEvent.id) })
  onTestFinished(() => binding.close())
  await publish(order('one'), order('two'), order('three'))
  await binding.init({ ...byKey, namespaceEndpoint, maxConcurrency: '1' }, { subscription: 'background' })
  await expect.poll(() => heldBack).toHaveLength(1)
  const closing = binding.close()
  await new Promise((settle) => setImmediate(settle))
  release()
  await closing
  expect(handled).toEqual(['one'])
  expect([...emulator.queues().values()]).toEqual([{ available: 2, locked: 0, delayed: 0 }])
  expect(receives()).toBe(2)
})

it('closes though an open receive gets no answer: it is awaited for a moment alone', async () => {
  const world = await scriptNamespace(bringsOnce(['one']))
  const properties = { ...world.properties, maxConcurrency: '1' }
  const { side } = await openSide(properties, world.endpoints, () => {})
  await expect.poll(() => world.of('receive')).toHaveLength(2)
  await side.close()
})

/** A pull side that holds one event whose handler takes until `finish`. */
async function holdEvent(settle?: Script, more: object = {}) {
  const world = await scriptNamespace(bringsOnce(['one'], settle))
  const { promise: open, resolve: finish } = Promise.withResolvers<void>()
  const onEvent = vi.fn(() => open)
  const { side, close, advance, log } = await openSide(
    { ...world.properties, handlerTimeout: '10m', ...more },
    world.endpoints,
    onEvent,
  )
  await expect.poll(() => onEvent.mock.calls).toHaveLength(1)
  return { side, close, world, finish, advance, log }
}

it('closes once its events are settled, though the renewal of a lock has no answer', async () => {
  const { close, world, finish, advance } = await holdEvent(({ operation }) =>
    operation === 'acknowledge' ? null : undefined,
  )
  advance(31_000)
  await expect.poll(() => world.of('renewLock')).toHaveLength(1)
  finish()
  await close()
  expect(world.requests.at(-1)?.operation).toBe('acknowledge')
})

it.each([
  { name: 'the shortest lock' },
  { name: 'a longer one, which the event subscription need not have', lockDuration: '300s' },
])(
  'renews the lock every half minute, as long as the handler runs and no longer, with $name',
  async ({ lockDuration }) => {
    const { side, close, world, finish, advance } = await holdEvent(undefined, lockDuration ? { lockDuration } : {})
    advance(28_000)
    expect(world.of('renewLock')).toEqual([])
    for (const count of [1, 2, 3]) {
      advance(30_000)
      await expect.poll(() => side.health().pull?.lockRenewals).toBe(count)
    }
    finish()
    await expect.poll(() => world.requests.at(-1)?.operation).toBe('acknowledge')
    advance(120_000)
    await close()
    expect(world.of('renewLock')).toHaveLength(3)
  },
)

it('receives nothing without a handler, and begins once one is attached', async () => {
  const { emulator, binding, publish, byKey } = await openPull({ silent: true })
  await binding.init(byKey)
  await publish(order('one'))
  expect([...emulator.queues().values()]).toEqual([{ available: 1, locked: 0, delayed: 0 }])
  const handled = Promise.withResolvers<string>()
  binding.read(({ cloudEvent }) => handled.resolve(cloudEvent.id))
  expect(await handled.promise).toBe('one')
})
