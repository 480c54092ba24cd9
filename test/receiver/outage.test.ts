import { expect, it } from 'vitest'
import { order } from '../support/open-pull.ts'
import { brings, closeAtEnd, type NamespaceAnswer, openSide, scriptNamespace } from './scripted-namespace.ts'

/** A side whose receives are answered so, one after the other, then never. Its pauses end at once. */
async function receive(answers: readonly NamespaceAnswer[], onEvent = () => {}, more: object = {}) {
  const world = await scriptNamespace(({ operation, index }) => (operation === 'receive' ? answers[index] : null))
  const opened = await openSide({ ...world.properties, ...more }, world.endpoints, onEvent)
  closeAtEnd(opened, world)
  await expect
    .poll(() => {
      opened.advance(60_000)
      return world.of('receive')
    })
    .toHaveLength(answers.length + 1)
  const lines = (part: string) => opened.log.lines.filter(({ message }) => message.includes(part))
  return { ...opened, lines, asked: world.asked }
}

it('tells of the first two failures of an outage and of its end, and begins anew with the next', async () => {
  const refused = { status: 503 }
  const { side, lines } = await receive([refused, refused, refused, refused, brings('one'), refused])
  const pauses = lines('events cannot be received: status 503').map(({ fields }) => Number(fields?.retryInMs))
  expect(pauses).toHaveLength(3)
  for (const [index, ms] of [500, 1_000, 500].entries()) {
    expect(pauses[index]).toBeGreaterThanOrEqual(0)
    expect(pauses[index]).toBeLessThanOrEqual(ms)
  }
  expect(lines('events are received again').map(({ fields }) => fields)).toEqual([{ failures: 4 }])
  expect(side.health().pull).toMatchObject({ received: 1, receives: { 200: 1, 503: 5 } })
})

it('says nothing of an outage where there was none', async () => {
  const { lines } = await receive([brings('one'), brings('two')])
  expect(lines('events are received again')).toEqual([])
})

it.each([
  { name: 'at once while nothing but an answer of 200 by somebody else came', first: [], status: 'unhealthy' },
  { name: 'not before a minute once an event was received', first: [brings('one')], status: 'degraded' },
])('is unhealthy $name', async ({ first, status }) => {
  const answers: NamespaceAnswer[] = [...first, { body: '<html>' }]
  const world = await scriptNamespace(({ operation, index }) => (operation === 'receive' ? answers[index] : null))
  const opened = await openSide(world.properties, world.endpoints, () => {})
  closeAtEnd(opened, world)
  await expect.poll(() => opened.side.health().reasons).toEqual([expect.stringContaining('is not readable')])
  expect(opened.side.health().status).toBe(status)
})

it('begins with a short pause between empty answers again once one brought an event', async () => {
  const empty = { body: '{"value":[]}' }
  const { delays } = await receive([empty, empty, brings('one'), empty])
  expect(delays.filter((ms) => ms === 500)).toHaveLength(2)
})

const largeEvent = JSON.stringify({
  value: [
    { brokerProperties: { lockToken: 'one', deliveryCount: 1 }, event: order('one', { data: 'x'.repeat(2 ** 20) }) },
  ],
})

it.each<{ name: string; answers: NamespaceAnswer[]; asked: number[] }>([
  { name: 'half as many after a lost answer', answers: [{ isCut: true }, { isCut: true }], asked: [16, 8, 4] },
  { name: 'as many after a refusal', answers: [{ status: 503 }], asked: [16, 16] },
  { name: 'as many after an empty answer', answers: [{ body: '{"value":[]}' }], asked: [16, 16] },
  { name: 'more where events are small', answers: [brings('one')], asked: [16, 100] },
  { name: 'fewer where events are large', answers: [{ body: largeEvent }], asked: [16, 3] },
])('asks for $name', async ({ answers, asked }) => {
  const receiving = await receive(answers, undefined, { maxConcurrency: '128' })
  expect(receiving.asked()).toEqual(asked)
})
