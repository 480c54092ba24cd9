import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { openWorld, outputOnly, type World } from '../../support/open-world.ts'
import { refusal } from '../../support/refusal.ts'

const writesOf = ({ emulator }: World) =>
  emulator.records.requests.filter(({ method }) => method === 'PUT' || method === 'PATCH')

it('tells strangers who ask by OPTIONS no more than how far it is', async () => {
  const world = await openWorld()
  world.emulator.removeRoles(world.emulator.clientId)
  await world.init({}, { subscription: 'background' })
  await eventually(() => expect(world.binding.health().input?.reasons.join()).toContain('az role assignment create'))
  const answer = await fetch(`http://127.0.0.1:${world.binding.address()?.port}/api/events`, { method: 'OPTIONS' })
  expect(await answer.json()).toEqual({ status: 'up', eventSubscription: 'failed', handler: 'attached' })
})

it('writes the first of several delivery tokens, so that a pod that knows it alone has nothing to write', async () => {
  const world = await openWorld()
  const [fresh, former] = ['the-fresh-delivery-token', 'the-former-delivery-token']
  await world.init({ deliveryToken: `${fresh},${former}` })
  const written = writesOf(world).length
  const other = new Binding({ endpoints: world.emulator.endpoints })
  onTestFinished(() => other.close())
  await other.init({ ...world.fields, deliveryToken: fresh })
  expect(writesOf(world)).toHaveLength(written)
})

it('publishes what is queued before it has closed', async () => {
  const { binding, emulator, init } = await openWorld()
  await init(outputOnly)
  emulator.failNext({ route: 'topic', delayMs: 200 })
  const calls = Array.from({ length: 20 }, (_, order) => binding.invoke('create', { order }))
  const ended = Promise.allSettled(calls)
  await binding.close()
  expect(emulator.figures().published).toBe(20)
  for (const { status } of await ended) expect(status).toBe('fulfilled')
})

it('says how the last publish ended', async () => {
  const { binding, emulator, init } = await openWorld()
  await init(outputOnly)
  expect(binding.health().output).toEqual({ status: 'healthy', reasons: [] })
  emulator.failNext({ route: 'topic', status: 403 })
  const error = await refusal(binding.invoke('create', { order: 1 }))
  expect(binding.health().output).toEqual({ status: 'degraded', reasons: [expect.stringContaining(error.message)] })
  await binding.invoke('create', { order: 2 })
  expect(binding.health().output?.status).toBe('healthy')
})
