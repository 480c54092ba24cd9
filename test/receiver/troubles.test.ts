import { expect, it, onTestFinished, vi } from 'vitest'
import { createCredential } from '../../src/azure/credential.ts'
import { azureEnvironments } from '../../src/metadata/fields/addresses.ts'
import { createNamespaceClient } from '../../src/receiver/namespace-client.ts'
import { order } from '../support/open-pull.ts'
import { brings, bringsOnce, openSide, type Script, scriptNamespace, settles } from './scripted-namespace.ts'

type World = Awaited<ReturnType<typeof scriptNamespace>>

async function open({ properties, endpoints, cut }: World, onEvent: () => unknown = () => {}, more: object = {}) {
  const handler = vi.fn(async () => {
    await onEvent()
  })
  const opened = await openSide({ ...properties, handlerTimeout: '10m', ...more }, endpoints, handler)
  onTestFinished(async () => {
    let closed = false
    void opened.side.close().then(() => {
      closed = true
    })
    // Its clock stands still otherwise, and some of these namespaces never answer.
    await expect
      .poll(() => {
        cut()
        opened.advance(600_000)
        return closed
      })
      .toBe(true)
  })
  return { ...opened, handler }
}

/** A side that holds the event `one`, whose handler takes until `end`. */
async function hold(settle?: Script, more: object = {}) {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const world = await scriptNamespace(bringsOnce(['one'], settle))
  const opened = await open(world, () => ended, more)
  await expect.poll(() => opened.handler.mock.calls).toHaveLength(1)
  return { ...opened, world, end }
}

it('refuses an event whose bytes are no UTF-8: no handler sees it, and it is not acknowledged', async () => {
  const text = JSON.stringify({
    value: ['broken', 'whole'].map((id) => ({
      brokerProperties: { lockToken: id, deliveryCount: 1 },
      event: order(id, { data: id === 'broken' ? 'bad \u0001' : 'a real \ufffd' }),
    })),
  })
  const body = Buffer.from(text.replace('\\u0001', '\u0001'))
  body[body.indexOf(1)] = 0xff
  const world = await scriptNamespace(({ operation, index }) => {
    if (operation !== 'receive') return null
    return index === 0 ? { body } : undefined
  })
  const { side, handler } = await open(world)
  await expect.poll(() => side.health().pull?.settled).toMatchObject({ acknowledge: 1, reject: 1 })
  expect(handler.mock.calls).toHaveLength(1)
  expect(world.of('reject').map(({ lockTokens }) => lockTokens)).toEqual([['broken']])
})

it.each([
  { name: 'seconds', header: ['retry-after', '999999999'] },
  { name: 'a date', header: ['retry-after', 'Tue, 01 Jan 2999 00:00:00 GMT'] },
  { name: 'milliseconds', header: ['retry-after-ms', '9999999999'] },
])('pauses for five minutes at most, whatever Retry-After asks for in $name', async ({ header }) => {
  const world = await scriptNamespace(({ index }) =>
    index === 0 ? { status: 503, headers: Object.fromEntries([header]) } : undefined,
  )
  const { advance, log } = await open(world)
  await expect.poll(() => log.text()).toContain('"retryInMs":300000')
  advance(300_000)
  await expect.poll(() => world.of('receive')).toHaveLength(2)
})

it('pauses between empty answers that come at once, and longer each time', async () => {
  const world = await scriptNamespace(({ index }) => (index < 6 ? { body: '{"value":[]}' } : undefined))
  const { delays, advance, side } = await open(world)
  for (const [index, pauseMs] of [500, 1_000, 2_000, 4_000, 5_000, 5_000].entries()) {
    await expect.poll(() => delays.filter((ms) => ms >= 500 && ms <= 5_000).at(index)).toBe(pauseMs)
    expect(world.of('receive')).toHaveLength(index + 1)
    advance(pauseMs)
  }
  await expect.poll(() => world.of('receive')).toHaveLength(7)
  expect(side.health().status).toBe('healthy')
})

it('tries a lock token again that the namespace could not settle for a reason of its own', async () => {
  const failed = { one: 'InternalServerError', two: 'TokenLost' }
  const world = await scriptNamespace(
    bringsOnce(['one', 'two', 'three'], ({ lockTokens, index }) => (index === 0 ? settles(lockTokens, failed) : null)),
  )
  const { side, advance, waits, log } = await open(world)
  const repeated = waits((ms) => ms < 400)
  advance(await repeated)
  await expect.poll(() => side.health().pull).toMatchObject({ settled: { acknowledge: 2 }, failedSettlements: 1 })
  expect(world.of('acknowledge').map(({ lockTokens }) => lockTokens)).toEqual([['one', 'two', 'three'], ['one']])
  expect(log.text()).toContain('"reason":"TokenLost"')
})

it('asks again about a lock token that an answer does not name, and believes nothing of it', async () => {
  const world = await scriptNamespace(
    bringsOnce(['one', 'two'], ({ index }) => (index === 0 ? settles(['one']) : null)),
  )
  const { side, advance, waits } = await open(world)
  const repeated = waits((ms) => ms < 400)
  advance(await repeated)
  await expect.poll(() => side.health().pull).toMatchObject({ settled: { acknowledge: 2 }, failedSettlements: 0 })
  expect(world.of('acknowledge').map(({ lockTokens }) => lockTokens)).toEqual([['one', 'two'], ['two']])
})

it.each(['{}', '{"status":"ok"}', '{"succeededLockTokens":["another"],"failedLockTokens":[]}'])(
  'says at once that an answer settles nothing where it names no lock token of the request: %s',
  async (body) => {
    const world = await scriptNamespace(bringsOnce(['one'], ({ index }) => (index === 0 ? { body } : null)))
    const { advance, waits, log } = await open(world)
    advance(await waits((ms) => ms < 400))
    await expect.poll(() => world.of('acknowledge')).toHaveLength(2)
    expect(log.text()).toContain('"reason":"the answer to acknowledge is not readable"')
  },
)

it('follows no redirect, which would carry the key elsewhere', async () => {
  const world = await scriptNamespace(({ operation }) =>
    operation === 'receive' ? { status: 307, headers: { location: '/topics/orders:elsewhere?again=1' } } : undefined,
  )
  const { log } = await open(world)
  await expect.poll(() => log.text()).toContain('events cannot be received: status 307')
  expect(world.of('elsewhere')).toEqual([])
})

it('counts receives that were open together and failed together as one failure', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let isOver = false
  const world = await scriptNamespace(async ({ operation, index }) => {
    if (operation !== 'receive') return null
    if (index === 0) return brings(...Array.from({ length: 16 }, (_, event) => `event-${event}`))
    if (isOver) return undefined
    await released
    return { status: 503 }
  })
  const { log, advance } = await open(world, () => {}, { maxConcurrency: '256' })
  await expect.poll(() => world.of('receive').length).toBeGreaterThan(2)
  const together = world.of('receive').length
  isOver = true
  release()
  const lines = () => log.lines.filter(({ message }) => message.startsWith('events cannot be received'))
  await expect.poll(lines).toHaveLength(1)
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(lines()).toHaveLength(1)
  advance(500)
  await expect.poll(() => world.of('receive').length).toBeGreaterThan(together)
})

it('keeps the lock that a renewal has prolonged: a settlement is tried again beyond its first end', async () => {
  const { side, advance, waits, end } = await hold(({ operation, lockTokens, index }) =>
    operation === 'acknowledge' && index === 0 ? settles(lockTokens, { one: 'InternalServerError' }) : null,
  )
  for (const count of [1, 2]) {
    advance(31_000)
    await expect.poll(() => side.health().pull?.lockRenewals).toBe(count)
  }
  // 62 s after the receive; the lock as it was received would have ended at 60 s.
  const repeated = waits((ms) => ms < 400)
  end()
  advance(await repeated)
  await expect.poll(() => side.health().pull).toMatchObject({ settled: { acknowledge: 1 }, failedSettlements: 0 })
})

it('gives a lock token up when its lock ends', async () => {
  const world = await scriptNamespace(
    bringsOnce(['one'], ({ lockTokens }) => settles(lockTokens, { one: 'InternalServerError' })),
  )
  const { side, advance } = await open(world)
  await expect
    .poll(() => {
      advance(2_500)
      return side.health().pull?.failedSettlements
    })
    .toBe(1)
  expect(world.of('acknowledge').length).toBeGreaterThan(3)
})

it('warns of no lost lock where an event was settled while its renewal was under way', async () => {
  const { world, side, close, advance, log, end } = await hold(({ operation }) =>
    operation === 'renewLock' ? undefined : null,
  )
  advance(30_000)
  await expect.poll(() => world.of('renewLock')).toHaveLength(1)
  end()
  await expect.poll(() => side.health().pull?.settled).toMatchObject({ acknowledge: 1 })
  // Closing ends the renewal as lost, after the settlement.
  await close()
  expect(log.text()).not.toContain('could not be renewed')
})

it('renews a lock by one request at a time, however long the namespace is away', async () => {
  let isAway = true
  const { world, side, advance } = await hold(
    ({ operation }) => (operation === 'renewLock' && isAway ? { status: 503 } : null),
    { lockDuration: '300s' },
  )
  await expect
    .poll(() => {
      advance(2_500)
      return world.of('renewLock').length
    })
    .toBeGreaterThan(20)
  isAway = false
  await expect
    .poll(() => {
      advance(2_500)
      return side.health().pull?.lockRenewals
    })
    .toBeGreaterThan(1)
  expect(new Set(world.of('renewLock').map(({ lockTokens }) => lockTokens.length))).toEqual(new Set([1]))
})

it('says that a lock is lost where a renewal finds it so, and renews it no more', async () => {
  const { world, side, advance, log, end } = await hold(({ operation, lockTokens }) =>
    operation === 'renewLock' ? settles(lockTokens, { one: 'TokenLost' }) : null,
  )
  advance(30_000)
  const lines = () => log.lines.filter(({ message }) => message.includes('could not be renewed'))
  await expect.poll(() => lines().map(({ fields }) => fields)).toEqual([{ reason: 'TokenLost' }])
  advance(120_000)
  end()
  await expect.poll(() => side.health().pull).toMatchObject({ settled: { acknowledge: 1 }, lockRenewals: 0 })
  expect(world.of('renewLock')).toHaveLength(1)
})

it.each([
  { name: 'fails', answer: { status: 503 } },
  { name: 'hangs', answer: undefined },
])('settles what comes after a settlement that $name', async ({ answer }) => {
  const ends = new Map<number, () => void>()
  const world = await scriptNamespace(
    bringsOnce(['one', 'two'], ({ lockTokens }) => (lockTokens.includes('one') ? answer : null)),
  )
  let calls = 0
  const { side, advance, delays } = await open(world, () => new Promise<void>((resolve) => ends.set(calls++, resolve)))
  await expect.poll(() => ends.size).toBe(2)
  ends.get(0)?.()
  await expect.poll(() => world.of('acknowledge')).toHaveLength(1)
  ends.get(1)?.()
  if (answer === undefined) {
    await expect.poll(() => delays).toContain(1_000)
    advance(1_000)
  }
  await expect.poll(() => side.health().pull?.settled).toMatchObject({ acknowledge: 1 })
  expect(world.of('acknowledge').some(({ lockTokens }) => lockTokens.join() === 'two')).toBe(true)
})

it('renews a token that the namespace refuses at once, and then not for a minute, whoever asks', async () => {
  const world = await scriptNamespace(() => ({ status: 401 }))
  let asked = 0
  const getToken = async () => ({ token: `token-${asked++}`, expiresOnTimestamp: Date.now() + 3_600_000 })
  const environment = azureEnvironments.AzurePublicCloud
  const options = { environment, endpoints: {}, hostCredential: { getToken } }
  const credential = createCredential({ kind: 'host' }, options)
  const client = createNamespaceClient({
    ...{ namespaceEndpoint: world.properties.namespaceEndpoint, topicName: 'orders', eventSubscriptionName: 'app' },
    authentication: { kind: 'entra', credential, scope: environment.topicScope },
    endpoints: world.endpoints,
  })
  onTestFinished(() => client.close())
  const { signal } = new AbortController()
  for (let time = 0; time < 3; time++) {
    expect(await client.receive({ maxEvents: 1, maxWaitSeconds: 10, signal })).toMatchObject({
      failure: { status: 401 },
    })
  }
  await client.settle({ operation: 'acknowledge', lockTokens: ['one'], signal })
  expect(world.requests.map(({ authorization }) => authorization)).toEqual([
    'Bearer token-0',
    ...Array.from({ length: 4 }, () => 'Bearer token-1'),
  ])
})

it('receives again when the handler that held the only call ends late', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const world = await scriptNamespace(({ operation, index }) => {
    if (operation !== 'receive') return null
    return index < 2 ? brings(`event-${index}`) : undefined
  })
  const { side, advance, handler } = await open(world, () => ended, { handlerTimeout: '25s', maxConcurrency: '1' })
  await expect.poll(() => handler.mock.calls).toHaveLength(1)
  advance(25_000)
  await expect.poll(() => side.health().pull?.settled).toMatchObject({ release: 1 })
  end()
  await expect.poll(() => handler.mock.calls).toHaveLength(2)
})
