/** System topics, topic types and event types, as Azure's SDK for JavaScript reads and writes them. */
import { describe, expect, it } from 'vitest'
import { managementOf } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import { emulatorDefaults } from '../../src/index.ts'

const owner = { clients: [{ roles: [{ role: 'EventGrid Contributor' }] }] }
const account = `/subscriptions/${emulatorDefaults.subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos`
const wanted = { location: 'westeurope', source: account, topicType: 'Microsoft.Storage.StorageAccounts' }
const blobCreated = { eventType: 'Microsoft.Storage.BlobCreated', subject: '/blobs/a', data: {} }

describe('a system topic', () => {
  it('is created, read, changed, listed and deleted', async () => {
    const emulator = await startEmulator(owner)
    const { systemTopics } = managementOf(emulator)
    const made = await systemTopics.beginCreateOrUpdateAndWait('rg', 'uploads', wanted)
    expect(made).toMatchObject({
      id: `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.EventGrid/systemTopics/uploads`,
      type: 'Microsoft.EventGrid/systemTopics',
      provisioningState: 'Succeeded',
      source: account,
      topicType: 'Microsoft.Storage.StorageAccounts',
      metricResourceId: expect.stringMatching(/^[\da-f-]{36}$/),
    })
    const changed = await systemTopics.beginUpdateAndWait('rg', 'uploads', { tags: { for: 'test' } })
    expect(changed).toMatchObject({ tags: { for: 'test' }, source: account })
    const names: (string | undefined)[] = []
    for await (const { name } of systemTopics.listByResourceGroup('rg')) names.push(name)
    expect(names).toEqual(['uploads'])
    await systemTopics.beginDeleteAndWait('rg', 'uploads')
    await expect(systemTopics.get('rg', 'uploads')).rejects.toMatchObject({ statusCode: 404 })
  })

  it('is the only one of its source', async () => {
    const emulator = await startEmulator(owner)
    const { systemTopics } = managementOf(emulator)
    await systemTopics.beginCreateOrUpdateAndWait('rg', 'uploads', wanted)
    await expect(systemTopics.beginCreateOrUpdate('rg', 'more', wanted)).rejects.toMatchObject({
      statusCode: 400,
      code: 'InvalidRequest',
      message: `There is an existing tracked system topic for the given source ${account}. Only one system topic is allowed per source.`,
    })
  })

  it('keeps its source', async () => {
    const emulator = await startEmulator(owner)
    const { systemTopics } = managementOf(emulator)
    await systemTopics.beginCreateOrUpdateAndWait('rg', 'uploads', wanted)
    const other = systemTopics.beginCreateOrUpdate('rg', 'uploads', { ...wanted, source: `${account}2` })
    await expect(other).rejects.toMatchObject({
      code: 'InvalidRequest',
      message: 'System topic source cannot be modified.',
    })
  })

  it('delivers the events of its source, by the name of either', async () => {
    const emulator = await startEmulator({ ...owner, systemTopics: [{ name: 'uploads', source: account }] })
    const webhook = await openWebhook(emulator, ({ body }) => {
      const code = /"validationCode":"([^"]+)"/.exec(body)?.[1]
      return code === undefined ? {} : { body: JSON.stringify({ validationResponse: code }) }
    })
    const { systemTopicEventSubscriptions } = managementOf(emulator)
    const made = await systemTopicEventSubscriptions.beginCreateOrUpdateAndWait('rg', 'uploads', 'one', {
      destination: { endpointType: 'WebHook', endpointUrl: webhook.url },
    })
    expect(made.filter?.includedEventTypes).toEqual(['Microsoft.Storage.BlobCreated', 'Microsoft.Storage.BlobDeleted'])
    emulator.raise(account, [{ ...blobCreated, id: 'by-source' }])
    emulator.raise('uploads', [{ ...blobCreated, id: 'by-name' }])
    await emulator.settled()
    const delivered = webhook.calls.filter(({ headers }) => headers['aeg-event-type'] === 'Notification')
    expect(delivered.flatMap(({ body }) => JSON.parse(body))).toMatchObject([
      { id: 'by-source', topic: account },
      { id: 'by-name', topic: account },
    ])
  })
})

describe('topic types', () => {
  it.each([
    ['Microsoft.Storage.StorageAccounts', 'Microsoft.Storage.BlobCreated'],
    ['Microsoft.Resources.ResourceGroups', 'Microsoft.Resources.ResourceWriteSuccess'],
    ['Microsoft.ContainerRegistry.Registries', 'Microsoft.ContainerRegistry.ImagePushed'],
    ['Microsoft.KeyVault.vaults', 'Microsoft.KeyVault.SecretNearExpiry'],
  ])('%s have the event type %s', async (name, eventType) => {
    const emulator = await startEmulator()
    const { topicTypes } = managementOf(emulator)
    expect((await topicTypes.get(name)).name).toBe(name)
    const found = []
    for await (const type of topicTypes.listEventTypes(name)) found.push(type)
    expect(found.find((one) => one.name === eventType)).toMatchObject({
      type: 'Microsoft.EventGrid/topicTypes/eventTypes',
      isInDefaultSet: true,
    })
  })

  it('show which event types a source sends', async () => {
    const emulator = await startEmulator(owner)
    const found: (string | undefined)[] = []
    const { topics } = managementOf(emulator)
    for await (const { name } of topics.listEventTypes('rg', 'Microsoft.Storage', 'storageAccounts', 'photos')) {
      found.push(name)
    }
    expect(found).toContain('Microsoft.Storage.DirectoryRenamed')
  })
})
