import { expect, it } from 'vitest'
import { type EventHandler, RejectEvent } from '../../src/index.ts'
import { order } from '../support/open-pull.ts'
import { bringsOnce, openSide, type Script, scriptNamespace } from './scripted-namespace.ts'

/** A side with these events under way, whose handler has a second, closed while the handler runs. */
async function closeWhileHandling(settle: Script, ids: readonly string[] = ['one']) {
  const [handled, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const world = await scriptNamespace(bringsOnce(ids, settle))
  const onEvent: EventHandler = async ({ cloudEvent }) => {
    handled.resolve()
    await ended.promise
    if (cloudEvent.id === 'bad') throw new RejectEvent('never')
  }
  const opened = await openSide({ ...world.properties, handlerTimeout: '1s' }, world.endpoints, onEvent)
  await handled.promise
  let isClosed = false
  const closed = opened.side.close().then(() => {
    isClosed = true
  })
  const turns = async () => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { ...opened, world, ended, closed, isClosed: () => isClosed, turns }
}

it.each([
  { name: 'was handled', operation: 'acknowledge', end: ({ resolve }) => resolve() },
  { name: 'was rejected', operation: 'reject', end: ({ reject }) => reject(new RejectEvent('never')) },
  { name: 'failed', operation: 'release', end: ({ reject }) => reject(new Error('not now')) },
  { name: 'took too long', operation: 'release', end: () => {} },
] satisfies { name: string; operation: string; end: (ended: PromiseWithResolvers<void>) => void }[])(
  'settles an event that $name at the end of handlerTimeout, before it has closed',
  async ({ operation, end }) => {
    const answers = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
    const side = await closeWhileHandling(async ({ index }) => {
      await answers[index]?.promise
      return index === 0 ? { status: 503 } : null
    })
    side.advance(900)
    end(side.ended)
    await side.turns()
    side.advance(100)
    await expect.poll(() => side.world.of(operation)).toHaveLength(1)
    const repeated = side.waits((ms) => ms <= 400)
    answers[0]?.resolve(undefined)
    side.advance(await repeated)
    await expect.poll(() => side.world.of(operation)).toHaveLength(2)
    await side.turns()
    expect(side.isClosed()).toBe(false)
    answers[1]?.resolve(undefined)
    await side.closed
    expect(side.log.text()).not.toContain('Event Grid may deliver it again')
    expect(side.pending()).toBe(0)
  },
)

it('waits for the last of several settlements', async () => {
  const answer = Promise.withResolvers<null>()
  const settle: Script = ({ operation }) => (operation === 'acknowledge' ? answer.promise : null)
  const side = await closeWhileHandling(settle, ['one', 'bad'])
  side.ended.resolve()
  await expect.poll(() => side.side.health().pull).toMatchObject({ settled: { reject: 1 } })
  side.advance(1_000)
  await side.turns()
  expect(side.isClosed()).toBe(false)
  answer.resolve(null)
  await side.closed
  expect(side.side.health().pull).toMatchObject({ settled: { acknowledge: 1, reject: 1 }, failedSettlements: 0 })
})

it('waits for a settlement without an answer for five seconds, and says what became of it', async () => {
  const side = await closeWhileHandling(() => undefined)
  side.ended.resolve()
  await expect.poll(() => side.world.of('acknowledge')).toHaveLength(1)
  side.advance(1_000)
  await expect.poll(() => side.delays).toContain(5_000)
  side.advance(4_999)
  await side.turns()
  expect(side.isClosed()).toBe(false)
  side.advance(1)
  await side.closed
  await expect.poll(() => side.log.text()).toContain('an event could not be settled (acknowledge)')
})

it('releases what an open receive still brings, also while a handler call of the same event runs', async () => {
  const [brought, handled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const body = (lockToken: string, deliveryCount: number) =>
    JSON.stringify({ value: [{ brokerProperties: { lockToken, deliveryCount }, event: order('one') }] })
  const world = await scriptNamespace(async ({ operation, index }) => {
    if (operation !== 'receive') return null
    if (index === 0) return { body: body('first', 1) }
    await brought.promise
    return { body: body('second', 2) }
  })
  const opened = await openSide({ ...world.properties, handlerTimeout: '1s' }, world.endpoints, () => {
    handled.resolve()
    return new Promise(() => {})
  })
  await handled.promise
  await expect.poll(() => world.of('receive')).toHaveLength(2)
  const closed = opened.side.close(new AbortController().signal)
  opened.advance(500)
  brought.resolve()
  await expect.poll(() => world.of('release').flatMap(({ lockTokens }) => lockTokens)).toEqual(['second'])
  opened.advance(500)
  await closed
  expect(world.of('release').flatMap(({ lockTokens }) => lockTokens)).toEqual(['second', 'first'])
  expect(opened.pending()).toBe(0)
})
