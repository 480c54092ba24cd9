/** How a binding author tests a handler without an Azure account: the real binding, on an emulator in the same process. */
import { Binding } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { confirmOrder } from './confirm-order.ts'

let emulator: EventGridEmulator
let binding: Binding
let articles: string[]
const confirmed = new Set<string>()

beforeEach(async () => {
  // The second try comes after 5 ms instead of Event Grid's 10 s.
  emulator = await EventGridEmulator.start({ retrySchedule: [5] })
  confirmed.clear()
  articles = ['lamp']
  const stock = {
    async take(article: string) {
      const there = articles.includes(article)
      articles = there ? articles.filter((each) => each !== article) : [...articles, article] // It is ordered anew.
      return there
    },
  }
  binding = new Binding({ endpoints: emulator.endpoints, onEvent: confirmOrder(confirmed, stock) })
  await emulator.connect(binding, { topic: 'orders' })
})

afterEach(async () => {
  await binding.close()
  await emulator.close()
})

it('confirms an order', async () => {
  await binding.invoke('create', { order: 'one', article: 'lamp' })
  await emulator.settled()
  expect([...confirmed]).toEqual(['one'])
})

it('confirms an order at the second try when the article had to be ordered', async () => {
  await binding.invoke('create', { order: 'two', article: 'chair' })
  await emulator.settled()
  expect([...confirmed]).toEqual(['two'])
  expect(emulator.records.deliveries.all().map(({ status }) => status)).toEqual([500, 200])
})

it('never asks for nonsense again', async () => {
  await binding.invoke('create', 'nonsense')
  await emulator.settled()
  expect(emulator.records.deliveries.all().map(({ status, outcome }) => [status, outcome])).toEqual([[400, 'dropped']])
})
