import { expect, it } from 'vitest'
import { topicName } from '../../src/metadata/fields/addresses.ts'

it.each([
  { url: 'https://x.example.com/topics/orders:publish', name: 'orders' },
  { url: 'https://127.0.0.1:4430/topics/orders/api/events', name: 'orders' },
  { url: 'https://shop.westeurope-1.eventgrid.azure.net/topics/orders:publish', name: 'orders' },
  { url: 'https://shop.westeurope-1.eventgrid.azure.net/api/events', name: 'shop' },
  { url: 'https://shop.eventgrid.azure.cn/', name: 'shop' },
  { url: 'https://shop.usgov-1.eventgrid.azure.us/x/topics/orders', name: 'shop' },
  { url: 'https://shop.myeventgrid.azure.net/', name: undefined },
  { url: 'https://shop.eventgrid.azure.com/', name: undefined },
  { url: 'https://shop.eventgrid.azure.net.example.com/', name: undefined },
  { url: 'https://eventgrid.azure.net/', name: undefined },
  { url: 'https://x.example.com/x/topics/orders', name: undefined },
])('of $url is $name', ({ url, name }) => {
  expect(topicName(new URL(url))).toBe(name)
})
