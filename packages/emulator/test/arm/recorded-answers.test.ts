/** Answers of Resource Manager as recordings of Azure have them, and what Terraform's providers rely on. */
import { expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { eventHubId, functionId, storageAccountId } from '../../../../test/support/azure-ids.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import { type EventGridEmulator, type EventGridEmulatorOptions, ManualClock } from '../../src/index.ts'

const eventGrid = '/resourceGroups/rg/providers/Microsoft.EventGrid'
const onTopic = `${eventGrid}/topics/orders/providers/Microsoft.EventGrid/eventSubscriptions/shop`
const onQueue = `${eventGrid}/namespaces/pull/topics/orders/eventSubscriptions/app`
const owner: EventGridEmulatorOptions = { clients: [{ roles: [{ role: 'Owner' }] }] }

/** An emulator, and calls below its Azure subscription; `{id}` in a body is the id of that. */
async function open(options: EventGridEmulatorOptions = {}) {
  const emulator = await startEmulator({ ...owner, ...options })
  const send = (method: string, path: string, body?: object, version = '2025-02-15') => {
    const at = `/subscriptions/${emulator.subscriptionId}`
    const text = JSON.stringify(body)?.replaceAll('{id}', at)
    const url = `${at}${path}${path.includes('?') ? '&' : '?'}api-version=${version}`
    return sendArm(emulator, url, { method, ...(text !== undefined && { body: text }) })
  }
  return { emulator, send, destination: webhookAt((await openWebhook(emulator)).url) }
}

const webhookAt = (endpointUrl: string) => ({ endpointType: 'WebHook', properties: { endpointUrl } })

async function endOf(emulator: EventGridEmulator, { headers }: Awaited<ReturnType<typeof sendArm>>) {
  await emulator.idle()
  const { pathname, search } = new URL(String(headers['azure-asyncoperation']))
  return (await sendArm(emulator, `${pathname}${search}`)).body
}

it('an event subscription without a filter has the defaults of filter and retry policy in its first answer', async () => {
  const { send, destination } = await open()
  const { body } = await send('PUT', onTopic, { properties: { destination } })
  expect(body).toMatchObject({
    properties: {
      filter: { subjectBeginsWith: '', subjectEndsWith: '' },
      retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 },
    },
  })
})

it('a PUT over a Failed event subscription is Creating again, a PATCH is Updating', async () => {
  const { emulator, send } = await open()
  const silent = await openWebhook(emulator, () => ({ status: 404, consents: false }))
  const wanted = {
    properties: { destination: webhookAt(silent.url), eventDeliverySchema: 'CloudEventSchemaV1_0' },
  }
  const put = async () => Object((await send('PUT', onTopic, wanted)).body).properties.provisioningState
  expect(await put()).toBe('Creating')
  await emulator.idle()
  expect((await send('PATCH', onTopic, { labels: ['a'] })).body).toMatchObject({
    properties: { provisioningState: 'Updating' },
  })
  await emulator.idle()
  expect(await put()).toBe('Creating')
})

it('properties.topic is in lower case behind the group, the name of the source too', async () => {
  const { send, destination } = await open({ topics: [{ name: 'Orders' }] })
  const { body } = await send('PUT', onTopic, { properties: { destination } })
  expect(Object(body).properties.topic).toMatch(
    /\/resourceGroups\/rg\/providers\/microsoft\.eventgrid\/topics\/orders$/,
  )
})

it.each([
  { path: `${eventGrid}/topics/orders`, version: '2020-06-01', shown: false },
  { path: `${eventGrid}/domains/shop`, version: '2018-09-15-preview', shown: false },
  { path: `${eventGrid}/topics/orders`, version: '2021-12-01', shown: true },
])('systemData of $path in $version: $shown', async ({ path, version, shown }) => {
  const { send } = await open({ domains: [{ name: 'shop' }] })
  const { body } = await send('GET', path, undefined, version)
  expect('systemData' in Object(body)).toBe(shown)
})

it('writes of domains count with those of all providers', async () => {
  const { send } = await open()
  const { headers } = await send('PUT', `${eventGrid}/domains/shop`, { location: 'westeurope' })
  expect(headers).toHaveProperty('x-ms-ratelimit-remaining-subscription-writes', '199')
})

it('an Azure Function has its batch defaults where it is read', async () => {
  const { emulator, send } = await open()
  const destination = { endpointType: 'AzureFunction', properties: { resourceId: functionId } }
  await send('PUT', onTopic, { properties: { destination } })
  await emulator.idle()
  expect((await send('GET', onTopic)).body).toMatchObject({
    properties: { destination: { properties: { maxEventsPerBatch: 1, preferredBatchSizeInKilobytes: 64 } } },
  })
})

it.each([
  {
    name: 'of a topic',
    path: onTopic,
    settings: { destination: { endpointType: 'EventHub', properties: { resourceId: eventHubId } } },
  },
  { name: 'of a namespace', path: onQueue, settings: { deliveryConfiguration: { deliveryMode: 'Queue' } } },
])('an empty expirationTimeUtc of an event subscription $name is none', async ({ path, settings }) => {
  const { send } = await open({ namespaces: [{ name: 'pull', topics: [{ name: 'orders' }] }] })
  const { status, body } = await send('PUT', path, { properties: { ...settings, expirationTimeUtc: '' } })
  expect(status).toBe(201)
  expect(Object(body).properties.expirationTimeUtc).toBeUndefined()
})

it.each(['topics', 'domains'])('%s keep what has no effect here, and show it', async (type) => {
  const { emulator, send } = await open()
  const path = `${eventGrid}/${type}/kept`
  const eventTypeInfo = { kind: 'Inline', inlineEventTypes: { 'a.b': { description: 'text' } } }
  const properties = { minimumTlsVersionAllowed: '1.2', dataResidencyBoundary: 'WithinRegion', eventTypeInfo }
  expect((await send('PUT', path, { location: 'westeurope', properties })).body).toMatchObject({ properties })
  await emulator.idle()
  await send('PATCH', path, { properties: { dataResidencyBoundary: 'WithinGeopair' } })
  await emulator.idle()
  expect((await send('GET', path)).body).toMatchObject({
    properties: { ...properties, dataResidencyBoundary: 'WithinGeopair' },
  })
})

it.each([
  { type: 'topics', more: {} },
  { type: 'systemTopics', more: { source: storageAccountId, topicType: 'Microsoft.Storage.StorageAccounts' } },
  { type: 'namespaces', more: {} },
])('a system-assigned identity of $type has a principal, which a role is assigned to', async ({ type, more }) => {
  const { emulator, send } = await open()
  const path = `${eventGrid}/${type}/known`
  const assigned = `{id}/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me`
  const identity = { type: 'SystemAssigned, UserAssigned', userAssignedIdentities: { [assigned]: {} } }
  await send('PUT', path, { location: 'westeurope', identity, properties: more })
  await emulator.idle()
  const shown = Object((await send('GET', path)).body).identity
  const guid = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  expect(shown).toEqual({
    type: identity.type,
    principalId: guid,
    tenantId: emulator.tenantId,
    userAssignedIdentities: {
      [assigned.replace('{id}', `/subscriptions/${emulator.subscriptionId}`)]: { principalId: guid, clientId: guid },
    },
  })
  const id = '88888888-8888-4888-8888-888888888888'
  const role = { principalId: shown.principalId, roleDefinitionId: 'acdd72a7-3385-48ef-bd42-f606fba81ae7' }
  const at = `/resourceGroups/rg/providers/Microsoft.Authorization/roleAssignments/${id}`
  expect(await send('PUT', at, { properties: role })).toMatchObject({ status: 201 })
  expect((await send('GET', at)).body).toMatchObject({ properties: { principalId: shown.principalId } })
})

const elsewhere = '{id}/resourceGroups/none/providers/Microsoft.Storage/storageAccounts/photos'
it.each([
  {
    what: 'a storage account in a group that is not there',
    destination: { endpointType: 'StorageQueue', properties: { resourceId: elsewhere, queueName: 'orders' } },
  },
  {
    what: 'a storage account that is not among those named',
    destination: {
      endpointType: 'StorageQueue',
      properties: { resourceId: elsewhere.replace('none', 'rg'), queueName: 'orders' },
    },
  },
  {
    what: 'a function in a group that is not there',
    destination: {
      endpointType: 'AzureFunction',
      properties: { resourceId: '{id}/resourceGroups/none/providers/Microsoft.Web/sites/shop/functions/handle' },
    },
  },
  {
    what: 'a namespace topic that is not there',
    destination: {
      endpointType: 'NamespaceTopic',
      properties: { resourceId: `{id}${eventGrid}/namespaces/pull/topics/none` },
    },
  },
])('an event subscription to $what fails by its operation, in Azure’s words', async ({ destination }) => {
  const { emulator, send } = await open({
    namespaces: [{ name: 'pull', topics: [{ name: 'orders' }] }],
    storageAccounts: ['letters'],
  })
  const made = await send('PUT', onTopic, {
    properties: { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' },
  })
  expect(made.status).toBe(201)
  expect(await endOf(emulator, made)).toMatchObject({
    status: 'Failed',
    error: {
      code: 'Endpoint validation',
      message: expect.stringMatching(/^Destination endpoint not found\..* Resource should pre-exist before attempting/),
    },
  })
  expect(Object((await send('GET', onTopic)).body).properties.provisioningState).toBe('Failed')
})

it.each([
  ['Photos', ['photos']],
  ['photos', undefined],
] as const)(
  'an event subscription to the storage account %s succeeds where %j are named',
  async (account, storageAccounts) => {
    const { emulator, send } = await open({ ...(storageAccounts && { storageAccounts }) })
    const resourceId = elsewhere.replace('none', 'rg').replace('photos', account)
    const destination = { endpointType: 'StorageQueue', properties: { resourceId, queueName: 'orders' } }
    const made = await send('PUT', onTopic, {
      properties: { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' },
    })
    expect(await endOf(emulator, made)).toMatchObject({ status: 'Succeeded' })
  },
)

it('an event subscription of a namespace answers getDeliveryAttributes and getFullUrl', async () => {
  const { send } = await open({
    namespaces: [{ name: 'pull', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
  })
  expect(await send('POST', `${onQueue}/getDeliveryAttributes`)).toMatchObject({ status: 200, body: { value: null } })
  expect(await send('POST', `${onQueue}/getFullUrl`)).toMatchObject({ status: 200, body: { endpointUrl: null } })
  // Every object has a member of that name.
  expect(await send('POST', `${onQueue}/constructor`)).toMatchObject({ status: 404 })
  expect((await send('POST', `${onQueue}x/getFullUrl`)).status).toBe(404)
})

it('a PATCH of an event subscription of a namespace keeps the delivery mode that it does not name', async () => {
  const clock = new ManualClock()
  const { send } = await open({ clock, namespaces: [{ name: 'pull', topics: [{ name: 'orders' }] }] })
  const deliveryConfiguration = { deliveryMode: 'Queue', queue: { maxDeliveryCount: 3 } }
  await send('PUT', onQueue, { properties: { deliveryConfiguration } })
  const { status } = await send('PATCH', onQueue, {
    properties: { deliveryConfiguration: { queue: { maxDeliveryCount: 4 } } },
  })
  expect(status).toBe(202)
  expect((await send('GET', onQueue)).body).toMatchObject({
    properties: { deliveryConfiguration: { deliveryMode: 'Queue', queue: { maxDeliveryCount: 4 } } },
  })
})

it.each(['', '/', '//'])('a path that begins with /%s is the same path', async (more) => {
  const { emulator, send, destination } = await open()
  await send('PUT', onTopic, { properties: { destination } })
  await emulator.idle()
  const path = `${more}/subscriptions/${emulator.subscriptionId}${onTopic}`
  expect(await sendArm(emulator, path)).toMatchObject({ status: 200, body: { name: 'shop' } })
  expect(await sendArm(emulator, `${path}/getFullUrl`, { method: 'POST' })).toMatchObject({
    body: { endpointUrl: destination.properties.endpointUrl },
  })
  expect(await sendArm(emulator, `${path}/getDeliveryAttributes`, { method: 'POST' })).toMatchObject({
    body: { value: null },
  })
})

it('the status of an operation at an Azure subscription has no region in its URL', async () => {
  const { emulator, send, destination } = await open()
  const path = '/providers/Microsoft.EventGrid/eventSubscriptions/everything'
  await send('PUT', path, {
    properties: { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' },
  })
  await emulator.idle()
  const changed = await send('PATCH', path, { labels: ['a'] })
  expect(new URL(String(changed.headers['azure-asyncoperation'])).pathname).toMatch(
    /^\/subscriptions\/[\da-f-]+\/providers\/Microsoft\.EventGrid\/operationsStatus\/[\dA-F-]{36}$/,
  )
  expect(await endOf(emulator, changed)).toMatchObject({ status: 'Succeeded' })
})

it('a topic takes enumerated values in any letter case, and shows them in Azure’s spelling', async () => {
  const { emulator, send } = await open()
  const inboundIpRules = [{ ipMask: '10.0.0.0/8', action: 'allow' }]
  const path = `${eventGrid}/topics/cased`
  const made = await send('PUT', path, {
    location: 'westeurope',
    identity: { type: 'none' },
    properties: { inputSchema: 'CLOUDEVENTSCHEMAV1_0', publicNetworkAccess: 'SECUREDBYPERIMETER', inboundIpRules },
  })
  const shown = {
    identity: { type: 'None', principalId: null, tenantId: null, userAssignedIdentities: null },
    properties: {
      inputSchema: 'CloudEventSchemaV1_0',
      publicNetworkAccess: 'SecuredByPerimeter',
      inboundIpRules: [{ ipMask: '10.0.0.0/8', action: 'Allow' }],
    },
  }
  expect(made).toMatchObject({ status: 201, body: shown })
  await emulator.idle()
  expect((await send('GET', path)).body).toMatchObject(shown)
})

it.each([
  { what: 'an identity of no type', body: { identity: {} } },
  { what: 'an identity of an unknown type', body: { identity: { type: 'Somebody' } } },
  { what: 'a sku that Event Grid does not have', body: { sku: { name: 'Gold' } } },
])('a topic with $what is refused', async ({ body }) => {
  const { send } = await open()
  expect((await send('PUT', `${eventGrid}/topics/wrong`, { location: 'westeurope', ...body })).status).toBe(400)
})

it('a topic has sku and kind in the previews, and minimumTlsVersionAllowed since 2023-06-01-preview', async () => {
  const { send } = await open()
  const path = `${eventGrid}/topics/orders`
  const preview = Object((await send('GET', path, undefined, '2023-06-01-preview')).body)
  expect(preview).toMatchObject({
    sku: { name: 'Basic' },
    kind: 'Azure',
    properties: { minimumTlsVersionAllowed: '1.0', dataResidencyBoundary: 'WithinGeopair' },
  })
  expect(preview.properties).not.toHaveProperty('disableLocalAuth')
  const stable = Object((await send('GET', path, undefined, '2022-06-15')).body)
  expect(stable).not.toHaveProperty('sku')
  expect(stable.properties).not.toHaveProperty('minimumTlsVersionAllowed')
})

it.each([
  { version: '2023-06-01-preview', filled: true },
  { version: '2025-04-01-preview', filled: true },
  { version: '2022-06-15', filled: false },
])('the first answer to a filter has the default retry policy in $version: $filled', async ({ version, filled }) => {
  const { send, destination } = await open()
  const properties = { destination, filter: { subjectBeginsWith: '/a' } }
  const { body } = await send('PUT', onTopic, { properties }, version)
  const wanted = { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 }
  expect(Object(body).properties.retryPolicy).toEqual(filled ? wanted : undefined)
})

it('the port that https has anyway is not a part of endpointBaseUrl', async () => {
  const { send } = await open()
  const { body } = await send('PUT', onTopic, {
    properties: { destination: webhookAt('https://shop.example:443/hook?code=1') },
  })
  expect(Object(body).properties.destination.properties.endpointBaseUrl).toBe('https://shop.example/hook')
})

it('a system topic without an identity is made and changed at once', async () => {
  const { send } = await open()
  const path = `${eventGrid}/systemTopics/photos`
  const properties = { source: storageAccountId, topicType: 'Microsoft.Storage.StorageAccounts' }
  const guid = expect.stringMatching(/^[\da-f-]{36}$/)
  for (const made of [
    await send('PUT', path, { location: 'westeurope', properties }),
    await send('PATCH', path, { tags: { a: 'b' } }),
  ]) {
    expect(made).toMatchObject({
      status: 200,
      body: { properties: { provisioningState: 'Succeeded', metricResourceId: guid } },
    })
    expect(made.headers).not.toHaveProperty('azure-asyncoperation')
  }
})

it.each([
  { source: storageAccountId, topicType: 'Microsoft.KeyVault.Vaults' },
  { source: '/subscriptions/1', topicType: 'Microsoft.Storage.StorageAccounts' },
  { source: `${storageAccountId}/blobServices`, topicType: 'Microsoft.Storage.StorageAccounts' },
])('a system topic of $topicType whose source is $source is refused', async ({ source, topicType }) => {
  const { send } = await open()
  const body = { location: 'westeurope', properties: { source, topicType } }
  expect(await send('PUT', `${eventGrid}/systemTopics/wrong`, body)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('Source format can be found in topic type properties.') } },
  })
})

it.each([
  { method: 'PUT', path: `${eventGrid}/topics/orders`, counter: 'writes' },
  { method: 'PUT', path: `${eventGrid}/systemTopics/photos`, counter: 'writes' },
  { method: 'PUT', path: `${eventGrid}/domains/shop/topics/lamps`, counter: 'writes' },
  { method: 'POST', path: `${eventGrid}/topics/orders/listKeys`, counter: 'writes' },
  { method: 'PUT', path: `${eventGrid}/topics/orders/eventSubscriptions/shop`, counter: 'writes' },
  { method: 'POST', path: `${onTopic}/getFullUrl`, counter: 'writes' },
  { method: 'PUT', path: onTopic, counter: 'resource-requests' },
  { method: 'PATCH', path: onTopic, counter: 'resource-requests' },
  { method: 'DELETE', path: onTopic, counter: 'resource-requests' },
  { method: 'DELETE', path: `${eventGrid}/topics/orders`, counter: 'deletes' },
  { method: 'GET', path: onTopic, counter: 'reads' },
])('$method $path is counted with the $counter', async ({ method, path, counter }) => {
  const { send } = await open()
  const { headers } = await send(method, path, method === 'GET' ? undefined : {})
  const counted = Object.keys(headers).filter((name) => name.startsWith('x-ms-ratelimit-remaining'))
  const all = counter === 'resource-requests' ? [] : [`x-ms-ratelimit-remaining-subscription-global-${counter}`]
  expect(counted).toEqual([`x-ms-ratelimit-remaining-subscription-${counter}`, ...all])
})

it('a partner destination is named as not supported', async () => {
  const { send } = await open()
  const destination = { endpointType: 'PartnerDestination', properties: {} }
  expect(await send('PUT', onTopic, { properties: { destination } })).toMatchObject({
    status: 400,
    body: { error: { code: 'NotSupportedByEmulator' } },
  })
})

it.each([
  { eventTimeToLive: 'PT59S', status: 400 },
  { eventTimeToLive: 'PT1M', status: 201 },
  { eventTimeToLive: 'P2D', status: 201 },
  { eventTimeToLive: 'PT48H1M', status: 400 },
])('a Queue with an eventTimeToLive of $eventTimeToLive is answered $status', async ({ eventTimeToLive, status }) => {
  const { send } = await open({ namespaces: [{ name: 'pull', topics: [{ name: 'orders', eventRetentionInDays: 2 }] }] })
  const deliveryConfiguration = { deliveryMode: 'queue', queue: { eventTimeToLive } }
  expect((await send('PUT', onQueue, { properties: { deliveryConfiguration } })).status).toBe(status)
})

it('expirationTimeUtc of a Queue is named as not supported', async () => {
  const { send } = await open({ namespaces: [{ name: 'pull', topics: [{ name: 'orders' }] }] })
  const properties = { deliveryConfiguration: { deliveryMode: 'Queue' }, expirationTimeUtc: '2099-01-01T00:00:00Z' }
  expect((await send('PUT', onQueue, { properties })).body).toMatchObject({
    error: { code: 'NotSupportedByEmulator' },
  })
})

it('deliveryRetryPeriodInDays of a Queue is named as not supported', async () => {
  const { send } = await open({ namespaces: [{ name: 'pull', topics: [{ name: 'orders' }] }] })
  const deliveryConfiguration = { deliveryMode: 'Queue', queue: { deliveryRetryPeriodInDays: 1 } }
  expect((await send('PUT', onQueue, { properties: { deliveryConfiguration } })).body).toMatchObject({
    error: { code: 'NotSupportedByEmulator' },
  })
})
