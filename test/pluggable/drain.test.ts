import { status } from '@grpc/grpc-js'
import { expect, it, vi } from 'vitest'
import { openComponent } from './open-component.ts'

async function openBusy() {
  const open = await openComponent()
  const { host, fields, emulator, publish } = open
  await host.init('input', 'orders', fields)
  await host.init('output', 'orders', fields)
  const reading = await host.read('orders')
  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()
  await publish('1')
  return { ...open, reading, event: await reading.next() }
}

it('waits for the acknowledgement of what was sent, and ends the stream then', async () => {
  const { pluggable, reading, event, emulator } = await openBusy()
  const closed = pluggable.close()
  expect(pluggable.draining).toBe(true)
  reading.acknowledge(event)
  await closed
  await reading.ended
  expect(emulator.records.deliveries.all().map(({ status }) => status)).toEqual([200])
})

it('takes nothing new meanwhile', async () => {
  const { pluggable, reading, event, emulator, publish } = await openBusy()
  const closed = pluggable.close()
  await publish('2')
  await emulator.records.deliveries.waitFor(({ eventIds, status }) => eventIds[0] === '2' && status === 503)
  reading.acknowledge(event)
  await closed
  expect(reading.events).toHaveLength(1)
})

it('lets the application publish while it handles what was sent', async () => {
  const { pluggable, host, reading, event } = await openBusy()
  const closed = pluggable.close()
  const answer = await host.invoke('orders', { operation: 'create', data: Buffer.from('{"a":1}') })
  expect(answer.metadata).toMatchObject({ count: '1' })
  reading.acknowledge(event)
  await closed
})

it('does not wait for events whose stream has ended', async () => {
  const { pluggable, reading, emulator } = await openBusy()
  const closed = pluggable.close()
  reading.cancel()
  await closed
  expect(emulator.records.deliveries.last?.status).not.toBe(200)
})

it('refuses Init and Invoke once it is over with a side', async () => {
  const { pluggable, host, fields, reading, event } = await openBusy()
  const closed = pluggable.close()
  await expect(host.init('input', 'orders', { ...fields, maxConcurrency: '3' })).rejects.toMatchObject({
    code: status.UNAVAILABLE,
  })
  reading.acknowledge(event)
  await closed
  await vi.waitFor(() => expect(host.ping('input')).rejects.toMatchObject({ code: status.UNAVAILABLE }))
})
