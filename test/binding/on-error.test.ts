import { fastify } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import {
  Binding,
  type BindingOptions,
  loadComponents,
  objectFirst,
  type ReceivedEvent,
  RejectEvent,
} from '../../src/index.ts'
import { captureLog } from '../support/captured-log.ts'
import { openPull, order } from '../support/open-pull.ts'

/** A binding on an emulator that delivers an event once. */
async function open(options: BindingOptions, metadata: Readonly<Record<string, string>> = {}) {
  const emulator = await EventGridEmulator.start({ retrySchedule: [5], deadLetterDelay: 0 })
  const log = captureLog()
  const binding = new Binding({ endpoints: emulator.endpoints, logger: log, ...options })
  onTestFinished(async () => {
    await binding.close()
    await emulator.close()
  })
  await emulator.connect(binding, { topic: 'orders', metadata: { maxDeliveryAttempts: '1', ...metadata } })
  return {
    log,
    binding,
    async publish(data: unknown): Promise<(number | undefined)[]> {
      await binding.invoke('create', data)
      await emulator.settled()
      return emulator.records.deliveries.all().map(({ status }) => status)
    },
  }
}

const fail = (error: unknown) => () => {
  throw error
}

describe('onError', () => {
  it.each([
    { kind: 'an error', error: new RangeError('no stock') },
    { kind: 'a RejectEvent', error: new RejectEvent('no such order') },
    { kind: 'a text', error: 'no' },
    { kind: 'undefined', error: undefined },
  ])('gets the very error of a failed call, and its event: $kind', async ({ error }) => {
    const told: [unknown, ReceivedEvent][] = []
    const { publish } = await open({ onEvent: fail(error), onError: (...given) => void told.push(given) })
    await publish({ a: 1 })
    expect(told).toHaveLength(1)
    expect(told[0]?.[0]).toBe(error)
    expect(told[0]?.[1]).toMatchObject({ cloudEvent: { data: { a: 1 } }, metadata: { 'aeg-delivery-count': '0' } })
  })

  it('gets the event as it was delivered, whatever the handler made of its own', async () => {
    const told: unknown[] = []
    const onEvent = ({ cloudEvent, data, metadata }: ReceivedEvent) => {
      Object.assign(cloudEvent, { data: 'changed' })
      Object.assign(metadata, { 'aeg-delivery-count': 'changed' })
      data.fill(0)
      throw new Error('no')
    }
    const { publish } = await open({
      onEvent,
      onError: (_error, { cloudEvent, data, metadata }) =>
        void told.push(cloudEvent.data, JSON.parse(String(data)).data, metadata['aeg-delivery-count']),
    })
    await publish({ a: 1 })
    expect(told).toEqual([{ a: 1 }, { a: 1 }, '0'])
  })

  it('gets an error with the returned one as its cause, where a result is no success', async () => {
    const causes: unknown[] = []
    const own = new Error('no row')
    const { publish } = await open({
      onEvent: async ({ cloudEvent }) => (cloudEvent.data === 1 ? own : Promise.allSettled([Promise.reject(own)])),
      onError: (error) => void causes.push(error instanceof TypeError && error.cause),
    })
    await publish(1)
    await publish(2)
    expect(causes).toEqual([own, own])
  })

  it('gets the reason of the signal where the handler resolved too late', async () => {
    const told = Promise.withResolvers<unknown>()
    const onEvent = ({ signal }: ReceivedEvent) =>
      new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    const { publish } = await open({ onEvent, onError: told.resolve }, { handlerTimeout: '1s' })
    expect(await publish(1)).toEqual([503])
    expect(await told.promise).toMatchObject({ name: 'TimeoutError' })
  })

  it.each([
    { name: 'throws', onError: fail(new Error('broken')) },
    { name: 'rejects', onError: async () => Promise.reject(new Error('broken')) },
  ])('that $name changes nothing', async ({ onError }) => {
    const { publish } = await open({ onEvent: fail(new Error('no')), onError })
    expect(await publish(1)).toEqual([500])
  })

  it('is called for pulled events too', async () => {
    const error = new Error('no')
    const told = Promise.withResolvers<unknown>()
    const { binding, byKey, publish } = await openPull({ binding: { onEvent: fail(error), onError: told.resolve } })
    await publish(order('1'))
    await binding.init(byKey)
    expect(await told.promise).toBe(error)
  })
})

it('the log has stack and causes at debug, and no secret in them', async () => {
  const secret = 'a-secret-of-this-test'
  const cause = new Error(`the store said Bearer ${secret}`, { cause: { code: 42 } })
  const { publish, log } = await open({ onEvent: fail(new Error('no stock', { cause })) })
  await publish(1)
  const line = log.lines.find(({ level, fields }) => level === 'debug' && fields?.stack !== undefined)
  expect(line?.fields).toMatchObject({ id: expect.any(String), error: 'Error: no stock' })
  expect(line?.fields?.stack).toContain('on-error.test.ts')
  expect(line?.fields?.cause).toMatch(/the store said Bearer \(redacted\).*on-error\.test\.ts.*code: 42/s)
  expect(log.text()).not.toContain(secret)
})

it('the log has the stacks of the errors in an AggregateError at debug', async () => {
  const error = new AggregateError([new Error('one'), new Error('two', { cause: new Error('three') })], 'both')
  const { publish, log } = await open({ onEvent: fail(error) })
  await publish(1)
  const line = log.lines.find(({ level, fields }) => level === 'debug' && fields?.stack !== undefined)
  expect(line?.fields?.cause).toMatch(/one.*on-error\.test\.ts.*two.*on-error\.test\.ts.*three/s)
})

it('an error of a hook of the host stands in the log with its message, without a secret', async () => {
  const { publish, log } = await open({
    onEvent() {},
    fastify: (server) =>
      void server.addHook('onRequest', async ({ method }) => {
        if (method === 'POST') throw new RangeError('the tenant has no quota: Bearer abcdef')
      }),
  })
  expect(await publish(1)).toEqual([500])
  const said = 'RangeError: the tenant has no quota: Bearer (redacted)'
  const line = log.lines.find(({ message }) => message === 'a request failed in the listener')
  expect(line).toMatchObject({ level: 'error', fields: { error: said } })
})

describe('a logger that takes the fields first', () => {
  const { log } = fastify({ logger: { level: 'fatal' } })

  it('is refused, with what to write', async () => {
    const said = 'logger takes the fields first, as pino does: give objectFirst(logger)'
    expect(() => new Binding({ logger: log })).toThrow(said)
    await expect(loadComponents('components', { logger: log })).rejects.toThrow(said)
    expect(new Binding({ logger: objectFirst(log) }).health().status).toBe('unhealthy')
  })
})
