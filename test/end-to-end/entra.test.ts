import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../src/index.ts'
import { startEmulator } from '../support/start-emulator.ts'

/** An emulator, and a binding that publishes to its topic by a token of Entra, not yet initialised. */
async function openSender() {
  const emulator = await startEmulator()
  const { tenantId, clientId, clientSecret, endpoints } = emulator
  const { endpoint: topicEndpoint, id } = emulator.topic()
  emulator.assignRole(clientId, 'EventGrid Data Sender', id)
  const binding = new Binding({ endpoints })
  onTestFinished(() => binding.close())
  const fields = { tenantId, clientId, clientSecret, topicEndpoint, topicAuthentication: 'entra', direction: 'output' }
  const create = async () => (await binding.invoke('create', { order: 1 })).metadata.count
  return { emulator, binding, create, init: () => binding.init(fields) }
}

it.each([503, 429])('publishes although Entra answers %i to the first two requests for a token', async (status) => {
  const { emulator, create, init } = await openSender()
  emulator.failNext({ route: 'entra', status, times: 2, matches: ({ method }) => method === 'POST' })
  await init()
  expect(await create()).toBe('1')
})

it('publishes with another token when the topic finds the first one expired, which by our clock it is not', async () => {
  const { emulator, binding, create, init } = await openSender()
  await init()
  await create()
  emulator.expireTokens()
  expect(await Promise.all([create(), create(), create()])).toEqual(['1', '1', '1'])
  expect(await create()).toBe('1')
  expect(binding.health().output?.status).toBe('healthy')
})
