/** Event subscriptions of a system topic, as users of Terraform and Bicep have them. */
import { expect, it, onTestFinished } from 'vitest'
import { emulatorDefaults } from '../../packages/emulator/src/index.ts'
import { Binding } from '../../src/index.ts'
import { openWorld } from '../support/open-world.ts'

async function openSystemTopic(type = 'systemTopics') {
  const account = `/subscriptions/${emulatorDefaults.subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/a`
  const world = await openWorld({ emulator: { systemTopics: [{ name: 'uploads', source: account }] } })
  const { emulator } = world
  const [group = ''] = emulator.topic().id.split('/providers/')
  const scope = `${group}/providers/Microsoft.EventGrid/${type}/uploads`
  const writes = () =>
    emulator.records.requests
      .filter(({ route, method }) => route === 'arm' && (method === 'PUT' || method === 'PATCH'))
      .map(({ method, url }) => `${method} ${new URL(url, 'https://x').pathname}`)
  return {
    ...world,
    scope,
    writes,
    allow: () => emulator.assignRole(emulator.clientId, 'EventGrid Contributor', group),
  }
}

it.each(['systemTopics', 'SYSTEMTOPICS', 'partnerTopics'])(
  'an event subscription of %s is created at the nested path, and delivers',
  async (type) => {
    const { emulator, handled, init, scope, writes, allow } = await openSystemTopic(type)
    allow()
    await init({ scope })
    expect(writes()).toEqual([`PUT ${scope}/eventSubscriptions/orders`])
    emulator.raise(scope, [{ specversion: '1.0', id: '1', source: '/s', type: 'Microsoft.Storage.BlobCreated' }])
    await emulator.settled()
    expect(handled.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['1'])
  },
)

it('a second start writes nothing, and a changed setting is one PATCH of the nested path', async () => {
  const { emulator, binding, fields, init, scope, writes, allow } = await openSystemTopic()
  allow()
  await init({ scope })
  await binding.close()
  const again = async (changes: object) => {
    const next = new Binding({ endpoints: emulator.endpoints })
    onTestFinished(() => next.close())
    emulator.setIngress(({ pathname }) => `http://127.0.0.1:${next.address()?.port}${pathname}`)
    await next.init({ ...fields, scope, ...changes })
    await next.close()
  }
  await again({})
  await again({ labels: 'a' })
  const path = `${scope}/eventSubscriptions/orders`
  expect(writes()).toEqual([`PUT ${path}`, `PATCH ${path}`])
})

it('without permission it names the role that allows the nested path', async () => {
  const { init, scope } = await openSystemTopic()
  await expect(init({ scope })).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
    fix: expect.stringContaining('--role "EventGrid Contributor"'),
  })
})
