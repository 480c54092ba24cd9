import { expect, it } from 'vitest'
import { readDeadLetter } from '../../../src/sidecar/replay/dead-letters.ts'
import { convertEvent } from '../../../src/sidecar/replay/target-topic.ts'
import { eventGridLetter, letter } from './open-replay.ts'

const source = 'https://topic.example.com/api/events'

const inEventGrid = { id: '1', eventType: 'order.placed', subject: 'orders/1', eventTime: '2026-01-05T10:00:00Z' }
const inCloudEvents = {
  ...{ specversion: '1.0', id: '1', source: eventGridLetter('1').topic, type: 'order.placed' },
  ...{ subject: 'orders/1', time: '2026-01-05T10:00:00Z', data: { order: 1 } },
}

it.each<{ readonly name: string; readonly given: object; readonly becomes: unknown }>([
  { name: 'a CloudEvent', given: letter('1'), becomes: { ...inEventGrid, data: { order: 1 } } },
  {
    name: 'one without subject, time and data: as Event Grid writes an empty subject, at its time of publishing',
    given: letter('1', { subject: undefined, time: undefined, data: undefined }),
    becomes: { ...inEventGrid, subject: '', eventTime: '2026-01-05T10:00:01Z' },
  },
  {
    name: 'its trace, and attributes that are null',
    given: letter('1', {
      traceparent: '00-1-2-01',
      tracestate: 'a=b',
      myext: null,
      datacontenttype: 'application/json',
    }),
    becomes: { ...inEventGrid, data: { order: 1 } },
  },
  {
    name: 'text',
    given: letter('1', { data: 'x', datacontenttype: 'text/plain' }),
    becomes: { ...inEventGrid, data: 'x' },
  },
  ...['Text/Plain ; charset=utf-8', 'application/json;a=b', 'application/vnd.shop.v1+json', 'APPLICATION/JSON'].map(
    (datacontenttype) => ({
      name: datacontenttype,
      given: letter('1', { datacontenttype }),
      becomes: { ...inEventGrid, data: { order: 1 } },
    }),
  ),
  ...['text/plainer', 'x-text/plain', 'application/jsonl', 'application/+json'].map((datacontenttype) => ({
    name: datacontenttype,
    given: letter('1', { datacontenttype }),
    becomes: /holds JSON and text/,
  })),
  {
    name: 'data that is null',
    given: letter('1', { data: null, subject: null, datacontenttype: null }),
    becomes: { ...inEventGrid, subject: '', data: null },
  },
  { name: 'binary data', given: letter('1', { data_base64: 'AA==' }), becomes: /no place for data_base64/ },
  { name: 'extension attributes', given: letter('1', { tenant: 'a', zone: 1 }), becomes: /no place for tenant, zone/ },
  { name: 'XML', given: letter('1', { datacontenttype: 'application/xml' }), becomes: /application\/xml/ },
  { name: 'no time', given: { ...letter('1'), time: undefined, publishtime: undefined }, becomes: /needs a time/ },
  {
    name: 'an Event Grid event, without its topic',
    given: eventGridLetter('1'),
    becomes: { ...inCloudEvents, source },
  },
  {
    name: 'one with an empty subject',
    given: eventGridLetter('1', { subject: '' }),
    becomes: { ...inCloudEvents, source, subject: undefined },
  },
  { name: 'one without a time', given: eventGridLetter('1', { eventTime: 7 }), becomes: /its eventTime is missing/ },
])('has another form of $name, or says why not', ({ given, becomes }) => {
  const dead = readDeadLetter(JSON.parse(JSON.stringify(given)))
  if (typeof dead === 'string') throw new Error(dead)
  const converted = convertEvent(dead, source)
  if (becomes instanceof RegExp) expect(converted).toMatch(becomes)
  else expect(converted).toEqual(becomes)
})
