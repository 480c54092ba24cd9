import { expect, it } from 'vitest'
import { openDaprApp } from '../support/dapr-app.ts'
import { openHostWorld } from './open-host.ts'

const events = (bodies: readonly { readonly body: string }[]) => bodies.map(({ body }) => JSON.parse(body))

it('posts what create published to the route of the component, as Dapr does', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')
  const { status } = await host.invoke('orders', {
    operation: 'create',
    data: { order: 1 },
    metadata: { type: 'order.placed' },
  })
  const posts = await app.received('POST', 1)
  await world.emulator.settled()
  expect(status).toBe(200)
  expect(posts.map(({ path }) => path)).toEqual(['/orders'])
  expect(events(posts)).toMatchObject([{ type: 'order.placed', data: { order: 1 }, specversion: '1.0' }])
  expect(posts[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'aeg-delivery-count': '0' })
  expect(JSON.stringify(posts[0]?.headers)).not.toMatch(/x-eventgrid-binding-token/i)
})
