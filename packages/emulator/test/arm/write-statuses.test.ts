/** Each PUT, PATCH and DELETE is answered with a status that Azure's REST specification allows: generated clients refuse others. */
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { type WrittenType, writeStatuses } from '../../src/arm/call/resource-answers.ts'
import { type EventGridEmulator, ManualClock } from '../../src/index.ts'

/** The specification of Microsoft.EventGrid 2025-02-15, of Microsoft.Resources 2025-04-01 and of Microsoft.Authorization 2022-04-01. */
const allowed: Readonly<Record<WrittenType, Readonly<Record<'PUT' | 'PATCH' | 'DELETE', readonly number[]>>>> = {
  topics: { PUT: [201], PATCH: [200, 201], DELETE: [202, 204] },
  domains: { PUT: [201], PATCH: [200, 201], DELETE: [200, 202, 204] },
  // There is no PATCH of these two.
  'domains/topics': { PUT: [201], PATCH: [405], DELETE: [200, 202, 204] },
  roleAssignments: { PUT: [201], PATCH: [405], DELETE: [200, 204] },
  systemTopics: { PUT: [200, 201], PATCH: [200, 201], DELETE: [200, 202, 204] },
  eventSubscriptions: { PUT: [201], PATCH: [201], DELETE: [200, 202, 204] },
  namespaces: { PUT: [200, 201], PATCH: [200, 202], DELETE: [200, 202, 204] },
  'namespaces/topics': { PUT: [200, 201], PATCH: [200, 202], DELETE: [200, 202, 204] },
  'namespaces/topics/eventSubscriptions': { PUT: [200, 201], PATCH: [200, 202], DELETE: [200, 202, 204] },
  resourceGroups: { PUT: [200, 201], PATCH: [200], DELETE: [200, 202] },
}

const group = 'resourceGroups/rg'
const eventGrid = `${group}/providers/Microsoft.EventGrid`
const eventHub = `/subscriptions/ID/${group}/providers/Microsoft.EventHub/namespaces/hubs/eventhubs/orders`

/** For each type: a path below the Azure subscription, and the bodies of PUT and PATCH. */
const writes: Readonly<Record<WrittenType, { readonly path: string; readonly put: object; readonly patch?: object }>> =
  {
    topics: { path: `${eventGrid}/topics/made`, put: { location: 'westeurope' }, patch: { tags: { a: 'b' } } },
    domains: { path: `${eventGrid}/domains/made`, put: { location: 'westeurope' }, patch: { tags: { a: 'b' } } },
    'domains/topics': { path: `${eventGrid}/domains/shop/topics/made`, put: {} },
    systemTopics: {
      path: `${eventGrid}/systemTopics/made`,
      put: {
        location: 'westeurope',
        identity: { type: 'SystemAssigned' },
        properties: {
          source: `/subscriptions/ID/${group}/providers/Microsoft.Storage/storageAccounts/photos`,
          topicType: 'Microsoft.Storage.StorageAccounts',
        },
      },
      patch: { tags: { a: 'b' } },
    },
    eventSubscriptions: {
      path: `${eventGrid}/topics/orders/providers/Microsoft.EventGrid/eventSubscriptions/made`,
      put: { properties: { destination: { endpointType: 'EventHub', properties: { resourceId: eventHub } } } },
      patch: { labels: ['a'] },
    },
    namespaces: { path: `${eventGrid}/namespaces/made`, put: { location: 'westeurope' }, patch: { tags: { a: 'b' } } },
    'namespaces/topics': {
      path: `${eventGrid}/namespaces/pull/topics/made`,
      put: {},
      patch: { properties: { eventRetentionInDays: 2 } },
    },
    'namespaces/topics/eventSubscriptions': {
      path: `${eventGrid}/namespaces/pull/topics/orders/eventSubscriptions/made`,
      put: { properties: { deliveryConfiguration: { deliveryMode: 'Queue' } } },
      patch: { properties: { filtersConfiguration: { includedEventTypes: ['a.b'] } } },
    },
    resourceGroups: { path: 'resourceGroups/made', put: { location: 'westeurope' }, patch: { tags: { a: 'b' } } },
    roleAssignments: {
      path: `${group}/providers/Microsoft.Authorization/roleAssignments/66666666-6666-4666-8666-666666666666`,
      put: { properties: { roleDefinitionId: 'acdd72a7-3385-48ef-bd42-f606fba81ae7', principalId: 'somebody' } },
    },
  }

// They are the keys of the table.
const types = Object.keys(writes) as WrittenType[]

const open = (options: Parameters<typeof startEmulator>[0] = {}) =>
  startEmulator({
    clients: [{ roles: [{ role: 'Owner' }] }],
    domains: [{ name: 'shop' }],
    namespaces: [{ name: 'pull', topics: [{ name: 'orders' }] }],
    ...options,
  })

function sender(emulator: EventGridEmulator, type: WrittenType) {
  const { path, put, patch = {} } = writes[type]
  const fill = (text: string) => text.replaceAll('/ID/', `/${emulator.subscriptionId}/`)
  return (method: string, more: object = {}) => {
    const body = { PUT: { ...put, ...more }, PATCH: patch }[method]
    return sendArm(emulator, `${fill('/subscriptions/ID/')}${path}?api-version=2025-02-15`, {
      method,
      ...(body && { body: fill(JSON.stringify(body)) }),
    })
  }
}

describe.each(types)('%s', (type) => {
  it('has only statuses that the specification allows, with the headers that go with them', async () => {
    const emulator = await open()
    const send = sender(emulator, type)
    const answers = [await send('PUT')]
    await emulator.idle()
    answers.push(await send('PUT'))
    await emulator.idle()
    answers.push(await send('PATCH'))
    await emulator.idle()
    answers.push(await send('DELETE'))
    const { create, replace, PATCH, DELETE } = writeStatuses[type]
    expect(answers.map(({ status }) => status)).toEqual([create, replace, PATCH, DELETE])
    for (const [index, method] of (['PUT', 'PUT', 'PATCH', 'DELETE'] as const).entries()) {
      const { status = 0, headers = {} } = answers[index] ?? {}
      expect(allowed[type][method]).toContain(status)
      if (status === 202) expect(headers).toHaveProperty('location')
      const isEventGrid = type !== 'resourceGroups' && type !== 'roleAssignments'
      if (isEventGrid && status < 300) expect(headers).toHaveProperty('azure-asyncoperation')
    }
    await emulator.idle()
    const again = await send('DELETE')
    expect(again.status).toBe(type === 'resourceGroups' ? 404 : 204)
  })
})

describe.each(types.slice(0, -2))('the provisioning state of %s', (type) => {
  it('is Creating, Updating and Deleting until the operation ends, in the answer and when it is read', async () => {
    const clock = new ManualClock()
    const emulator = await open({ clock, operationDelayMs: 1000, operationRetryAfter: 10 })
    await clock.advance(1000)
    await emulator.idle()
    const send = sender(emulator, type)
    const stateOf = ({ body }: { readonly body: unknown }) => Object(body).properties?.provisioningState
    const during = async (method: string) => {
      const answers = [await send(method), await send('GET')]
      expect(answers.map(({ headers }) => headers['retry-after'])).toEqual(['10', undefined])
      await clock.advance(1000)
      await emulator.idle()
      return [...answers, await send('GET')].map(stateOf)
    }
    expect(await during('PUT')).toEqual(['Creating', 'Creating', 'Succeeded'])
    expect(await during('PUT')).toEqual(['Updating', 'Updating', 'Succeeded'])
    if (type !== 'domains/topics') expect(await during('PATCH')).toEqual(['Updating', 'Updating', 'Succeeded'])
    expect(await during('DELETE')).toEqual([undefined, 'Deleting', undefined])
    expect((await send('GET')).status).toBe(404)
  })
})

describe('while it is being made', () => {
  it('a namespace has no host name, and afterwards it has one, an identity and systemData', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 5))
    const emulator = await open({ clock, operationDelayMs: 1000 })
    const send = sender(emulator, 'namespaces')
    const made = await send('PUT')
    expect(made.body).toMatchObject({
      properties: { provisioningState: 'Creating', inboundIpRules: null, minimumTlsVersionAllowed: '1.2' },
      systemData: null,
    })
    expect(Object(made.body).properties.topicsConfiguration).toBeUndefined()
    expect((await send('GET')).body).toMatchObject({
      systemData: { createdAt: expect.any(String) },
      properties: { topicsConfiguration: { hostname: null } },
    })
    await clock.advance(1000)
    expect((await send('GET')).body).toMatchObject({
      properties: { topicsConfiguration: { hostname: expect.stringContaining('/namespaces/made') } },
      identity: { type: 'None' },
      systemData: { createdBy: emulator.clientId, createdByType: 'Application', createdAt: '2026-01-05T00:00:00.000Z' },
    })
  })

  it('a namespace keeps its size, and PATCH changes the part of it that it names', async () => {
    const emulator = await open()
    const send = sender(emulator, 'namespaces')
    await send('PUT', { sku: { name: 'Standard', capacity: 2 } })
    const path = `/subscriptions/${emulator.subscriptionId}/${eventGrid}/namespaces/made?api-version=2025-02-15`
    await sendArm(emulator, path, { method: 'PATCH', body: '{"sku":{"capacity":3}}' })
    await emulator.idle()
    expect((await send('GET')).body).toMatchObject({ sku: { name: 'Standard', capacity: 3 } })
  })

  it.each(['topics', 'domains'] as const)('%s that were there answer with nothing but their state', async (type) => {
    const emulator = await open()
    const send = sender(emulator, type)
    await send('PUT')
    await emulator.idle()
    const { body } = await send('PUT', {
      properties: { inputSchema: 'EventGridSchema', publicNetworkAccess: 'Enabled' },
    })
    expect(Object(body).properties).toEqual({
      provisioningState: 'Updating',
      endpoint: null,
      minimumTlsVersionAllowed: '1.0',
    })
  })

  it('the status of an operation is Active at first, then InProgress', async () => {
    const clock = new ManualClock()
    const emulator = await open({ clock, operationDelayMs: 1000 })
    const { headers } = await sender(emulator, 'topics')('PUT')
    const { pathname, search } = new URL(String(headers['azure-asyncoperation']))
    const status = async () => Object((await sendArm(emulator, `${pathname}${search}`)).body).status
    expect([await status(), await status()]).toEqual(['Active', 'InProgress'])
    await clock.advance(1000)
    expect(await status()).toBe('Succeeded')
  })
})
