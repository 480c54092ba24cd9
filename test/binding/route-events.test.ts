import { type } from 'arktype'
import * as v from 'valibot'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { Binding, type EventRouter, routeEvents } from '../../src/index.ts'
import { captureLog } from '../support/captured-log.ts'

/** An emulator with a binding whose handler is the router. */
async function openRouted(router: EventRouter) {
  const emulator = await EventGridEmulator.start({ retrySchedule: [5], deadLetterDelay: 0 })
  const log = captureLog()
  const binding = new Binding({ endpoints: emulator.endpoints, logger: log, onEvent: router })
  onTestFinished(async () => {
    await binding.close()
    await emulator.close()
  })
  await emulator.connect(binding, { topic: 'orders', metadata: { maxDeliveryAttempts: '2' } })
  return {
    log,
    /** Publishes an event and gives the status of each try to deliver it. */
    async statuses(eventType: string, data: unknown): Promise<(number | undefined)[]> {
      const before = emulator.records.deliveries.all().length
      await binding.invoke('create', data, { metadata: { type: eventType } })
      await emulator.settled()
      return emulator.records.deliveries
        .all()
        .slice(before)
        .map(({ status }) => status)
    },
  }
}

it('calls the handler of the most specific pattern', async () => {
  const called: string[] = []
  const noting = (name: string) => () => void called.push(name)
  const router = routeEvents()
    .on('*', noting('all'))
    .on('order.*', noting('order'))
    .on('order.placed', noting('placed'))
    .on('order.placed.*', noting('variants of placed'))
  const { statuses } = await openRouted(router)
  const types = ['order.placed', 'order.placed.late', 'order.paid', 'Order.paid', 'shop.opened']
  for (const each of types) expect(await statuses(each, {})).toEqual([200])
  expect(called).toEqual(['placed', 'variants of placed', 'order', 'all', 'all'])
})

it.each([
  { library: 'zod', schema: z.object({ count: z.coerce.number() }) },
  { library: 'valibot', schema: v.object({ count: v.pipe(v.string(), v.transform(Number)) }) },
  { library: 'arktype', schema: type({ count: 'string.numeric.parse' }) },
])('hands on the value that a schema of $library parsed, and rejects what it refuses', async ({ schema }) => {
  const counts: number[] = []
  const router = routeEvents().on('stock.counted', schema, ({ cloudEvent, signal, data }) => {
    counts.push(cloudEvent.data.count)
    expect(signal.aborted).toBe(false)
    expect(JSON.parse(data.toString()).data).toEqual({ count: '7' })
  })
  const { statuses, log } = await openRouted(router)
  expect(await statuses('stock.counted', { count: '7' })).toEqual([200])
  expect(counts).toEqual([7])
  expect(await statuses('stock.counted', { count: {} })).toEqual([400])
  expect(log.text()).toContain('the data of an event of type \\"stock.counted\\" is invalid: count: ')
})

it('has what a schema refuses delivered again where onInvalid is retry', async () => {
  const router = routeEvents().on('stock.counted', z.object({ count: z.number() }), () => {}, { onInvalid: 'retry' })
  const { statuses } = await openRouted(router)
  expect(await statuses('stock.counted', {})).toEqual([500, 500])
})

it('rejects an event that no pattern matches, and the log names its type', async () => {
  const { statuses, log } = await openRouted(routeEvents().on('order.placed', () => {}))
  expect(await statuses('order.paid', {})).toEqual([400])
  const warnings = log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => String(fields?.error))
  expect(warnings).toContainEqual(expect.stringContaining('no handler for events of type "order.paid"'))
})

it.each([
  { fallback: 'reject', expected: [400] },
  { fallback: 'retry', expected: [500, 500] },
  { fallback: 'ignore', expected: [200] },
] as const)('answers $expected where otherwise is $fallback', async ({ fallback, expected }) => {
  const { statuses } = await openRouted(routeEvents().otherwise(fallback))
  expect(await statuses('order.paid', {})).toEqual(expected)
})

it('hands what no pattern matches to the handler of otherwise', async () => {
  const types: string[] = []
  const { statuses } = await openRouted(routeEvents().otherwise(({ cloudEvent }) => void types.push(cloudEvent.type)))
  expect(await statuses('order.paid', {})).toEqual([200])
  expect(types).toEqual(['order.paid'])
})

const noText: string = JSON.parse('7')

const nothing = () => {}
const on = (pattern: string, ...more: readonly unknown[]) =>
  Reflect.apply(routeEvents().on, routeEvents(), [pattern, ...more])

const otherwise = (...given: readonly unknown[]) => Reflect.apply(routeEvents().otherwise, undefined, given)

it.each([
  ['two handlers for a pattern', () => on('a.*', nothing).on('a.*', nothing), '"a.*" has a handler already'],
  ['a star that is not the last', () => on('a.*.b', nothing), '"a.*.b" is not a pattern'],
  ['an empty pattern', () => on('', nothing), '"" is not a pattern'],
  ['a pattern that is a number', () => on(noText, nothing), '"7" is not a pattern'],
  ['a handler that is a text', () => on('a', 'b'), 'the handler must be a function'],
  ['a schema that is an object', () => on('a', {}, nothing), 'must be a Standard Schema'],
  ['an odd onInvalid', () => on('a', z.any(), nothing, { onInvalid: 'drop' }), "onInvalid must be 'reject' or 'retry'"],
  [
    'an unknown word for otherwise',
    () => routeEvents().otherwise(JSON.parse('"drop"')),
    "otherwise takes a handler, 'reject', 'retry' or 'ignore'",
  ],
  [
    'handlers given to routeEvents',
    () => Reflect.apply(routeEvents, undefined, [{ a: nothing }]),
    'takes no arguments',
  ],
  ['an unknown option of on', () => on('a', z.any(), nothing, { oninvalid: 'retry' }), 'there is no "oninvalid"'],
  ['options that are a text', () => on('a', z.any(), nothing, 'retry'), 'the options of on must be an object'],
  ['options that are null', () => on('a', z.any(), nothing, null), 'the options of on must be an object'],
  ['an argument too many', () => on('a', z.any(), nothing, {}, {}), 'at most 4 arguments'],
  ['options without a schema', () => on('a', nothing, { onInvalid: 'retry' }), 'must be a Standard Schema'],
  ['two handlers in one call', () => on('a', nothing, nothing), 'must be a Standard Schema'],
  ['a schema without a handler', () => on('a', type({ count: 'number' })), 'the handler is missing'],
  ['a schema in place of the handler', () => on('a', z.any(), z.any()), 'the handler is missing'],
  ['no handler', () => on('a'), 'the handler must be a function'],
  ['a generator as handler', () => on('a', function* () {}), 'must not be a generator function'],
  [
    'a schema that cannot validate',
    () => on('a', { '~standard': { version: 1 } }, nothing),
    'must be a Standard Schema',
  ],
  ['a schema as otherwise', () => otherwise(type({ count: 'number' })), 'the handler is missing'],
  ['a generator as otherwise', () => otherwise(async function* () {}), 'must not be a generator function'],
  ['nothing for otherwise', () => otherwise(), 'otherwise takes a handler'],
  ['options of otherwise', () => otherwise('reject', {}), 'at most 1 arguments'],
  ['otherwise twice', () => routeEvents().otherwise('ignore').otherwise('ignore'), 'otherwise was called already'],
])('refuses %s', (_fault, make, says) => {
  expect(make).toThrow(TypeError)
  expect(make).toThrow(says)
})

it('looks at the result of each handler, as without a router', async () => {
  const refused = () => new Response('no', { status: 503 })
  const router = routeEvents()
    .on('order.placed', refused)
    .on('order.*', async () => [Promise.resolve()])
    .on('stock.moved', z.object({}), () => [new Error('no')])
    .otherwise(() => Promise.allSettled([Promise.reject('no')]))
  const { statuses, log } = await openRouted(router)
  for (const each of ['order.placed', 'order.paid', 'stock.moved', 'shop.opened']) {
    expect(await statuses(each, {})).toEqual([500, 500])
  }
  for (const said of ['a Response with the status 503', 'a promise', 'an Error', 'a settled promise'])
    expect(log.text()).toContain(said)
})
