/** A managed identity whose endpoint stumbles, and how often a token is asked for. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import {
  byIdentity,
  type IdentityAnswer,
  managed,
  stumbles,
  stumbling,
  useIdentityEndpoint,
} from '../support/identity-endpoint.ts'
import { openWorld } from '../support/open-world.ts'
import { quickenTime } from '../support/quick-time.ts'
import { refusal } from '../support/refusal.ts'

/** Opens an identity endpoint that stumbles `times`, then gives the emulator's tokens, and leads the process there. */
async function openIdentity(emulator: EventGridEmulator, stumble: IdentityAnswer, times = Number.POSITIVE_INFINITY) {
  const { answer, asked } = stumbling(emulator, stumble, times)
  return { host: await useIdentityEndpoint(answer), asked }
}

describe.each(stumbles)('an identity endpoint that $name', ({ stumble }) => {
  beforeEach(quickenTime)

  it.each(['managedIdentity', 'default'])('once costs nothing: init succeeds by %s', async (azureCredential) => {
    const world = await openWorld()
    const identity = await openIdentity(world.emulator, stumble, 1)
    await world.init({ ...managed(), azureCredential })
    expect(world.subscription()?.provisioningState).toBe('Succeeded')
    expect(identity.asked()).toBeGreaterThan(1)
  })

  it('once costs nothing: create succeeds', async () => {
    const world = await openWorld()
    await world.init({ ...byIdentity(), provisioning: 'none' })
    const identity = await openIdentity(world.emulator, stumble, 1)
    await world.binding.invoke('create', { order: 1 })
    expect(identity.asked()).toBeGreaterThan(1)
  })
})

it.each([...stumbles, { name: 'hangs', stumble: () => {} }])(
  'init ends with TIMEOUT, which names the host of an identity endpoint that always $name',
  async ({ stumble }) => {
    quickenTime()
    const world = await openWorld()
    const { host } = await openIdentity(world.emulator, stumble)
    const { code, message } = await refusal(world.init({ ...managed(), subscriptionTimeout: '5s' }))
    expect({ code, message }).toEqual({ code: 'TIMEOUT', message: expect.stringContaining(host) })
    expect(message).not.toContain('login.microsoftonline.com')
    expect(message).not.toContain(new URL(world.emulator.endpoints.authorityHost).host)
  },
)

it('asks the identity endpoint for a new token where the topic refuses the one that it gave', async () => {
  const world = await openWorld()
  const identity = await openIdentity(world.emulator, () => {}, 0)
  await world.init({ ...byIdentity(), provisioning: 'none' })
  await world.binding.invoke('create', { order: 1 })
  world.emulator.failNext({ route: 'topic', status: 401, code: 'Unauthorized', message: 'The token has expired.' })
  await world.binding.invoke('create', { order: 2 })
  expect(identity.asked()).toBe(2)
})

it('waits ten seconds for an identity endpoint that hangs, and asks again', async () => {
  quickenTime()
  const world = await openWorld()
  const identity = await openIdentity(world.emulator, () => {}, 1)
  await world.init(byIdentity())
  await world.binding.invoke('create', { order: 1 })
  expect(identity.asked()).toBe(3)
})

it('serves input and output of one component, each with a token of its own', async () => {
  const world = await openWorld()
  await openIdentity(world.emulator, () => {}, 0)
  await world.init(byIdentity())
  await world.binding.invoke('create', { order: 1 })
  await world.emulator.settled()
  expect(world.handled).toHaveLength(1)
})

it('asks for one token for fifty concurrent calls', async () => {
  const world = await openWorld()
  await world.init({ topicAuthentication: 'entra', accessKey: undefined, provisioning: 'none' })
  const events = Array.from({ length: 50 }, (_, index) => ({ order: index }))
  await Promise.all(events.map((data) => world.binding.invoke('create', data)))
  const { requests } = world.emulator.records
  expect(requests.filter(({ route, method }) => route === 'entra' && method === 'POST')).toHaveLength(1)
})
