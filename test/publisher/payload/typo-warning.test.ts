import { describe, expect, it } from 'vitest'
import { openTopic } from '../open-publisher.ts'
import { event } from '../scripted-topic.ts'

async function openLogged() {
  const { publisher, log } = await openTopic()
  const warnings = () => log.lines.flatMap(({ level, message }) => (level === 'warn' ? [message] : []))
  return { publisher, warnings }
}

it('warns once of each misspelt name in the metadata of a call, with the name that was meant', async () => {
  const { publisher, warnings } = await openLogged()
  const metadata = { SubJet: 'orders/1', 'trace-parent': 'x', Type: 'order.placed', tenant: 'blue', uid: '1' }
  for (const data of [1, 2]) await publisher.publish({ data }, { metadata })
  expect(warnings()).toEqual([
    'create does not know "SubJet" in the metadata of a call: did you mean subject?',
    'create does not know "trace-parent" in the metadata of a call: did you mean traceparent?',
  ])
})

it('warns of a hundred names at most', async () => {
  const { publisher, warnings } = await openLogged()
  const names = Array.from({ length: 120 }, (_, index) => `subject${String.fromCharCode(0x4e00 + index)}`)
  await publisher.publish({ data: 1 }, { metadata: Object.fromEntries(names.map((name) => [name, 'x'])) })
  expect(warnings()).toHaveLength(100)
})

it('does not warn where the payload is a whole event, which takes no attributes of the metadata', async () => {
  const { publisher, warnings } = await openLogged()
  await publisher.publish(event('1'), { metadata: { subjet: 'orders/1' } })
  expect(warnings()).toEqual([])
})

describe('an array that does not begin with an event', () => {
  const grid = { id: '1', subject: 's', eventType: 't', eventTime: '2026-03-11T08:00:00Z', data: {} }

  it.each([
    { name: 'a CloudEvent behind null', payload: [null, event('1')], fields: { index: 1, first: 'null' } },
    {
      name: 'one behind an object',
      payload: [{}, 1, event('1'), event('2')],
      fields: { index: 2, first: 'an object' },
    },
    { name: 'one that is not whole', payload: [[], { specversion: '0.3' }], fields: { index: 1, first: 'an array' } },
    { name: 'one in a text', payload: JSON.stringify(['', event('1')]), fields: { index: 1, first: 'a string' } },
    { name: 'an Event Grid event', payload: [{ order: 1 }, grid], fields: { schema: 'EventGridSchema', index: 1 } },
  ])('is data, with one warning: $name', async ({ payload, fields }) => {
    const { topic, publisher, log } = await openTopic()
    for (const _ of [1, 2]) await publisher.publish(payload)
    const data = typeof payload === 'string' ? JSON.parse(payload) : payload
    expect(topic.events()).toMatchObject([{ data }, { data }])
    const warnings = log.lines.filter(({ level }) => level === 'warn')
    expect(warnings).toMatchObject([{ message: expect.stringContaining('An array of events begins with one'), fields }])
  })

  it.each([
    { name: 'no event', payload: [1, { order: 1 }, [event('1')]] },
    { name: 'records with the member eventType', payload: [{ at: 1 }, { eventType: 'click' }] },
    { name: 'an object that holds events', payload: { list: [1, event('1')] } },
    { name: 'events', payload: [event('1'), event('2')] },
  ])('is no matter for a warning: $name', async ({ payload }) => {
    const { publisher, warnings } = await openLogged()
    await publisher.publish(payload)
    expect(warnings()).toEqual([])
  })
})
