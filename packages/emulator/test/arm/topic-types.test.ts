/** Topic types and event types, as Resource Manager showed them on record, and what follows from them for event subscriptions. */
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import { emulatorDefaults } from '../../src/index.ts'

const newest = '2025-07-15-preview'
const owner = { clients: [{ roles: [{ role: 'Owner' }] }] }
const subscription = `/subscriptions/${emulatorDefaults.subscriptionId}`
const account = `${subscription}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos`

async function read(path: string, version = newest) {
  const emulator = await startEmulator(owner)
  return Object(
    (await sendArm(emulator, `/providers/Microsoft.EventGrid/topicTypes${path}?api-version=${version}`)).body,
  )
}

const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)

describe('topic types', () => {
  it('are the 33 of March 2026, in one page', async () => {
    const { value, nextLink } = await read('')
    expect(nextLink).toBeUndefined()
    expect(value).toHaveLength(33)
    expect(new Set(namesOf(value)).size).toBe(33)
  })

  it.each([
    {
      name: 'Microsoft.Storage.StorageAccounts',
      properties: {
        provider: 'Microsoft.Storage',
        displayName: 'Storage Accounts (Blob & GPv2)',
        resourceRegionType: 'RegionalResource',
        supportedLocations: expect.arrayContaining(['West US 2', 'West Europe', 'India South Central']),
        sourceResourceFormat: expect.stringMatching(
          /providers\/Microsoft\.Storage\/storageAccounts\/<storageAccountName>$/,
        ),
      },
    },
    {
      name: 'Microsoft.KeyVault.vaults',
      properties: { displayName: 'Microsoft Key Vault', description: 'Microsoft Key Vault service events' },
    },
    {
      name: 'Microsoft.PolicyInsights.PolicyStates',
      properties: {
        resourceRegionType: 'GlobalResource',
        supportedScopesForSource: ['AzureSubscription', 'ManagementGroup'],
      },
    },
    { name: 'Microsoft.Maps.Accounts', properties: { areRegionalAndGlobalSourcesSupported: true } },
    {
      name: 'Microsoft.ResourceNotifications.Resources',
      properties: {
        additionalEnforcedPermissions: [
          {
            permissionName: 'Microsoft.ResourceNotifications/systemTopics/subscribeToResources/action',
            isDataAction: false,
          },
        ],
      },
    },
  ])('$name is as on record', async ({ name, properties }) => {
    const { value } = await read('')
    const [listed] = value.filter((one: { readonly name: string }) => one.name === name)
    expect(listed).toMatchObject({ properties, type: 'Microsoft.EventGrid/topicTypes' })
    expect(await read(`/${name.toLowerCase()}`)).toEqual(listed)
  })

  it('have locations where they are regional alone, and the formats of younger versions in these alone', async () => {
    const { value } = await read('')
    for (const { properties } of value) {
      expect('supportedLocations' in properties).toBe(properties.resourceRegionType === 'RegionalResource')
    }
    expect((await read('/Microsoft.Maps.Accounts', '2019-06-01')).properties).not.toHaveProperty('sourceResourceFormat')
  })
})

describe('event types', () => {
  it('of a storage account are ten, two of them in the default set', async () => {
    const { value } = await read('/Microsoft.Storage.StorageAccounts/eventTypes')
    expect(namesOf(value).map((name) => name.split('.').at(-1))).toEqual([
      ...['BlobCreated', 'BlobDeleted', 'DirectoryCreated', 'DirectoryDeleted', 'BlobRenamed', 'DirectoryRenamed'],
      ...['BlobTierChanged', 'BlobInventoryPolicyCompleted', 'AsyncOperationInitiated', 'LifecyclePolicyCompleted'],
    ])
    const sets = value.map(({ properties }: { readonly properties: object }) =>
      Reflect.get(properties, 'isInDefaultSet'),
    )
    expect(sets).toEqual([true, true, ...Array(8).fill(undefined)])
    expect(value[7].properties.displayName).toBe('Blob Inventory Completed')
  })

  it.each([
    ['WriteSuccess', 'Raised when a resource create or update operation succeeds.'],
    ['WriteFailure', 'Raised when a resource create or update operation fails.'],
    ['DeleteSuccess', 'Raised when a resource deletion operation succeeds.'],
    ['DeleteFailure', 'Raised when a resource delete operation fails.'],
    ['ActionCancel', 'Raised when a resource action operation is cancelled.'],
  ])('Resource%s has the words on record', async (name, description) => {
    const { value } = await read('/Microsoft.Resources.Subscriptions/eventTypes')
    expect(value).toHaveLength(9)
    const [found] = value.filter((one: { readonly name: string }) => one.name === `Microsoft.Resources.Resource${name}`)
    expect(found.properties).toMatchObject({ description, isInDefaultSet: true })
    expect(found.properties.displayName).toBe(`Resource ${name.replace(/(?<=[a-z])(?=[A-Z])/, ' ')}`)
  })
})

/** A storage account, or its system topic, with an event subscription; `types`: the last part of its event types. */
async function openAccount({ at, types }: { readonly at: string; readonly types?: readonly string[] }) {
  const emulator = await startEmulator({ ...owner, systemTopics: [{ name: 'photos', source: account }] })
  const webhook = await openWebhook(emulator)
  const destination = { endpointType: 'WebHook', properties: { endpointUrl: webhook.url } }
  const filter = types && { includedEventTypes: types.map((type) => `Microsoft.Storage.${type}`) }
  const properties = { destination, eventDeliverySchema: 'CloudEventSchemaV1_0', ...(filter && { filter }) }
  const path = `${at}/eventSubscriptions/shop?api-version=2025-02-15`
  const made = await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ properties }) })
  await emulator.idle()
  const state = Object((await sendArm(emulator, path)).body).properties.provisioningState
  return { emulator, webhook, made, state }
}

const accountPath = `${account}/providers/Microsoft.EventGrid`
const systemTopicPath = `${subscription}/resourceGroups/rg/providers/Microsoft.EventGrid/systemTopics/photos`
const raised = ['BlobCreated', 'BlobDeleted', 'BlobTierChanged', 'DirectoryCreated', 'AsyncOperationInitiated']

describe('an event subscription of a storage account', () => {
  it.each([
    { what: 'without event types', at: accountPath, delivered: ['BlobCreated', 'BlobDeleted'] },
    { what: 'without event types', at: systemTopicPath, delivered: ['BlobCreated', 'BlobDeleted'] },
    { what: 'with an empty list', at: accountPath, types: [], delivered: ['BlobCreated', 'BlobDeleted'] },
    { what: 'with a type on demand', at: accountPath, types: ['BlobTierChanged'], delivered: ['BlobTierChanged'] },
  ])('$what at $at gets $delivered', async ({ at, types, delivered }) => {
    const { emulator, webhook } = await openAccount({ at, ...(types && { types }) })
    const events = raised.map((type) => ({ eventType: `Microsoft.Storage.${type}`, subject: '/blobs/a', data: {} }))
    emulator.raise(account, events)
    await emulator.settled()
    const calls = webhook.calls.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body).type)
    expect(calls).toEqual(delivered.map((type) => `Microsoft.Storage.${type}`))
  })

  it('tells which types are sent by default where an event is of another', async () => {
    const { emulator } = await openAccount({ at: accountPath })
    emulator.raise(account, [{ eventType: 'Microsoft.Storage.BlobTierChanged', subject: '/blobs/a', data: {} }])
    const [event] = Object(await (await fetch(`${emulator.proxy}/emulator/events`)).json()).events
    expect(event.subscriptions[0].reason).toBe(
      'the event has the type Microsoft.Storage.BlobTierChanged, which includedEventTypes must name: by default the ' +
        'source sends Microsoft.Storage.BlobCreated, Microsoft.Storage.BlobDeleted',
    )
  })

  it('keeps event types that no source sends', async () => {
    const { made, state } = await openAccount({ at: accountPath, types: ['BlobSold'] })
    expect(made.status).toBe(201)
    expect(Object(made.body).properties.filter.includedEventTypes).toEqual(['Microsoft.Storage.BlobSold'])
    expect(state).toBe('Succeeded')
  })
})

it.each([
  { topicType: 'Microsoft.PolicyInsights.PolicyStates', source: subscription, status: 200 },
  {
    topicType: 'Microsoft.PolicyInsights.PolicyStates',
    source: '/providers/Microsoft.Management/managementGroups/all',
    status: 200,
  },
  { topicType: 'Microsoft.ResourceNotifications.Resources', source: subscription, status: 200 },
  { topicType: 'Microsoft.PolicyInsights.PolicyStates', source: account, status: 400 },
  { topicType: 'Microsoft.Storage.StorageAccounts', source: subscription, status: 400 },
])(
  'a system topic of $topicType with the source $source is answered $status',
  async ({ topicType, source, status }) => {
    const emulator = await startEmulator(owner)
    const body = JSON.stringify({ location: 'global', properties: { source, topicType } })
    expect((await sendArm(emulator, systemTopicPath, { method: 'PUT', body })).status).toBe(status)
  },
)

it('event subscriptions of one source get the default types of the topic type, not of the source', async () => {
  const emulator = await startEmulator(owner)
  const webhook = await openWebhook(emulator)
  const properties = { source: subscription, topicType: 'Microsoft.PolicyInsights.PolicyStates' }
  await sendArm(emulator, systemTopicPath, { method: 'PUT', body: JSON.stringify({ location: 'global', properties }) })
  const destination = { endpointType: 'WebHook', properties: { endpointUrl: webhook.url } }
  const settings = { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' }
  const path = `${systemTopicPath}/eventSubscriptions/shop?api-version=2025-02-15`
  await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ properties: settings }) })
  await emulator.idle()
  emulator.raise(subscription, [
    { eventType: 'Microsoft.PolicyInsights.PolicyStateCreated', subject: '/policy', data: {} },
    { eventType: 'Microsoft.Resources.ResourceWriteSuccess', subject: '/resource', data: {} },
  ])
  await emulator.settled()
  const calls = webhook.calls.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body).type)
  expect(calls).toEqual(['Microsoft.PolicyInsights.PolicyStateCreated'])
})
