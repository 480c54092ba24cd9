import { expect, it, onTestFinished, vi } from 'vitest'
import { Secret } from '../../../../src/core/secret.ts'
import type { AppChannelOptions } from '../../../../src/sidecar/host/app/app-channel.ts'
import { createGrpcAppChannel } from '../../../../src/sidecar/host/app/grpc-app-channel.ts'
import { freePort } from '../../../support/free-port.ts'
import { openGrpcApp } from '../../../support/grpc-app.ts'
import { traceparentOf } from '../../../support/telemetry.ts'

function open(port: number, more: Partial<AppChannelOptions> = {}) {
  const channel = createGrpcAppChannel({ address: '127.0.0.1', port, maxConcurrency: 10, ...more })
  onTestFinished(() => channel.close())
  return channel
}

const event = (signal = new AbortController().signal, metadata: Record<string, string> = {}) => ({
  data: Buffer.from('{"id":"1"}'),
  metadata,
  signal,
})

it.each([
  { name: 'named', bindings: ['parcels', 'orders'], expected: { kind: 'subscribed' } },
  { name: 'not named', bindings: ['parcels'], expected: { kind: 'refused', status: 0 } },
])('asks for the events of a component that is $name by the application', async ({ bindings, expected }) => {
  const app = await openGrpcApp()
  app.subscribe(bindings)
  expect(await open(app.port).probe('orders')).toEqual(expected)
})

it('finds an application that is not there neither reachable, nor well, nor subscribed', async () => {
  const onGone = vi.fn()
  const channel = open(await freePort(), { onGone })
  expect(await channel.probe('orders')).toEqual({ kind: 'unreachable', why: 'UNAVAILABLE' })
  expect([await channel.reachable(), await channel.healthy('')]).toEqual([false, false])
  expect(onGone).not.toHaveBeenCalled()
  await expect(channel.deliver('orders', event())).rejects.toThrow('the application could not be reached')
  expect(onGone).toHaveBeenCalledTimes(1)
})

it('tells whether the application is well', async () => {
  const app = await openGrpcApp()
  const channel = open(app.port)
  expect([await channel.reachable(), await channel.healthy('')]).toEqual([true, true])
  app.feel(false)
  expect([await channel.reachable(), await channel.healthy('')]).toEqual([true, false])
})

it('names the component, and says what the application lacks', () => {
  const channel = open(1)
  expect(channel.addressOf({ name: 'orders', route: '/elsewhere' })).toBe('orders')
  expect(channel.refusal('orders', 12)).toMatch(/does not name orders .*\(UNIMPLEMENTED\)/)
})

it('hands over an event with its trace and the token of the application', async () => {
  const app = await openGrpcApp()
  const channel = open(app.port, { token: new Secret('for-the-application') })
  const traceparent = traceparentOf('a')
  expect(await channel.deliver('orders', event(undefined, { traceparent, 'aeg-delivery-count': '0' }))).toBeUndefined()
  const [given] = app.events
  expect(given).toMatchObject({
    name: 'orders',
    data: Buffer.from('{"id":"1"}'),
    metadata: { traceparent, 'aeg-delivery-count': '0' },
  })
  expect(given?.call.get('traceparent')).toEqual([traceparent])
  expect(given?.call.get('aeg-delivery-count')).toEqual([])
  expect(given?.call.get('dapr-api-token')).toEqual(['for-the-application'])
})

it('sends no token where there is none', async () => {
  const app = await openGrpcApp()
  await open(app.port).deliver('orders', event())
  expect(app.events[0]?.call.get('dapr-api-token')).toEqual([])
})

it.each([
  { concurrency: 'SEQUENTIAL', isParallel: false },
  { concurrency: 'PARALLEL', isParallel: true },
] as const)('gives what the application wants published, $concurrency', async ({ concurrency, isParallel }) => {
  const app = await openGrpcApp()
  app.answerWith(() => ({ to: ['a', 'b'], data: Buffer.from('1'), concurrency }))
  expect(await open(app.port).deliver('orders', event())).toEqual({
    to: ['a', 'b'],
    data: Buffer.from('1'),
    isParallel,
  })
})

it('says by which status an application refuses, and does not call one gone that listens', async () => {
  const app = await openGrpcApp()
  const onGone = vi.fn()
  const channel = open(app.port, { onGone })
  for (const answer of ['INTERNAL', 'UNAVAILABLE'] as const) {
    app.answerWith(() => answer)
    await expect(channel.deliver('orders', event())).rejects.toThrow(`the application answered ${answer}`)
  }
  expect(onGone).not.toHaveBeenCalled()
})

it('gives an event up when its time is over, be it before or after it was sent, and frees its slot', async () => {
  const app = await openGrpcApp()
  const channel = open(app.port, { maxConcurrency: 1 })
  app.answerWith((_event, index) => (index === 0 ? 'hang' : 'OK'))
  const [first, second] = [new AbortController(), new AbortController()]
  const sent = channel.deliver('orders', event(first.signal))
  await app.received(1)
  const waits = channel.deliver('orders', event(second.signal))
  second.abort()
  await expect(waits).rejects.toThrow('the application did not answer in time')
  first.abort()
  await expect(sent).rejects.toThrow('the application did not answer in time')
  await channel.deliver('orders', event())
  await expect(channel.deliver('orders', event(AbortSignal.abort()))).rejects.toThrow('did not answer in time')
  expect(app.events).toHaveLength(2)
})
