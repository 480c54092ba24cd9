import { expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'

it('lists what the caller may do at a scope, an entry for each role that it holds there or above', async () => {
  const emulator = await startEmulator()
  emulator.assignRole(emulator.clientId, 'Contributor', `/subscriptions/${emulator.subscriptionId}`)
  emulator.assignRole(emulator.clientId, 'Owner', `${emulator.topic().id}2`)
  const answer = await sendArm(
    emulator,
    `${emulator.topic().id}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01`,
  )
  expect(answer).toMatchObject({
    status: 200,
    body: {
      value: [
        { actions: expect.arrayContaining(['Microsoft.EventGrid/eventSubscriptions/*']), notActions: [] },
        { dataActions: ['Microsoft.EventGrid/events/send/action'] },
        { dataActions: ['Microsoft.EventGrid/events/receive/action'] },
        { actions: ['*'], notActions: expect.arrayContaining(['Microsoft.Authorization/*/Write']), notDataActions: [] },
      ],
    },
  })
})

it('is 403 for a caller without a role, and 405 for another method', async () => {
  const emulator = await startEmulator()
  const path = `${emulator.topic().id}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01`
  expect(await sendArm(emulator, path, { method: 'DELETE' })).toMatchObject({ status: 405 })
  emulator.removeRoles(emulator.clientId)
  expect(await sendArm(emulator, path)).toMatchObject({ status: 403, body: { error: { code: 'AuthorizationFailed' } } })
})
