/** Resource groups: region and tags, deletion with all that is in them, and what else ARM tells of a subscription. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { eventHubId } from '../../../../test/support/azure-ids.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { type EventGridEmulator, type EventGridEmulatorOptions, ManualClock } from '../../src/index.ts'

const owner = { clients: [{ roles: [{ role: 'Owner' }] }] }
const version = 'api-version=2025-02-15'
const ofSubscription = (emulator: EventGridEmulator, path: string) => `/subscriptions/${emulator.subscriptionId}${path}`

/** Sends ARM a call below the Azure subscription. */
function sender(emulator: EventGridEmulator) {
  return (method: string, path: string, body?: object) => {
    const text = JSON.stringify(body)?.replaceAll('/ID/', `/${emulator.subscriptionId}/`)
    const url = `${ofSubscription(emulator, path)}${path.includes('?') ? '&' : '?'}${version}`
    return sendArm(emulator, url, { method, ...(text !== undefined && { body: text }) })
  }
}

async function open(options: EventGridEmulatorOptions = {}) {
  const emulator = await startEmulator({ ...owner, ...options })
  return { emulator, send: sender(emulator) }
}

const group = '/resourceGroups/shop'
const eventGrid = `${group}/providers/Microsoft.EventGrid`
const account = `/subscriptions/ID${group}/providers/Microsoft.Storage/storageAccounts/photos`
const toHub = { endpointType: 'EventHub', properties: { resourceId: eventHubId } }
const contents = [
  { path: `${eventGrid}/topics/orders-2`, body: { location: 'westeurope', tags: { a: 'b' } } },
  { path: `${eventGrid}/domains/tenants`, body: { location: 'westeurope' } },
  { path: `${eventGrid}/domains/tenants/topics/one`, body: {} },
  {
    path: `${eventGrid}/systemTopics/photos`,
    body: { location: 'westeurope', properties: { source: account, topicType: 'Microsoft.Storage.StorageAccounts' } },
  },
  { path: `${eventGrid}/namespaces/pull`, body: { location: 'westeurope' } },
  { path: `${eventGrid}/namespaces/pull/topics/orders`, body: {} },
  {
    path: `${eventGrid}/topics/orders-2/providers/Microsoft.EventGrid/eventSubscriptions/one`,
    body: { properties: { destination: toHub } },
  },
  {
    path: `${group}/providers/Microsoft.Storage/storageAccounts/photos/providers/Microsoft.EventGrid/eventSubscriptions/two`,
    body: { properties: { destination: toHub } },
  },
  {
    path: `${group}/providers/Microsoft.EventGrid/eventSubscriptions/three`,
    body: { properties: { destination: toHub } },
  },
]

describe('a resource group', () => {
  it('keeps its region and tags; PATCH changes the tags, and another region is refused', async () => {
    const { send } = await open()
    const made = await send('PUT', group, { location: 'northeurope', tags: { for: 'test' } })
    expect(made).toMatchObject({ status: 201, body: { name: 'shop', location: 'northeurope', tags: { for: 'test' } } })
    expect((await send('PATCH', group, { tags: { for: 'us' } })).body).toMatchObject({ tags: { for: 'us' } })
    expect((await send('GET', group)).body).toMatchObject({
      location: 'northeurope',
      tags: { for: 'us' },
      properties: { provisioningState: 'Succeeded' },
    })
    expect(await send('PUT', group, { location: 'westus' })).toMatchObject({
      status: 409,
      body: { error: { code: 'InvalidResourceGroupLocation' } },
    })
    expect((await send('PATCH', '/resourceGroups/none', {})).status).toBe(404)
    expect(await send('GET', '/resourceGroups')).toMatchObject({ body: { value: [{ name: 'rg' }, { name: 'shop' }] } })
  })

  it('is deleted with all that is in it, by an operation', async () => {
    const clock = new ManualClock()
    const { emulator, send } = await open({ clock, operationDelayMs: 1000 })
    await send('PUT', group, { location: 'westeurope' })
    for (const { path, body } of contents)
      expect((await send('PUT', path, body)).status, path).toBe(path.includes('systemTopics') ? 200 : 201)
    await clock.advance(1000)
    await emulator.idle()
    const listed = await send('GET', `${group}/resources?$expand=provisioningState&$top=500`)
    expect(
      Object(listed.body).value.map(({ name, type }: { name: string; type: string }) => `${type} ${name}`),
    ).toEqual([
      'Microsoft.EventGrid/topics orders-2',
      'Microsoft.EventGrid/domains tenants',
      'Microsoft.EventGrid/systemTopics photos',
      'Microsoft.EventGrid/namespaces pull',
    ])
    const deleted = await send('DELETE', group)
    expect(deleted).toMatchObject({ status: 202, body: '' })
    const { pathname, search } = new URL(String(deleted.headers.location))
    expect((await send('GET', group)).body).toMatchObject({ properties: { provisioningState: 'Deleting' } })
    expect((await sendArm(emulator, `${pathname}${search}`)).status).toBe(202)
    await clock.advance(1000)
    await clock.advance(1000)
    await emulator.idle()
    expect((await sendArm(emulator, `${pathname}${search}`)).status).toBe(200)
    expect((await send('GET', group)).status).toBe(404)
    expect((await send('HEAD', group)).status).toBe(404)
    await send('PUT', group, { location: 'westus' })
    for (const { path } of contents) expect((await send('GET', path)).status, path).toBe(404)
    expect(emulator.eventSubscriptions()).toEqual([])
    expect((await send('GET', `${eventGrid.replace('/shop/', '/rg/')}/topics/orders`)).status).toBe(200)
  })

  it('outlives a restart with all that is in it', async () => {
    const options = { ...owner, state: join(temporaryFolder(), 'state') }
    const first = await startEmulator(options)
    await sender(first)('PUT', group, { location: 'westus', tags: { a: 'b' } })
    for (const { path, body } of contents) await sender(first)('PUT', path, body)
    await first.idle()
    await first.close()
    const again = await startEmulator(options)
    const { body } = await sender(again)('GET', group)
    expect(body).toMatchObject({ location: 'westus', tags: { a: 'b' } })
    for (const { path } of contents) expect((await sender(again)('GET', path)).status, path).toBe(200)
    expect(again.topic().id).toContain('/resourceGroups/rg/')
  })
})

describe('Resource Manager', () => {
  it.each(['/', '//', '///'])(
    'leads to the next page at the same host, also of a path that begins with %s',
    async (slashes) => {
      const { emulator, send } = await open()
      await send('PUT', group, { location: 'westeurope' })
      const path = `${slashes}subscriptions/${emulator.subscriptionId}/resourceGroups?${version}&$top=1`
      const first = await sendArm(emulator, path)
      expect(first).toMatchObject({ status: 200, body: { value: [{ name: 'rg' }] } })
      const { origin, pathname, search } = new URL(Object(first.body).nextLink)
      expect(origin).toBe(emulator.endpoints.resourceManager)
      expect((await sendArm(emulator, `${pathname}${search}`)).body).toMatchObject({ value: [{ name: 'shop' }] })
    },
  )

  it('lists the resource providers of a subscription', async () => {
    const { send } = await open()
    const { body } = await send('GET', '/providers')
    expect(body).toMatchObject({
      value: [
        { namespace: 'Microsoft.EventGrid', registrationState: 'Registered' },
        { namespace: 'Microsoft.Resources', registrationState: 'Registered' },
        { namespace: 'Microsoft.Authorization' },
      ],
    })
  })

  it('finds role definitions by name and by id, which a role assignment takes', async () => {
    const { emulator, send } = await open()
    const definitions = '/providers/Microsoft.Authorization/roleDefinitions'
    const filter = encodeURIComponent("roleName eq 'EventGrid Data Sender'")
    const { body } = await send('GET', `/resourceGroups/rg${definitions}?$filter=${filter}`)
    const role = {
      id: ofSubscription(emulator, `${definitions}/d5a91429-5739-47e2-a06b-3470a27159e7`),
      name: 'd5a91429-5739-47e2-a06b-3470a27159e7',
      properties: {
        roleName: 'EventGrid Data Sender',
        type: 'BuiltInRole',
        permissions: [{ dataActions: ['Microsoft.EventGrid/events/send/action'] }],
      },
    }
    expect(body).toMatchObject({ value: [role] })
    expect((await send('GET', `${definitions}/${role.name}`)).body).toMatchObject(role)
    expect((await send('GET', `${definitions}/77777777-7777-4777-8777-777777777777`)).status).toBe(404)
    expect((await sendArm(emulator, `${definitions}/${role.name}?${version}`)).body).toMatchObject({ name: role.name })
    const all = Object((await send('GET', definitions)).body).value
    expect(all.length).toBeGreaterThan(5)
    expect(await send('PUT', `${definitions}/77777777-7777-4777-8777-777777777777`, {})).toMatchObject({
      status: 400,
      body: { error: { code: 'NotSupportedByEmulator' } },
    })
  })

  it.each([
    { path: `${group}/providers/Microsoft.Storage/storageAccounts/photos`, what: 'Microsoft.Storage/storageAccounts' },
    { path: `${group}/providers/Microsoft.Resources/deployments/d`, what: 'Microsoft.Resources/deployments' },
    { path: `${group}/providers/Microsoft.Authorization/locks/l`, what: 'Microsoft.Authorization/locks' },
    {
      path: `${eventGrid}/topics/t/providers/Microsoft.Insights/diagnosticSettings/d`,
      what: 'Microsoft.Insights/diagnosticSettings',
    },
    { path: `${eventGrid}/namespaces/n/clients/c`, what: 'Microsoft.EventGrid/namespaces/clients' },
    { path: `${eventGrid}/namespaces/n/topicSpaces/t`, what: 'Microsoft.EventGrid/namespaces/topicSpaces' },
    { path: `${eventGrid}/namespaces/n/caCertificates/c`, what: 'Microsoft.EventGrid/namespaces/caCertificates' },
    {
      path: `${eventGrid}/topics/t/privateEndpointConnections/p`,
      what: 'Microsoft.EventGrid/topics/privateEndpointConnections',
    },
    { path: `${eventGrid}/partnerTopics/p`, what: 'Microsoft.EventGrid/partnerTopics' },
    { path: '/providers/Microsoft.Storage', what: 'Microsoft.Storage' },
    { path: `${group}/exportTemplate`, what: 'resourceGroups/exportTemplate' },
    { path: '/locations', what: 'subscriptions/locations' },
  ])('says by name that it does not support $what', async ({ path, what }) => {
    const { send } = await open()
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect(await send(method, path, method === 'PUT' ? {} : undefined)).toMatchObject({
        status: 400,
        body: { error: { code: 'NotSupportedByEmulator', message: `The emulator does not support ${what}.` } },
      })
    }
  })

  it('refuses a namespace with MQTT by name, and takes one that has it disabled', async () => {
    const { send } = await open()
    const put = (state: string) =>
      send('PUT', '/resourceGroups/rg/providers/Microsoft.EventGrid/namespaces/pull', {
        location: 'westeurope',
        properties: { topicSpacesConfiguration: { state } },
      })
    expect(await put('Enabled')).toMatchObject({
      status: 400,
      body: {
        error: { code: 'NotSupportedByEmulator', message: expect.stringContaining('topicSpacesConfiguration (MQTT)') },
      },
    })
    expect((await put('Disabled')).status).toBe(201)
  })

  it.each([
    { version: '2015-01-01', body: { authentication: { loginEndpoint: expect.stringMatching(/\/$/) } } },
    { version: '2019-05-01', body: [{ name: 'AzureCloud' }] },
    {
      version: '2022-09-01',
      body: {
        name: 'AzureCloud',
        authentication: { loginEndpoint: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+$/), tenant: 'common' },
        resourceManager: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/$/),
        microsoftGraphResourceId: 'https://graph.microsoft.com/',
        suffixes: { keyVaultDns: 'vault.azure.net', storage: 'core.windows.net' },
      },
    },
  ])('tells its endpoints without a token, in $version', async ({ version, body }) => {
    const { emulator } = await open()
    const answer = await sendArm(emulator, `/metadata/endpoints?api-version=${version}`, {
      headers: { authorization: '' },
    })
    expect(answer).toMatchObject({ status: 200, body })
  })
})
