import { expect, it } from 'vitest'
import { deliveryHeaders } from '../../../src/delivery/send/delivery-request.ts'
import { eventOf } from '../../../src/model/events/event-text.ts'
import type { DeliveryAttributeMapping } from '../../../src/model/resources/destination.ts'

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
  const properties = { endpointUrl: 'https://a.example/hook', deliveryAttributeMappings: [mapping] }
  const headers = deliveryHeaders({
    ...{ form: 'single', deliveryCount: 0 },
    subscription: {
      ...{ id: '/s/app', scope: '/s', name: 'App', provisioningState: 'Succeeded', createdAt: 0 },
      properties: { destination: { endpointType: 'WebHook', properties } },
    },
    event: {
      schema: 'EventGridSchema',
      body: eventOf({ subject: 'orders/1', data: { total: 1.5, paid: false, empty: '', nothing: null } }),
    },
  })
  expect(headers.x).toBe(value)
})
