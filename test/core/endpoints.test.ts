import { expect, it } from 'vitest'
import { topicUrl } from '../../src/core/endpoints.ts'

it('knows where a topic of Azure is at an emulator', () => {
  const topics = 'https://127.0.0.1:4430'
  expect(topicUrl('https://orders.westeurope-1.eventgrid.azure.net/api/events', { topics })).toBe(
    `${topics}/topics/orders/api/events`,
  )
  expect(topicUrl('https://orders.westeurope-1.eventgrid.azure.net', { topics })).toBe(
    `${topics}/topics/orders/api/events`,
  )
  // A dot at the end names the same host, whose topic a rehearsal must not reach.
  expect(topicUrl('https://orders.westeurope-1.eventgrid.azure.net./api/events', { topics })).toBe(
    `${topics}/topics/orders/api/events`,
  )
  expect(topicUrl('https://topic.example.com/x', { topics })).toBe('https://topic.example.com/x')
  expect(topicUrl('https://shop.westeurope-1.eventgrid.azure.net/topics/orders:publish', { topics })).toBe(
    `${topics}/namespaces/shop/topics/orders:publish`,
  )
})
