import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { Fault } from '../../src/index.ts'
import { openEventGrid, publicUrl } from '../event-grid.ts'

const clients = [{ roles: [{ role: 'Owner' }] }]
const group = '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg'
const put = (body: object) => ({ method: 'PUT', body: JSON.stringify(body) })
const auditOf = (topicId: string) => `${topicId}/providers/Microsoft.EventGrid/eventSubscriptions/audit`
const destination = { endpointType: 'WebHook', properties: { endpointUrl: publicUrl } }
const audit = { properties: { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' } }

it('a role that was assigned through Resource Manager is there after a restart, and one that was removed is not', async () => {
  const state = join(temporaryFolder(), 'state.db')
  const [kept, gone] = ['11111111-0000-4000-8000-000000000001', '11111111-0000-4000-8000-000000000002'].map(
    (name) => `${group}/providers/Microsoft.Authorization/roleAssignments/${name}?api-version=2022-04-01`,
  )
  const first = await startEmulator({ state, clients })
  const roleDefinitionId = `${group}/providers/Microsoft.Authorization/roleDefinitions/d5a91429-5739-47e2-a06b-3470a27159e7`
  for (const [path, principalId] of [
    [kept, 'a'],
    [gone, 'b'],
  ] as const) {
    expect((await sendArm(first, path ?? '', put({ properties: { roleDefinitionId, principalId } }))).status).toBe(201)
  }
  await sendArm(first, gone ?? '', { method: 'DELETE' })
  await first.close()
  const second = await startEmulator({ state, clients })
  expect(await sendArm(second, kept ?? '')).toMatchObject({ status: 200, body: { properties: { principalId: 'a' } } })
  expect((await sendArm(second, gone ?? '')).status).toBe(404)
})

it('an event subscription that is written while it is deleted stays', async () => {
  const { clock, emulator, topic } = await openEventGrid({ clients, operationDelayMs: 5_000 })
  const path = auditOf(topic.id)
  const write = () => sendArm(emulator, path, put(audit))
  await write()
  await clock.advance(5_000)
  await sendArm(emulator, path, { method: 'DELETE' })
  await clock.advance(2_000)
  expect((await write()).status).toBe(201)
  await clock.advance(10_000)
  expect(emulator.eventSubscriptions()).toMatchObject([{ name: 'audit', provisioningState: 'Succeeded' }])
})

it('a topic that is written while it is deleted stays', async () => {
  const { clock, emulator, topic } = await openEventGrid({ clients, operationDelayMs: 5_000 })
  const path = `${topic.id}?api-version=2025-02-15`
  await sendArm(emulator, path, { method: 'DELETE' })
  await clock.advance(2_000)
  expect((await sendArm(emulator, path, put({ location: 'westeurope' }))).status).toBe(201)
  await clock.advance(10_000)
  expect(await sendArm(emulator, path)).toMatchObject({ body: { properties: { provisioningState: 'Succeeded' } } })
})

it('a namespace keeps its region', async () => {
  const emulator = await startEmulator({ clients })
  const path = `${group}/providers/Microsoft.EventGrid/namespaces/shop?api-version=2025-02-15`
  expect((await sendArm(emulator, path, put({ location: 'westeurope' }))).status).toBe(201)
  await emulator.idle()
  expect((await sendArm(emulator, path, put({ location: 'northeurope' }))).status).toBe(409)
  expect((await sendArm(emulator, path, put({ location: 'West Europe' }))).status).toBeLessThan(300)
})

it.each([
  ['the resources of a group that does not exist', `${group}x/resources?api-version=2021-04-01`, 404],
  ['the resources of one that does', `${group}/resources?api-version=2021-04-01`, 200],
  ['a negative $skiptoken', `${group}/resources?api-version=2021-04-01&$skiptoken=-1`, 400],
  ['a $skiptoken that is no number', `${group}/resources?api-version=2021-04-01&$skiptoken=abc`, 400],
  ['an empty $skiptoken', `${group}/resources?api-version=2021-04-01&$skiptoken=`, 400],
])('%s is answered as in Azure', async (_what, path, status) => {
  const emulator = await startEmulator({ clients })
  expect((await sendArm(emulator, path)).status).toBe(status)
})

describe('a fault of an operation', () => {
  const open = async (fault: Fault) => {
    const { clock, emulator, topic } = await openEventGrid({ clients })
    emulator.failNext(fault)
    await sendArm(emulator, auditOf(topic.id), put(audit))
    await emulator.idle()
    return { clock, emulator, state: () => emulator.eventSubscriptions()[0]?.provisioningState }
  }

  it('waits first', async () => {
    const { clock, emulator, state } = await open({ route: 'operation', code: 'Internal error', delayMs: 5_000 })
    expect(state()).toBe('Creating')
    await clock.advance(5_000)
    await emulator.idle()
    expect(state()).toBe('Failed')
  })

  it('that only waits is followed by the real result', async () => {
    const { clock, emulator, state } = await open({ route: 'operation', delayMs: 5_000 })
    expect(state()).toBe('Creating')
    await clock.advance(5_000)
    await emulator.idle()
    expect(state()).toBe('Succeeded')
  })

  it.each([
    { status: 42 },
    { status: 600 },
    { status: 404.5 },
    { delayMs: -1 },
    { delayMs: Number.NaN },
    { retryAfter: -1 },
  ])('with %j is refused', async (wrong) => {
    const emulator = await startEmulator()
    for (const route of ['operation', 'arm', 'delivery'] as const) {
      expect(() => emulator.failNext({ route, ...wrong })).toThrow(TypeError)
    }
  })
})
