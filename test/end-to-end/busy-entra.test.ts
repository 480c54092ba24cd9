import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../src/index.ts'
import { startEmulator } from '../support/start-emulator.ts'

it.each([503, 429])('publishes although Entra answers %i to the first two requests for a token', async (status) => {
  const emulator = await startEmulator()
  const { tenantId, clientId, clientSecret, endpoints } = emulator
  const { endpoint: topicEndpoint, id } = emulator.topic()
  emulator.assignRole(clientId, 'EventGrid Data Sender', id)
  emulator.failNext({ route: 'entra', status, times: 2, matches: ({ method }) => method === 'POST' })
  const binding = new Binding({ endpoints })
  onTestFinished(() => binding.close())
  await binding.init({
    ...{ tenantId, clientId, clientSecret, topicEndpoint },
    ...{ topicAuthentication: 'entra', direction: 'output' },
  })
  expect((await binding.invoke('create', { order: 1 })).metadata.count).toBe('1')
})
