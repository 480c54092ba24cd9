import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { Binding, type EventHandler, type ReceivedEvent, routeEvents } from '../../src/index.ts'
import { captureLog } from '../support/captured-log.ts'
import { openPull } from '../support/open-pull.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

const binary = (id: string, data_base64: string, datacontenttype?: string) => ({
  specversion: '1.0',
  id,
  source: '/shop',
  type: 'order.scanned',
  ...(datacontenttype !== undefined && { datacontenttype }),
  data_base64,
})

/** Events in `data_base64`, by what `data` is of each. */
const samples = [
  { event: binary('bytes', 'AAECAw==', 'application/octet-stream'), data: Buffer.from([0, 1, 2, 3]) },
  { event: binary('no type', base64('{"a":1}')), data: Buffer.from('{"a":1}') },
  { event: binary('json', base64('{"a":1}'), 'application/json'), data: { a: 1 } },
  { event: binary('a suffix', base64('[1]'), 'application/vnd.shop+JSON; charset=utf-8'), data: [1] },
  { event: binary('text json', base64('\ufeff"x"'), 'text/json'), data: 'x' },
  { event: binary('null', base64('null'), 'application/json'), data: null },
  { event: binary('no json', base64('{'), 'application/json'), data: Buffer.from('{') },
  { event: binary('no utf-8', '/w==', 'application/json'), data: Buffer.from([255]) },
  { event: binary('jsonl', base64('1'), 'application/jsonl'), data: Buffer.from('1') },
  { event: binary('empty', '', 'application/json'), data: Buffer.alloc(0) },
]

async function openPush(metadata: Readonly<Record<string, string>>, onEvent?: EventHandler) {
  const emulator = await EventGridEmulator.start({ retrySchedule: [5], deadLetterDelay: 0 })
  const log = captureLog()
  const events: ReceivedEvent[] = []
  const take: EventHandler = (event) => void events.push(event)
  const binding = new Binding({ endpoints: emulator.endpoints, logger: log, onEvent: onEvent ?? take })
  onTestFinished(async () => {
    await binding.close()
    await emulator.close()
  })
  await emulator.connect(binding, { topic: 'orders', metadata })
  return { emulator, binding, events, log }
}

function expectSamples(events: readonly ReceivedEvent[]): void {
  for (const { event, data } of samples) {
    const received = events.find(({ cloudEvent }) => cloudEvent.id === event.id)
    expect(received?.cloudEvent, event.id).toEqual({ ...event, data })
    expect(Buffer.isBuffer(received?.cloudEvent.data), event.id).toBe(Buffer.isBuffer(data))
    // The bytes are those that were sent.
    expect(JSON.parse(String(received?.data)), event.id).not.toHaveProperty('data')
  }
}

it.each([
  { form: 'alone', metadata: {} },
  { form: 'in a batch', metadata: { maxEventsPerBatch: '100' } },
])('decodes data_base64 of events that are pushed $form', async ({ metadata }) => {
  const { emulator, binding, events } = await openPush(metadata)
  await binding.invoke(
    'create',
    samples.map(({ event }) => event),
  )
  await emulator.settled()
  expectSamples(events)
})

it('decodes data_base64 of events that are pulled', async () => {
  const { binding, byKey, events, publish } = await openPull()
  await publish(...samples.map(({ event }) => event))
  await binding.init(byKey)
  await vi.waitFor(() => expect(events).toHaveLength(samples.length), { timeout: 10_000 })
  expectSamples(events)
})

it('validates the decoded data by the schema of a route', async () => {
  const seen: unknown[] = []
  const route = routeEvents().on('order.scanned', z.object({ a: z.number() }), ({ cloudEvent }) => {
    seen.push(cloudEvent.data)
  })
  const { emulator, binding } = await openPush({}, route)
  await binding.invoke('create', binary('json', base64('{"a":1}'), 'application/json'))
  await emulator.settled()
  expect(seen).toEqual([{ a: 1 }])
})

it('publishes an event again as a handler got it, without the decoded data', async () => {
  const received = new Map<string, string[]>()
  const forward: EventHandler = async ({ cloudEvent, data }) => {
    const before = received.get(cloudEvent.id)
    if (before) return void before.push(String(data))
    received.set(cloudEvent.id, [String(data)])
    await binding.invoke('create', cloudEvent)
  }
  const { emulator, binding, log } = await openPush({}, forward)
  for (const { event } of samples) await binding.invoke('create', event)
  await emulator.settled()
  expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([])
  for (const { event } of samples) {
    const [first, second] = received.get(event.id) ?? []
    expect(JSON.parse(String(first)), event.id).not.toHaveProperty('data')
    expect(second).toBe(first)
  }
})
