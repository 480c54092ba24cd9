import { expect, it } from 'vitest'
import { topicUrl } from '../../src/core/endpoints.ts'

const topics = 'https://127.0.0.1:4430'
const azure = 'westeurope-1.eventgrid.azure.net'

it.each([
  { name: 'with its path', url: `https://orders.${azure}/api/events`, at: `${topics}/topics/orders/api/events` },
  { name: 'without a path', url: `https://orders.${azure}`, at: `${topics}/topics/orders/api/events` },
  // The same host, whose topic a rehearsal must not reach.
  {
    name: 'with a dot at the end',
    url: `https://orders.${azure}./api/events`,
    at: `${topics}/topics/orders/api/events`,
  },
  { name: 'elsewhere', url: 'https://topic.example.com/x', at: 'https://topic.example.com/x' },
  {
    name: 'of a namespace',
    url: `https://shop.${azure}/topics/orders:publish`,
    at: `${topics}/namespaces/shop/topics/orders:publish`,
  },
])('knows where a topic of Azure is at an emulator: $name', ({ url, at }) => {
  expect(topicUrl(url, { topics })).toBe(at)
})
