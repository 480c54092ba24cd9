import { describe, expect, it } from 'vitest'
import { openTopic } from './open-publisher.ts'
import { event } from './scripted-topic.ts'

const grid = { id: '1', subject: 's', eventType: 't', eventTime: '2026-03-11T08:00:00Z', data: {} }

async function openLogged() {
  const { topic, publisher, log } = await openTopic()
  return { topic, publisher, warnings: () => log.lines.filter(({ level }) => level === 'warn') }
}

describe('a name in the metadata of a call that does nothing', () => {
  it.each([
    { name: 'subjet' },
    { name: 'eventType' },
    { name: 'Topic' },
    { name: 'ttlInSeconds' },
    { name: 'datacontenttype' },
  ])('is a warning: $name', async ({ name }) => {
    const { publisher, warnings } = await openLogged()
    for (const data of [1, 2]) await publisher.publish({ data }, { metadata: { [name]: 'x' } })
    expect(warnings()).toMatchObject([{ fields: { name, fix: expect.stringContaining('create knows type, source') } }])
  })

  it.each(['type', 'Source', 'subject', 'id', 'time', 'dataschema', 'subjet'])(
    'is a warning: %s beside a whole event, which is published unchanged',
    async (name) => {
      const { topic, publisher, warnings } = await openLogged()
      for (const payload of [event('1'), [grid]]) await publisher.publish(payload, { metadata: { [name]: 'x' } })
      expect(topic.events()).toEqual([event('1'), grid])
      expect(warnings()).toMatchObject([{ fields: { name, fix: expect.stringContaining('published unchanged') } }])
    },
  )

  it('is none of the trace, and none that is empty', async () => {
    const { publisher, warnings } = await openLogged()
    const metadata = { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01`, tracestate: 'a=1', baggage: 'a=1' }
    for (const payload of [{ order: 1 }, event('1')]) await publisher.publish(payload, { metadata })
    await publisher.publish({ order: 1 }, { metadata: { type: 'order.placed', tenant: '' } })
    expect(warnings()).toEqual([])
  })

  it('is none of a trace that a runtime adds beside that of the caller: the last one goes into the event', async () => {
    const { topic, publisher, warnings } = await openLogged()
    const [callers, runtimes] = ['1', '2'].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`)
    const metadata = { Traceparent: callers ?? '', traceparent: runtimes ?? '' }
    for (const payload of [event('1'), { order: 1 }]) await publisher.publish(payload, { metadata })
    expect(topic.events()).toMatchObject([{ traceparent: runtimes }, { traceparent: runtimes }])
    expect(warnings()).toEqual([])
  })

  it('fills no log, though a caller invents one for each call', async () => {
    const { publisher, warnings } = await openLogged()
    const names = Array.from({ length: 120 }, (_, index) => `subject${String.fromCharCode(0x4e00 + index)}`)
    await publisher.publish({ data: 1 }, { metadata: Object.fromEntries(names.map((name) => [name, 'x'])) })
    expect(warnings()).toHaveLength(33)
  })
})

describe('what looks like an event is data, with one warning:', () => {
  const like = { type: 'order.placed', source: '/shop', data: { order: 1 } }
  it.each([
    { name: 'a CloudEvent without specversion', payload: like, fields: {} },
    { name: 'one in text', payload: JSON.stringify(like), fields: {} },
    { name: 'one in bytes', payload: Buffer.from(JSON.stringify(like)), fields: {} },
    { name: 'an array of those', payload: [like, like], fields: { index: 0 } },
    { name: 'one behind something else', payload: [1, like], fields: { index: 1 } },
    { name: 'another case', payload: { SpecVersion: '1.0', Id: '1', Source: '/s', Type: 't' }, fields: {} },
    { name: 'specVersion', payload: { specVersion: '1.0', id: '1' }, fields: {} },
    { name: 'an Event Grid event in another case', payload: { EventType: 't', Subject: 's' }, fields: {} },
  ])('$name', async ({ payload, fields }) => {
    const { topic, publisher, warnings } = await openLogged()
    for (const _ of [1, 2]) await publisher.publish(payload)
    const data = typeof payload === 'string' || Buffer.isBuffer(payload) ? JSON.parse(String(payload)) : payload
    expect(topic.events()).toMatchObject([{ data }, { data }])
    expect(warnings()).toMatchObject([{ message: expect.stringContaining('specversion'), fields }])
  })

  it.each([
    { name: 'a CloudEvent behind null', payload: [null, event('1')], fields: { index: 1, first: 'null' } },
    { name: 'one behind objects', payload: [{}, 1, event('1'), event('2')], fields: { index: 2, first: 'an object' } },
    { name: 'one that is not whole', payload: [[], { specversion: '0.3' }], fields: { index: 1, first: 'an array' } },
    { name: 'one in a text', payload: JSON.stringify(['', event('1')]), fields: { index: 1, first: 'a string' } },
    { name: 'an Event Grid event', payload: [{ order: 1 }, grid], fields: { index: 1, first: 'an object' } },
  ])('$name', async ({ payload, fields }) => {
    const { topic, publisher, warnings } = await openLogged()
    for (const _ of [1, 2]) await publisher.publish(payload)
    const data = typeof payload === 'string' ? JSON.parse(payload) : payload
    expect(topic.events()).toMatchObject([{ data }, { data }])
    expect(warnings()).toMatchObject([
      { message: expect.stringContaining('An array of events begins with one'), fields },
    ])
  })
})

it.each([
  { name: 'no event', payload: [1, { order: 1 }, [event('1')]] },
  { name: 'an object with the member eventType', payload: { eventType: 'refund', amount: 5 } },
  { name: 'an object with a type', payload: { type: 'refund', amount: 5 } },
  { name: 'a source that is no text', payload: { type: 'refund', source: { id: 1 } } },
  { name: 'records with the member eventType', payload: [{ at: 1 }, { eventType: 'click' }] },
  { name: 'an array that begins with such a record', payload: [{ eventType: 'click' }, { at: 1 }] },
  { name: 'an object that holds events', payload: { list: [1, event('1')] } },
])('is data, without a warning: $name', async ({ payload }) => {
  const { topic, publisher, warnings } = await openLogged()
  await publisher.publish(payload)
  expect(topic.events()).toMatchObject([{ data: payload }])
  expect(warnings()).toEqual([])
})

it('does not warn of events', async () => {
  const { publisher, warnings } = await openLogged()
  await publisher.publish([event('1'), event('2')])
  await publisher.publish(grid)
  expect(warnings()).toEqual([])
})
