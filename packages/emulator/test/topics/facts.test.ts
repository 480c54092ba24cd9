import { describe, expect, it } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { ManualClock } from '../../src/index.ts'
import { cloudEvent, gridEvent, openEventGrid, publish } from '../event-grid.ts'

describe('an Event Grid event', () => {
  it('is stamped with topic, dataVersion and metadataVersion where it has none, and may name its topic', async () => {
    const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' } })
    await grid.subscribe({ eventDeliverySchema: 'EventGridSchema' })
    const { dataVersion: _left, data: _out, ...bare } = gridEvent()
    expect((await publish(grid, [bare])).status).toBe(200)
    expect(
      (await publish(grid, [gridEvent({ topic: grid.topic.id.toUpperCase(), metadataVersion: '1' })])).status,
    ).toBe(200)
    await grid.emulator.idle()
    const [first] = grid.subscriber.deliveries().map(({ body }) => JSON.parse(body)[0])
    expect(first).toEqual({ ...bare, topic: grid.topic.id, dataVersion: '', metadataVersion: '1' })
  })

  it('keeps the seven digits of its time, and the letter case of its source', async () => {
    const grid = await openEventGrid()
    const source = `${grid.topic.id.replace(/Microsoft.*/, 'MICROSOFT.DEVICES')}/IOTHUBS/HUB`.toUpperCase()
    await grid.subscribe({}, { scope: source.toLowerCase() })
    grid.emulator.raise(source, [gridEvent({ topic: source, eventType: 'Microsoft.Devices.DeviceCreated' })])
    await grid.emulator.idle()
    expect(JSON.parse(grid.subscriber.deliveries()[0]?.body ?? '')).toMatchObject({
      source,
      time: '2026-01-05T14:07:09.1234567Z',
    })
  })
})

it('an event of a custom schema without id and time gets both made up', async () => {
  const grid = await openEventGrid({ topic: { inputSchema: 'CustomEventSchema' } })
  await grid.subscribe({ eventDeliverySchema: 'EventGridSchema' })
  const event = { subject: 's', eventType: 'T' }
  expect((await publish(grid, [event], { headers: { 'content-type': 'application/json' } })).status).toBe(200)
  await grid.emulator.idle()
  expect(JSON.parse(grid.subscriber.deliveries()[0]?.body ?? '')).toEqual([
    {
      ...event,
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      topic: grid.topic.id,
      eventTime: '2026-01-05T14:07:09.0000000Z',
      dataVersion: '',
      metadataVersion: '1',
      data: event,
    },
  ])
})

describe('a topic that is throttled', () => {
  const open = async () => {
    const clock = new ManualClock()
    const emulator = await startEmulator({ clock, throttling: true })
    const { httpEndpoint, key } = emulator.topic()
    const send = (count: number, letters = 0, letter = 'x') =>
      fetch(httpEndpoint, {
        method: 'POST',
        headers: { 'aeg-sas-key': key, 'content-type': 'application/cloudevents-batch+json' },
        body: JSON.stringify(Array.from({ length: count }, () => cloudEvent({ data: letter.repeat(letters) }))),
      }).then(({ status, headers }) => ({ status, retryAfter: headers.get('retry-after') }))
    return { clock, send }
  }
  const taken = { status: 200, retryAfter: null }
  const refused = { status: 429, retryAfter: '1' }

  it('takes 5,000 events a second', async () => {
    const { clock, send } = await open()
    expect(await send(5000)).toEqual(taken)
    expect(await send(1)).toEqual(refused)
    await clock.advance(1000)
    expect(await send(1)).toEqual(taken)
  })

  it('takes 5 MB a second', async () => {
    const { send } = await open()
    for (let count = 0; count < 5; count++) expect(await send(1, 1_000_000)).toEqual(taken)
    expect(await send(1, 1_000_000)).toEqual(refused)
  })

  it('counts an event once for each 64 KB begun', async () => {
    const { send } = await open()
    expect(await send(20, 65_600)).toEqual(taken)
    expect(await send(4961)).toEqual(refused)
    expect(await send(4960)).toEqual(taken)
  })

  it('counts the bytes of an event, not its characters', async () => {
    const { send } = await open()
    expect(await send(20, 32_800, 'ж')).toEqual(taken)
    expect(await send(4961)).toEqual(refused)
    expect(await send(4960)).toEqual(taken)
  })
})
