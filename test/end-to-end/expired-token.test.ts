import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../src/index.ts'
import { startEmulator } from '../support/start-emulator.ts'

it('publishes with another token when the topic finds the first one expired, which by our clock it is not', async () => {
  const emulator = await startEmulator()
  const { tenantId, clientId, clientSecret, endpoints } = emulator
  const { endpoint: topicEndpoint, id } = emulator.topic()
  emulator.assignRole(clientId, 'EventGrid Data Sender', id)
  const binding = new Binding({ endpoints })
  onTestFinished(() => binding.close())
  await binding.init({
    ...{ tenantId, clientId, clientSecret, topicEndpoint },
    ...{ topicAuthentication: 'entra', direction: 'output' },
  })
  const create = () => binding.invoke('create', { order: 1 })
  await create()
  emulator.expireTokens()
  const answers = await Promise.all([create(), create(), create()])
  expect(answers.map(({ metadata }) => metadata.count)).toEqual(['1', '1', '1'])
  expect((await create()).metadata.count).toBe('1')
  expect(binding.health().output?.status).toBe('healthy')
})
