import { expect, it } from 'vitest'
import { refusal } from '../support/refusal.ts'
import { brings, closeAtEnd, createSide, type NamespaceAnswer, scriptNamespace } from './scripted-namespace.ts'

/** A side that waits at its start, for ten seconds at most, and whose receives are answered so, one after the other. */
async function start(answers: readonly (NamespaceAnswer | undefined)[]) {
  const world = await scriptNamespace(({ operation, index }) => (operation === 'receive' ? answers[index] : null))
  const properties = { ...world.properties, subscriptionTimeout: '10s' }
  const created = await createSide(properties, world.endpoints, () => {})
  closeAtEnd(created, world)
  const stopping = new AbortController()
  const started = created.side.start('wait', stopping.signal)
  // Its outcome is asked for later.
  started.catch(() => {})
  return { ...created, world, started, stopping, asked: world.asked }
}

it.each([
  { status: 401, code: 'CREDENTIALS_REJECTED' },
  { status: 403, code: 'PERMISSION_DENIED' },
])('a start that waits fails at once with $code where the namespace answers $status', async ({ status, code }) => {
  const { started, asked, delays } = await start([{ status }])
  const error = await refusal(started)
  expect(error).toMatchObject({ code, details: { status } })
  expect(error.message).toContain(`events cannot be received: status ${status}`)
  expect(asked()).toEqual([0])
  expect(delays).toEqual([])
})

it.each([404, 410])('a start waits for what is missing (%i), and receives once it comes', async (status) => {
  const { started, asked, waits, advance, log } = await start([{ status }, { status }, { status: 400 }])
  advance(await waits((ms) => ms <= 500))
  advance(await waits((ms) => ms <= 1_000))
  await started
  await expect.poll(asked).toEqual([0, 0, 0, 16])
  const lines = log.lines.filter(({ message }) => message === `events cannot be received: status ${status}`)
  expect(lines.map(({ fields }) => fields?.attempt)).toEqual([1, 2])
})

it('a start gives up what is missing after subscriptionTimeout', async () => {
  const { started, advance, asked, now } = await start(Array(40).fill({ status: 404 }))
  const [begun, ended] = [now(), started.catch((error: unknown) => error)]
  let error: unknown
  void ended.then((result) => {
    error = result
  })
  await expect
    .poll(() => {
      if (!error) advance(100)
      return error
    })
    .toMatchObject({ code: 'SCOPE_NOT_FOUND', details: { status: 404 } })
  expect(now() - begun).toBeGreaterThan(2_000)
  expect(now() - begun).toBeLessThanOrEqual(10_000)
  expect(asked().length).toBeGreaterThan(2)
})

it.each([
  { name: 'refuses the form of the question alone', answer: { status: 400 } },
  { name: 'fails', answer: { status: 503 } },
  { name: 'cuts the connection', answer: { isCut: true } },
])('a start resolves where the namespace $name', async ({ answer }) => {
  const { started, asked } = await start([answer])
  await started
  await expect.poll(asked).toEqual([0, 16])
})

it('releases what the question at the start brings against expectation', async () => {
  const { started, world } = await start([brings('one', 'two')])
  await started
  expect(world.of('release').map(({ lockTokens }) => lockTokens)).toEqual([['one', 'two']])
})

it('asks for no release where the question brings nothing', async () => {
  const { started, world } = await start([{ body: '{"value":[]}' }])
  await started
  expect(world.of('release')).toEqual([])
})

it('ends the wait when its signal aborts', async () => {
  const { started, stopping, waits } = await start([{ status: 404 }])
  await waits((ms) => ms <= 500)
  stopping.abort(new Error('the host stops'))
  await expect(started).rejects.toThrow('the host stops')
})
