import { expect, it } from 'vitest'
import {
  batchingOf,
  bodyOf,
  deliveryHeaders,
  secretHeadersOf,
  shownAnswer,
  shownHeaders,
  shownUrl,
} from '../../../src/delivery/send/delivery-request.ts'
import { eventOf } from '../../../src/model/events/event-text.ts'
import type { DeliveryAttributeMapping } from '../../../src/model/resources/destination.ts'
import type { DeliverySchema, EventSubscription } from '../../../src/model/resources/event-subscription.ts'

const endpointUrl = 'https://a.example/hook'

const subscriptionOf = (
  deliveryAttributeMappings: readonly DeliveryAttributeMapping[],
  eventDeliverySchema?: DeliverySchema,
): EventSubscription => ({
  ...{ id: '/s/app', scope: '/s', name: 'App', provisioningState: 'Succeeded', createdAt: 0 },
  properties: {
    destination: { endpointType: 'WebHook', properties: { endpointUrl, deliveryAttributeMappings } },
    ...(eventDeliverySchema && { eventDeliverySchema }),
  },
})

const headersOf = (
  {
    mappings = [],
    schema,
    event = {},
  }: { mappings?: readonly DeliveryAttributeMapping[]; schema?: DeliverySchema; event?: object },
  more: { form?: 'single' | 'batch'; bearerToken?: string } = {},
) =>
  deliveryHeaders({
    ...{ subscription: subscriptionOf(mappings, schema), form: 'single', deliveryCount: 3, ...more },
    event: {
      schema: schema === 'CloudEventSchemaV1_0' ? schema : 'EventGridSchema',
      body: eventOf({ dataVersion: '2.1', ...event }),
    },
  })

it('an Event Grid event names its data version and no origin; without a schema that is the one', () => {
  const expected = {
    'content-type': 'application/json; charset=utf-8',
    'accept-encoding': 'gzip, deflate',
    'aeg-subscription-name': 'APP',
    'aeg-delivery-count': '3',
    'aeg-data-version': '2.1',
    'aeg-metadata-version': '1',
    'aeg-event-type': 'Notification',
  }
  expect(headersOf({})).toEqual(expected)
  expect(headersOf({}, { form: 'batch' })).toEqual(expected)
})

it('a CloudEvent names the origin, and the form in its media type; a token goes along', () => {
  const schema = 'CloudEventSchemaV1_0'
  expect(headersOf({ schema }, { bearerToken: 'x' })).toMatchObject({
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'aeg-data-version': '',
    origin: 'eventgrid.azure.net',
    authorization: 'Bearer x',
  })
  expect(headersOf({ schema }, { form: 'batch' })['content-type']).toBe(
    'application/cloudevents-batch+json; charset=utf-8',
  )
})

const dynamic = (sourceField: string): DeliveryAttributeMapping => ({
  name: 'x',
  type: 'Dynamic',
  properties: { sourceField },
})
const fixed = (value: string): DeliveryAttributeMapping => ({ name: 'x', type: 'Static', properties: { value } })

it.each<{ what: string; mapping: DeliveryAttributeMapping; value: string | undefined }>([
  { what: 'a text', mapping: dynamic('subject'), value: 'orders/1' },
  { what: 'a field whose first name is in another letter case', mapping: dynamic('Data.total'), value: '1.5' },
  { what: 'a number', mapping: dynamic('data.total'), value: '1.5' },
  { what: 'a boolean', mapping: dynamic('data.paid'), value: 'false' },
  { what: 'an empty text', mapping: dynamic('data.empty'), value: '' },
  { what: 'null', mapping: dynamic('data.nothing'), value: undefined },
  { what: 'an object', mapping: dynamic('data'), value: undefined },
  { what: 'a field that is not there', mapping: dynamic('data.more.than'), value: undefined },
  { what: 'a fixed text', mapping: fixed('as it is'), value: 'as it is' },
  { what: '4,096 bytes', mapping: fixed('x'.repeat(4_096)), value: 'x'.repeat(4_096) },
  { what: '4,097 bytes', mapping: fixed('x'.repeat(4_097)), value: undefined },
  { what: 'a tab and Latin letters', mapping: fixed('\tcafé'), value: '\tcafé' },
  { what: 'what no header holds', mapping: fixed('a\nb'), value: undefined },
  { what: 'a sign beyond Latin', mapping: fixed('a€'), value: undefined },
])('a delivery attribute may be $what', ({ mapping, value }) => {
  const data = { total: 1.5, paid: false, empty: '', nothing: null }
  expect(headersOf({ mappings: [mapping], event: { subject: 'orders/1', data } }).x).toBe(value)
})

it('a batch is an array, and so is an Event Grid event alone', () => {
  expect(bodyOf('CloudEventSchemaV1_0', 'single', ['{}'])).toBe('{}')
  expect(bodyOf('CloudEventSchemaV1_0', 'batch', ['{}'])).toBe('[{}]')
  expect(bodyOf('EventGridSchema', 'single', ['{}'])).toBe('[{}]')
  expect(bodyOf('EventGridSchema', 'batch', ['1', '2'])).toBe('[1,2]')
})

it('batching begins with two events, of 64 KiB by default', () => {
  expect(batchingOf({ endpointUrl })).toBeUndefined()
  expect(batchingOf({ endpointUrl, maxEventsPerBatch: 1 })).toBeUndefined()
  expect(batchingOf({ endpointUrl, maxEventsPerBatch: 2 })).toEqual({ maxEvents: 2, preferredBytes: 65_536 })
})

it('records hide the token, and static attributes that are secret', () => {
  const secret: DeliveryAttributeMapping = {
    name: 'X-Secret',
    type: 'Static',
    properties: { value: 'v', isSecret: true },
  }
  const names = secretHeadersOf({ endpointUrl, deliveryAttributeMappings: [secret, fixed('v'), dynamic('subject')] })
  expect([...names]).toEqual(['authorization', 'x-secret'])
  expect([...secretHeadersOf({ endpointUrl })]).toEqual(['authorization'])
  expect(shownHeaders({ Authorization: 'a', 'X-Secret': 'b', x: 'c' }, names)).toEqual({
    Authorization: '(redacted)',
    'X-Secret': '(redacted)',
    x: 'c',
  })
})

it.each([
  ['https://user:pass@a.example/hook', 'https://a.example/hook'],
  ['https://a.example/hook?code=1', 'https://a.example/hook?(redacted)'],
])('records show %s as %s', (url, shown) => expect(shownUrl(new URL(url))).toBe(shown))

it('records of an answer hide cookies, and what it repeats of the query', () => {
  const headers = { 'set-cookie': 'c=1', location: '/?code=s3cret' }
  expect(shownAnswer({ headers, body: 'no s3cret here' }, [new URL('https://a.example/?code=s3cret')])).toEqual({
    responseHeaders: { 'set-cookie': '(redacted)', location: '/?code=(redacted)' },
    responseBody: 'no (redacted) here',
  })
  expect(shownAnswer({}, [])).toEqual({})
})
