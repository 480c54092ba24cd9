import { expect, it } from 'vitest'
import { cloudEvent, type EventGrid, gridEvent, openEventGrid } from '../event-grid.ts'

const subscriptionScope = '/subscriptions/33333333-3333-4333-8333-333333333333'
const group = `${subscriptionScope}/resourceGroups/rg`
const account = `${group}/providers/Microsoft.Storage/storageAccounts/files`
const blobCreated = gridEvent({ eventType: 'Microsoft.Storage.BlobCreated' })
const resourceWritten = gridEvent({ eventType: 'Microsoft.Resources.ResourceWriteSuccess' })

const received = (grid: EventGrid) =>
  Object.fromEntries(
    grid.subscriber
      .deliveries()
      .map(({ headers, body }) => [String(headers['aeg-subscription-name']), JSON.parse(body).source]),
  )

async function openScopes() {
  const grid = await openEventGrid()
  await grid.subscribe({}, { scope: subscriptionScope, name: 'all' })
  await grid.subscribe({}, { scope: group, name: 'group' })
  await grid.subscribe({}, { scope: account, name: 'account' })
  return grid
}

it("a resource's event goes to the subscriptions at that resource, in any letter case, and no further", async () => {
  const grid = await openScopes()
  grid.emulator.raise(account.toUpperCase(), [blobCreated])
  await grid.emulator.idle()
  expect(received(grid)).toEqual({ ACCOUNT: account.toUpperCase() })
})

it('what Azure Resource Manager says about a resource is an event of its group and its subscription', async () => {
  const grid = await openScopes()
  grid.emulator.raise(account, [resourceWritten])
  await grid.emulator.idle()
  expect(received(grid)).toEqual({ GROUP: group, ALL: subscriptionScope })
})

it('a group that is raised for is not repeated', async () => {
  const grid = await openScopes()
  grid.emulator.raise(group, [resourceWritten])
  await grid.emulator.idle()
  expect(received(grid)).toEqual({ GROUP: group, ALL: subscriptionScope })
})

it('a source may raise CloudEvents', async () => {
  const grid = await openScopes()
  const event = cloudEvent({ type: 'Microsoft.Storage.BlobCreated' })
  grid.emulator.raise(account, [event])
  await grid.emulator.idle()
  expect(JSON.parse(grid.subscriber.deliveries()[0]?.body ?? '')).toMatchObject(event)
})

it.each([{ event: null }, { event: 'text' }, { event: {} }, { event: { eventType: 'T' } }])(
  'refuses $event, which is no event',
  async ({ event }) => {
    const grid = await openScopes()
    expect(() => grid.emulator.raise(account, [event])).toThrow(TypeError)
  },
)

it('a CloudEvent is not delivered to a subscription of the Event Grid schema, which it cannot be turned into', async () => {
  const grid = await openEventGrid()
  await grid.subscribe({ eventDeliverySchema: 'EventGridSchema' }, { scope: account })
  grid.emulator.raise(account, [cloudEvent(), blobCreated])
  await grid.emulator.idle()
  expect(grid.subscriber.deliveries().map(({ body }) => JSON.parse(body)[0].eventType)).toEqual([blobCreated.eventType])
})

it.each([3_000, 50_000])('data that nests %i levels deep is refused in words', async (levels) => {
  const { emulator } = await openEventGrid()
  const data: unknown = JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`)
  const raising = () => emulator.raise('orders', [cloudEvent(), cloudEvent({ data })])
  expect(raising).toThrow(new TypeError('event 1 nests deeper than 2,000 levels'))
})
