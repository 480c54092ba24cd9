import { describe, expect, it } from 'vitest'
import { eventMetadata, readEvent } from '../../src/dispatch/events.ts'
import { refuseRepresentation } from '../../src/listener/request.ts'

const cloudEvent = { specversion: '1.0', id: '1', source: 's', type: 't' }
const time = '2026-11-21T10:00:00Z'
const eventGridEvent = { id: '1', topic: '/t', subject: 's', eventType: 'T', eventTime: time, data: null }

describe('readEvent', () => {
  it.each([
    { name: 'the required attributes', event: cloudEvent },
    { name: 'extensions and data of any kind', event: { ...cloudEvent, ext: 5, flag: true, data: [null] } },
    { name: 'binary data', event: { ...cloudEvent, data_base64: 'AAEC' } },
    { name: 'a later minor version', event: { ...cloudEvent, specversion: '1.1' } },
    { name: 'seven fraction digits', event: { ...cloudEvent, time: '2026-11-21T10:00:00.1234567Z' } },
    { name: 'names of the other schema beside its own', event: { ...cloudEvent, eventType: 'x', topic: 'y' } },
  ])('hands a CloudEvent on as it is, with $name', ({ event }) => {
    expect(readEvent(event)).toEqual({ cloudEvent: event, contentType: 'application/cloudevents+json' })
  })

  it.each([
    { name: 'an optional attribute', nulls: { subject: null, time: null, data_base64: null } },
    { name: 'an extension', nulls: { tenant: null, constructor: null } },
    { name: 'an extension called __proto__', nulls: JSON.parse('{"__proto__":null}') },
  ])('takes $name that is null as unset, but not data', ({ nulls }) => {
    const reading = readEvent({ ...nulls, ...cloudEvent, kept: false, data: null })
    expect(reading).toMatchObject({ cloudEvent: { ...cloudEvent, kept: false, data: null } })
    const kept = Object.keys('cloudEvent' in reading ? reading.cloudEvent : {})
    expect(kept).toEqual([...Object.keys(cloudEvent), 'kept', 'data'])
  })

  it.each([
    { name: 'an empty subject is left out', event: { ...eventGridEvent, subject: '' }, attributes: { data: null } },
    { name: 'a subject stays', event: eventGridEvent, attributes: { subject: 's', data: null } },
    { name: 'absent data stays so', event: { ...eventGridEvent, data: undefined }, attributes: { subject: 's' } },
    {
      name: 'both versions and unknown fields vanish',
      event: { ...eventGridEvent, dataVersion: '2', metadataVersion: '1', more: 1 },
      attributes: { subject: 's', data: null },
    },
  ])('converts an Event Grid event: $name', ({ event, attributes }) => {
    const common = { specversion: '1.0', id: '1', source: '/t', type: 'T', time }
    expect(readEvent(event)).toEqual({ cloudEvent: { ...common, ...attributes }, contentType: 'application/json' })
  })

  const each = (names: readonly string[], values: readonly unknown[], event: object) =>
    names.flatMap((name) => values.map((value) => ({ name, value, event: { ...event, [name]: value } })))

  it.each([
    ...each(['specversion'], [undefined, null, 1, '', '1', '2.0'], cloudEvent),
    ...each(['id', 'source', 'type'], [undefined, null, '', 7], cloudEvent),
    ...each(['subject', 'time', 'datacontenttype', 'dataschema', 'data_base64'], [7, {}], cloudEvent),
    ...each(['id', 'topic', 'eventType'], [undefined, null, '', 7], eventGridEvent),
    ...each(['subject', 'eventTime'], [undefined, null, 7], eventGridEvent),
  ])('says that $name is wrong where it is $value', ({ name, event }) =>
    expect(readEvent(event)).toEqual({ invalid: expect.stringContaining(`its ${name} is `) }),
  )

  it.each([
    { value: null, why: /not an object/ },
    { value: [], why: /not an object/ },
    { value: 'x', why: /not an object/ },
    { value: { id: '1' }, why: /neither specversion nor eventType/ },
  ])('says why $value is no event', ({ value, why }) =>
    expect(readEvent(value)).toEqual({ invalid: expect.stringMatching(why) }),
  )
})

describe('eventMetadata', () => {
  it.each([
    ...['authorization', 'proxy-authorization', 'cookie', 'x-eventgrid-binding-token', 'aeg-sas-key', 'aeg-sas-token'],
    ...['x-ms-client-principal', 'x-ms-token-aad-access-token', 'x-forwarded-access-token'],
  ])('never holds %s', (name) => expect(eventMetadata({ [name]: 'x' }, [name])).toEqual({}))

  it.each([
    ...['referer', 'x-original-url', 'x-original-uri', 'x-forwarded-uri', 'x-waws-unencoded-url', 'x-rewrite-url'],
    ...['x-envoy-original-path', 'partition-key', 'session'],
  ])('holds %s where the event subscription is known to declare it', (name) => {
    expect(eventMetadata({ [name]: 'x' }, undefined)).toEqual({})
    expect(eventMetadata({ [name]: 'x' }, [name])).toEqual({ [name]: 'x' })
    expect(eventMetadata({ [name]: 'x' }, [])).toEqual({})
  })

  it.each(['x-correlation-id', 'x-request-id', 'from', 'date', 'range', 'x-azure-team', 'x-goog-team', 'cf-team'])(
    'holds %s, which an event subscription may declare, where that is not known',
    (name) => {
      expect(eventMetadata({ [name]: 'x' }, undefined)).toEqual({ [name]: 'x' })
      expect(eventMetadata({ [name]: 'x' }, [])).toEqual({})
    },
  )

  it('holds a header called __proto__ to be nothing', () => {
    const metadata = eventMetadata(JSON.parse('{"__proto__":"x","a":"b"}'), undefined)
    expect(metadata).toEqual({ a: 'b' })
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype)
  })
})

it.each([
  { contentType: 'application/json', fine: true },
  { contentType: 'application/json; charset=utf-8; charset="UTF-8"', fine: true },
  { contentType: 'application/json; charset=utf-8; charset=utf-16', fine: false },
  { contentType: 'application/json;', fine: true },
  { contentType: 'application/json; profile=x', fine: true },
  { contentType: '+json', fine: false },
  { contentType: 'application/jsonx', fine: false },
  { contentType: ';charset=utf-8', fine: false },
])('judges the content type $contentType', ({ contentType, fine }) => {
  expect(refuseRepresentation({ 'content-type': contentType }) === undefined).toBe(fine)
})
