/** Answers that recordings of 2021 to 2026 decide, by api-version where two of them disagree. */
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import type { EventGridEmulatorOptions } from '../../src/index.ts'

const eventGrid = '/resourceGroups/rg/providers/Microsoft.EventGrid'
const onTopic = `${eventGrid}/topics/Orders/providers/Microsoft.EventGrid/eventSubscriptions/shop`

/** Calls below the Azure subscription of an emulator; `{id}` in a body is the id of that. */
async function open(options: EventGridEmulatorOptions = {}) {
  const emulator = await startEmulator({ clients: [{ roles: [{ role: 'Owner' }] }], ...options })
  const at = `/subscriptions/${emulator.subscriptionId}`
  const send = (method: string, path: string, body?: object, version = '2025-02-15') => {
    const text = JSON.stringify(body)?.replaceAll('{id}', at)
    return sendArm(emulator, `${at}${path}?api-version=${version}`, {
      method,
      ...(text !== undefined && { body: text }),
    })
  }
  return { emulator, send, at, webhook: await openWebhook(emulator) }
}

const assigned = '/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me'
const guid = expect.stringMatching(/^[\da-f-]{36}$/)

describe.each([
  { type: 'topics', more: {} },
  { type: 'domains', more: {} },
  {
    type: 'systemTopics',
    more: {
      source: '{id}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/a',
      topicType: 'Microsoft.Storage.StorageAccounts',
    },
  },
])('an identity of $type', ({ type, more }) => {
  it.each([
    { identity: { type: 'None' }, principalId: null, tenantId: null },
    { identity: { type: 'SystemAssigned' }, principalId: guid, tenantId: guid },
  ])('$identity has null for what it lacks', async ({ identity, principalId, tenantId }) => {
    const { send } = await open()
    const { body } = await send('PUT', `${eventGrid}/${type}/known`, {
      location: 'westeurope',
      identity,
      properties: more,
    })
    expect(Object(body).identity).toEqual({ ...identity, principalId, tenantId, userAssignedIdentities: null })
  })

  it('that a user assigned is known once the write has ended', async () => {
    const { emulator, send, at } = await open()
    const identity = { type: 'SystemAssigned, UserAssigned', userAssignedIdentities: { [`{id}${assigned}`]: {} } }
    const put = await send('PUT', `${eventGrid}/${type}/known`, { location: 'westeurope', identity, properties: more })
    const shown = (ids: object) => ({
      principalId: guid,
      tenantId: guid,
      userAssignedIdentities: { [`${at}${assigned}`]: ids },
    })
    expect(Object(put.body).identity).toMatchObject(shown({ principalId: null, clientId: null }))
    await emulator.idle()
    const { body } = await send('GET', `${eventGrid}/${type}/known`)
    expect(Object(body).identity).toMatchObject(shown({ principalId: guid, clientId: guid }))
  })

  it('that a user assigned in an Azure subscription that is not there is refused', async () => {
    const { send, at } = await open()
    const other = `/subscriptions/8f6b6269-84f2-4d09-9e31-1127efcd1e40${assigned}`
    const identity = { type: 'UserAssigned', userAssignedIdentities: { [other]: {} } }
    const path = `${eventGrid}/${type}/linked`
    const answer = await send('PUT', path, { location: 'westeurope', Identity: identity, properties: more })
    expect(answer).toMatchObject({ status: 403, headers: { 'x-ms-failure-cause': 'gateway' } })
    expect(Object(answer.body).error).toEqual({
      code: 'LinkedAuthorizationFailed',
      message:
        "The client has permission to perform action 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action' on scope " +
        `'${at}${path}', however the linked subscription '8f6b6269-84f2-4d09-9e31-1127efcd1e40' was not found. `,
    })
    expect((await send('GET', path)).status).toBe(404)
  })
})

it.each([
  { type: 'topics', kind: 'Azure' },
  { type: 'domains', kind: undefined },
])('$type of a preview have the sku Basic and the kind $kind', async ({ type, kind }) => {
  const { emulator, send } = await open()
  await send('PUT', `${eventGrid}/${type}/known`, { location: 'westeurope' })
  await emulator.idle()
  const body = Object((await send('GET', `${eventGrid}/${type}/known`, undefined, '2025-04-01-preview')).body)
  expect([body.sku, body.kind, body.identity]).toEqual([{ name: 'Basic' }, kind, undefined])
})

it.each([
  { version: '2020-10-15-preview', shown: { inputSchema: 'CloudEventSchemaV1_0', publicNetworkAccess: 'Disabled' } },
  { version: '2025-02-15', shown: {} },
])('a PUT over a topic at $version shows of what was asked $shown', async ({ version, shown }) => {
  const { emulator, send } = await open()
  const properties = { inputSchema: 'CloudEventSchemaV1_0', publicNetworkAccess: 'disabled' }
  const put = () => send('PUT', `${eventGrid}/topics/again`, { location: 'westeurope', properties }, version)
  await put()
  await emulator.idle()
  const { provisioningState, endpoint, minimumTlsVersionAllowed: _, ...more } = Object((await put()).body).properties
  expect([provisioningState, endpoint, more]).toEqual(['Updating', null, shown])
})

describe('a namespace', () => {
  it.each([
    ['westus', false],
    ['West US', false],
    ['westeurope', true],
  ])('of %s is zone redundant: %s', async (location, isZoneRedundant) => {
    const { send } = await open()
    const { body } = await send('PUT', `${eventGrid}/namespaces/pull`, { location })
    expect(Object(body).properties.isZoneRedundant).toBe(isZoneRedundant)
  })
})

it.each([
  { version: '2025-02-15', topic: /\/providers\/microsoft\.eventgrid\/topics\/orders$/ },
  { version: '2025-07-15-preview', topic: /\/providers\/Microsoft\.EventGrid\/topics\/Orders$/ },
])('properties.topic at $version is $topic', async ({ version, topic }) => {
  const { send, webhook } = await open({ topics: [{ name: 'Orders' }] })
  const destination = { endpointType: 'WebHook', properties: { endpointUrl: webhook.url } }
  const { body } = await send('PUT', onTopic, { properties: { destination } }, version)
  expect(Object(body).properties.topic).toMatch(topic)
})

it.each([
  { version: '2025-02-15', words: 'Supplied URL is invalid.' },
  { version: '2025-07-15-preview', words: 'The endpoint URL is invalid as it should be specified' },
])('an invalid URL at $version is refused with: $words', async ({ version, words }) => {
  const { send } = await open({ topics: [{ name: 'Orders' }] })
  const destination = { endpointType: 'WebHook', properties: { endpointUrl: 'http://a' } }
  const answer = await send('PUT', onTopic, { properties: { destination } }, version)
  expect(Object(answer.body).error.message).toContain(`Invalid event subscription request: ${words}`)
})

it.each([
  { type: 'topics', name: 'Ab', status: 400, message: 'Topic name must be between 3 and 50 characters in length.' },
  {
    type: 'topics',
    name: 'a'.repeat(51),
    status: 400,
    message: 'Topic name must be between 3 and 50 characters in length.',
  },
  { type: 'domains', name: 'Ab', status: 400, message: 'Domain name must be between 3 and 50 characters in length.' },
  {
    type: 'topics',
    name: 'taken',
    status: 409,
    message: 'Topic with the specified name already exists. Choose a different topic name.',
  },
])('$type with the name $name are refused: $message', async ({ type, name, status, message }) => {
  const { send } = await open({ topics: [{ name: 'taken' }], subscriptions: [{ resourceGroups: ['rg', 'other'] }] })
  const path = `${eventGrid.replace('/rg/', '/other/')}/${type}/${name}`
  expect(await send('PUT', path, { location: 'westeurope' })).toMatchObject({ status, body: { error: { message } } })
})

it.each([
  {
    method: 'PATCH',
    body: { Filter: { AdvancedFilters: [{ OperatorType: 'StringIn', Key: 'data.a', Values: ['x'] }] } },
  },
  {
    method: 'PUT',
    body: { Properties: { FILTER: { advancedfilters: [{ operatortype: 'stringin', KEY: 'data.a', vaLues: ['x'] }] } } },
  },
])('$method takes the names of members in any letter case', async ({ method, body }) => {
  const { emulator, send, webhook } = await open({ topics: [{ name: 'Orders' }] })
  const destination = { EndpointType: 'WebHook', Properties: { EndpointURL: webhook.url } }
  const put = (more: object) => send('PUT', onTopic, { properties: { destination, ...more } })
  expect((await put({})).status).toBe(201)
  await emulator.idle()
  const wanted = 'Properties' in body ? { Properties: { ...body.Properties, destination } } : body
  expect((await send(method, onTopic, wanted)).status).toBe(201)
  await emulator.idle()
  expect(Object((await send('GET', onTopic)).body).properties.filter.advancedFilters).toEqual([
    { operatorType: 'StringIn', key: 'data.a', values: ['x'] },
  ])
})

it('the names of tags keep their letter case', async () => {
  const { send } = await open()
  const tags = { Location: 'a', TAGS: 'b' }
  const { body } = await send('PUT', `${eventGrid}/topics/tagged`, { Location: 'westeurope', Tags: tags })
  expect(Object(body).tags).toEqual(tags)
})

it.each([
  'topics/Orders/privateEndpointConnections',
  'namespaces/pull/caCertificates',
  'namespaces/pull/clients',
  'partnerTopics',
])('there are none of %s', async (path) => {
  const { send } = await open({ topics: [{ name: 'Orders' }], namespaces: [{ name: 'pull' }] })
  expect(await send('GET', `${eventGrid}/${path}`)).toMatchObject({ status: 200, body: { value: [] } })
  expect((await send('PUT', `${eventGrid}/${path}/one`, {})).status).toBe(400)
  const elsewhere = path.replace(/Orders|pull/, 'nothing')
  if (elsewhere !== path) expect((await send('GET', `${eventGrid}/${elsewhere}`)).status).toBe(404)
})
