import { text as readText } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type EventGridEmulator, ManualClock } from '../../packages/emulator/src/index.ts'
import { Binding } from '../../src/index.ts'
import { openPull, order } from '../support/open-pull.ts'
import { quickenTime } from '../support/quick-time.ts'
import { openSide, startNamespace } from './scripted-namespace.ts'

it('shows no key that an answer repeats', async () => {
  const { namespaceEndpoint, binding: options } = await startNamespace(({ headers: { authorization } }, response) =>
    response.writeHead(401).end(JSON.stringify({ error: { message: `no entry for ${authorization}` } })),
  )
  const { binding, log, byKey } = await openPull({ binding: options })
  await binding.init({ ...byKey, namespaceEndpoint })
  while (!log.text().includes('events cannot be received')) await new Promise((settle) => setImmediate(settle))
  expect(log.text()).toContain('no entry for SharedAccessKey (redacted)')
  expect(JSON.stringify([binding.health(), log.text()])).not.toContain(byKey.namespaceKey)
})

it('takes no answer of another server for a settlement: it asks again', async () => {
  quickenTime()
  const received = [{ brokerProperties: { lockToken: 'lock', deliveryCount: 1 }, event: order('one') }]
  const settlements = [
    '<html>Sign in first</html>',
    '{}',
    '{"failedLockTokens":[]}',
    '{"succeededLockTokens":["another"]}',
    '{"failedLockTokens":[],"succeededLockTokens":["lock"]}',
  ]
  let receives = 0
  const { namespaceEndpoint, binding: options } = await startNamespace(({ url }, response) => {
    if (url?.includes(':acknowledge')) response.end(settlements.shift())
    else if (receives++ === 0) response.end(JSON.stringify({ value: received }))
  })
  const { binding, log, byKey } = await openPull({ binding: options })
  await binding.init({ ...byKey, namespaceEndpoint })
  await expect.poll(() => binding.health().input?.pull?.settled, { timeout: 20_000 }).toMatchObject({ acknowledge: 1 })
  expect(settlements).toEqual([])
  expect(log.text()).toContain('"reason":"the answer to acknowledge is not readable"')
})

const settledLock = '{"failedLockTokens":[],"succeededLockTokens":["lock"]}'

it('leaves no timer behind when it closes, though a handler failed in the same way again', async () => {
  // Each event comes a second time at once, and a third time never.
  const { emulator, publish, byKey } = await openPull({ emulator: { clock: new ManualClock() } })
  const { side, log, pending } = await openSide(byKey, emulator.endpoints, () => {
    throw new Error('the store is gone')
  })
  await publish(order('one'), order('two'))
  await expect.poll(() => side.health().pull?.settled).toMatchObject({ release: 4 })
  await side.close()
  expect(log.text()).toContain('warn the handler failed, so the event is not acknowledged {"leftOut":3}')
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
  await binding.init({ ...byKey, namespaceEndpoint, maxConcurrency: '1' })
  await expect.poll(() => heldBack).toHaveLength(1)
  const closing = binding.close()
  await new Promise((settle) => setImmediate(settle))
  release()
  await closing
  expect(handled).toEqual(['one'])
  expect([...emulator.queues().values()]).toEqual([{ available: 2, locked: 0, delayed: 0 }])
  expect(receives()).toBe(2)
})

it('waits a second at most for events that are on their way when it closes', async () => {
  const received = [{ brokerProperties: { lockToken: 'lock', deliveryCount: 1 }, event: order('one') }]
  const asked: string[] = []
  const { namespaceEndpoint, binding: options } = await startNamespace(({ url = '' }, response) => {
    asked.push(url)
    if (url.includes(':acknowledge')) response.end(settledLock)
    else if (asked.length === 1) response.end(JSON.stringify({ value: received }))
  })
  const { byKey } = await openPull()
  const properties = { ...byKey, namespaceEndpoint, maxConcurrency: '1' }
  const { side, advance, waits } = await openSide(properties, options.endpoints, () => {})
  await expect.poll(() => asked.filter((url) => url.includes(':receive'))).toHaveLength(2)
  const graceBegins = waits((delayMs) => delayMs === 1_000)
  const closing = side.close()
  await graceBegins
  advance(1_000)
  await closing
})

it('closes at once while it waits for events of an empty queue', async () => {
  const { side, asked, finish } = await holdEvent((operation) => (operation === 'receive' ? undefined : settledLock))
  finish()
  await expect.poll(() => side.health().pull?.settled).toMatchObject({ acknowledge: 1 })
  expect(asked.filter((operation) => operation === 'receive')).toHaveLength(2)
  // Its clock stands still.
  await side.close()
})

/** A pull side that holds one event whose handler takes until `finish`; `answer` gives the answers to the other requests. */
async function holdEvent(answer: (operation: string) => string | undefined) {
  const received = [{ brokerProperties: { lockToken: 'lock', deliveryCount: 1 }, event: order('one') }]
  const asked: string[] = []
  const { namespaceEndpoint, binding: options } = await startNamespace(({ url = '' }, response) => {
    const [, operation = ''] = /:(\w+)\?/.exec(url) ?? []
    asked.push(operation)
    const text = asked.length === 1 ? JSON.stringify({ value: received }) : answer(operation)
    if (text !== undefined) response.end(text)
  })
  const { byKey } = await openPull()
  const { promise: open, resolve: finish } = Promise.withResolvers<void>()
  const onEvent = vi.fn(() => open)
  const properties = { ...byKey, namespaceEndpoint, handlerTimeout: '10m' }
  const { side, advance } = await openSide(properties, options.endpoints, onEvent)
  await expect.poll(() => onEvent.mock.calls).toHaveLength(1)
  return { side, asked, finish, advance }
}

it('closes once its events are settled, though the renewal of a lock has no answer', async () => {
  const { side, asked, finish, advance } = await holdEvent((operation) =>
    operation === 'acknowledge' ? settledLock : undefined,
  )
  advance(31_000)
  await expect.poll(() => asked).toContain('renewLock')
  finish()
  await side.close()
  expect(asked.at(-1)).toBe('acknowledge')
})

it('renews the lock of an event at each half of it, as long as its handler runs and no longer', async () => {
  const { side, asked, finish, advance } = await holdEvent((operation) =>
    operation === 'receive' ? undefined : settledLock,
  )
  const renewals = () => asked.filter((operation) => operation === 'renewLock').length
  advance(28_000)
  expect(renewals()).toBe(0)
  for (const count of [1, 2, 3]) {
    advance(30_000)
    await expect.poll(() => side.health().pull?.lockRenewals).toBe(count)
  }
  finish()
  await expect.poll(() => asked.at(-1)).toBe('acknowledge')
  advance(120_000)
  await side.close()
  expect(renewals()).toBe(3)
})

it('receives nothing without a handler, and begins once one is attached', async () => {
  const { emulator, binding, publish, byKey } = await openPull({ silent: true })
  await binding.init(byKey)
  await publish(order('one'))
  expect([...emulator.queues().values()]).toEqual([{ available: 1, locked: 0, delayed: 0 }])
  const handled = Promise.withResolvers<string>()
  binding.read(({ cloudEvent }) => handled.resolve(cloudEvent.id))
  expect(await handled.promise).toBe('one')
})
