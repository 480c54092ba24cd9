/** Domains and their topics, as Azure's SDK for JavaScript manages them. */
import { describe, expect, it } from 'vitest'
import { managementOf, sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import type { EventGridEmulator } from '../../src/index.ts'

const owner = { clients: [{ roles: [{ role: 'EventGrid Contributor' }] }] }
const withShop = { ...owner, domains: [{ name: 'shop' }] }

async function listed<Item extends { readonly name?: string }>(items: AsyncIterable<Item>) {
  const names: (string | undefined)[] = []
  for await (const { name } of items) names.push(name)
  return names
}

async function subscribed(emulator: EventGridEmulator, topic: string, name = 'one') {
  const webhook = await openWebhook(emulator)
  const { domainTopicEventSubscriptions } = managementOf(emulator)
  return domainTopicEventSubscriptions.beginCreateOrUpdateAndWait('rg', 'shop', topic, name, {
    destination: { endpointType: 'WebHook', endpointUrl: webhook.url },
    eventDeliverySchema: 'CloudEventSchemaV1_0',
  })
}

describe('a domain', () => {
  it('is created, read, changed, listed and deleted', async () => {
    const emulator = await startEmulator(owner)
    const { domains } = managementOf(emulator)
    const made = await domains.beginCreateOrUpdateAndWait('rg', 'shop', { location: 'northeurope' })
    expect(made).toMatchObject({
      id: emulator.domain('shop').id,
      name: 'shop',
      type: 'Microsoft.EventGrid/domains',
      location: 'northeurope',
      provisioningState: 'Succeeded',
      inputSchema: 'EventGridSchema',
      endpoint: emulator.domain('shop').endpoint,
    })
    await domains.beginUpdateAndWait('rg', 'shop', { tags: { for: 'test' }, disableLocalAuth: true })
    expect(await domains.get('rg', 'shop')).toMatchObject({
      tags: { for: 'test' },
      disableLocalAuth: true,
      inputSchema: 'EventGridSchema',
    })
    expect(await listed(domains.listByResourceGroup('rg'))).toEqual(['shop'])
    expect(await listed(domains.listBySubscription())).toEqual(['shop'])
    await domains.beginDeleteAndWait('rg', 'shop')
    await expect(domains.get('rg', 'shop')).rejects.toMatchObject({ statusCode: 404, code: 'ResourceNotFound' })
  })

  it('has only its state, null for its endpoint and what was asked for in the 201 that makes it', async () => {
    const emulator = await startEmulator(owner)
    const path = `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.EventGrid/domains/shop`
    const body = JSON.stringify({ location: 'eastus2euap' })
    const made = await sendArm(emulator, `${path}?api-version=2021-12-01`, { method: 'PUT', body })
    expect(made.status).toBe(201)
    expect(Object(made.body).properties).toEqual({ provisioningState: 'Creating', endpoint: null })
  })

  // HashiCorp's SDK sends none.
  it.each(['', ' '])('has a domain topic made by a PUT without a body: %j', async (body) => {
    const emulator = await startEmulator(withShop)
    const path = `${emulator.domain().id}/topics/lamps?api-version=2022-06-15`
    expect((await sendArm(emulator, path, { method: 'PUT', body })).status).toBe(201)
    await emulator.idle()
    expect(await managementOf(emulator).domainTopics.get('rg', 'shop', 'lamps')).toMatchObject({ name: 'lamps' })
  })

  it('has two keys, and renews one at a time', async () => {
    const emulator = await startEmulator(withShop)
    const { domains } = managementOf(emulator)
    const [key1, key2] = emulator.domain().keys
    expect(await domains.listSharedAccessKeys('rg', 'shop')).toEqual({ key1, key2 })
    const renewed = await domains.regenerateKey('rg', 'shop', { keyName: 'key1' })
    expect(renewed.key2).toBe(key2)
    expect(renewed.key1).not.toBe(key1)
    expect(emulator.domain().keys).toEqual([renewed.key1, renewed.key2])
  })

  it('takes its topics and all event subscriptions along when it is deleted', async () => {
    const emulator = await startEmulator(withShop)
    await subscribed(emulator, 'lamps')
    const { domains, domainTopics } = managementOf(emulator)
    await domains.beginDeleteAndWait('rg', 'shop')
    await emulator.idle()
    expect(emulator.eventSubscriptions()).toEqual([])
    await expect(domainTopics.get('rg', 'shop', 'lamps')).rejects.toMatchObject({ statusCode: 404 })
  })

  it.each([
    { version: '2018-09-15-preview', shown: ['endpoint', 'inputSchema', 'provisioningState'] },
    { version: '2019-06-01', shown: ['endpoint', 'provisioningState'] },
    {
      version: '2020-06-01',
      shown: ['endpoint', 'inputSchema', 'metricResourceId', 'provisioningState', 'publicNetworkAccess'],
    },
  ])('shows in $version the properties that this version has', async ({ version, shown }) => {
    const emulator = await startEmulator(withShop)
    const { body } = await sendArm(emulator, `${emulator.domain().id}?api-version=${version}`)
    expect(Object.keys(Object(body).properties).sort()).toEqual(shown)
  })

  it('shows whether it creates and deletes its topics, where this was set', async () => {
    const emulator = await startEmulator(withShop)
    const { domains } = managementOf(emulator)
    const settings = { autoCreateTopicWithFirstSubscription: false, autoDeleteTopicWithLastSubscription: false }
    await domains.beginUpdateAndWait('rg', 'shop', settings)
    expect(await domains.get('rg', 'shop')).toMatchObject(settings)
  })

  it('may have the name of one in another region, not in its own', async () => {
    const groups = { subscriptions: [{ resourceGroups: ['rg', 'other'] }] }
    const emulator = await startEmulator({ ...withShop, ...groups })
    const { domains } = managementOf(emulator)
    await expect(domains.beginCreateOrUpdate('other', 'shop', { location: 'westeurope' })).rejects.toMatchObject({
      statusCode: 409,
      code: 'Conflict',
    })
    const other = await domains.beginCreateOrUpdateAndWait('other', 'shop', { location: 'northeurope' })
    expect(other.endpoint).not.toBe(emulator.domain('shop').endpoint)
  })
})

describe('a domain topic', () => {
  it('is created by a PUT, read, listed and deleted', async () => {
    const emulator = await startEmulator(withShop)
    const { domainTopics } = managementOf(emulator)
    const made = await domainTopics.beginCreateOrUpdateAndWait('rg', 'shop', 'lamps')
    expect(made).toMatchObject({
      id: `${emulator.domain().id}/topics/lamps`,
      name: 'lamps',
      type: 'Microsoft.EventGrid/domains/topics',
      provisioningState: 'Succeeded',
    })
    expect(await listed(domainTopics.listByDomain('rg', 'shop'))).toEqual(['lamps'])
    await domainTopics.beginDeleteAndWait('rg', 'shop', 'lamps')
    expect(await listed(domainTopics.listByDomain('rg', 'shop'))).toEqual([])
  })

  it('is created by its first event subscription, and deleted with the last', async () => {
    const emulator = await startEmulator(withShop)
    const { domainTopics, domainTopicEventSubscriptions } = managementOf(emulator)
    await subscribed(emulator, 'lamps', 'one')
    await subscribed(emulator, 'lamps', 'two')
    expect(await listed(domainTopics.listByDomain('rg', 'shop'))).toEqual(['lamps'])
    await domainTopicEventSubscriptions.beginDeleteAndWait('rg', 'shop', 'lamps', 'one')
    expect((await domainTopics.get('rg', 'shop', 'lamps')).name).toBe('lamps')
    await domainTopicEventSubscriptions.beginDeleteAndWait('rg', 'shop', 'lamps', 'two')
    await expect(domainTopics.get('rg', 'shop', 'lamps')).rejects.toMatchObject({ statusCode: 404 })
  })

  it('must exist before its first event subscription where its domain creates none', async () => {
    const emulator = await startEmulator(withShop)
    const { domains, domainTopics } = managementOf(emulator)
    await domains.beginUpdateAndWait('rg', 'shop', { autoCreateTopicWithFirstSubscription: false })
    await expect(subscribed(emulator, 'lamps')).rejects.toMatchObject({ statusCode: 404, code: 'ResourceNotFound' })
    await domainTopics.beginCreateOrUpdateAndWait('rg', 'shop', 'lamps')
    expect((await subscribed(emulator, 'lamps')).provisioningState).toBe('Succeeded')
  })

  it('stays after its last event subscription where its domain deletes none', async () => {
    const emulator = await startEmulator(withShop)
    const { domains, domainTopics, domainTopicEventSubscriptions } = managementOf(emulator)
    await domains.beginUpdateAndWait('rg', 'shop', { autoDeleteTopicWithLastSubscription: false })
    await subscribed(emulator, 'lamps')
    await domainTopicEventSubscriptions.beginDeleteAndWait('rg', 'shop', 'lamps', 'one')
    expect((await domainTopics.get('rg', 'shop', 'lamps')).name).toBe('lamps')
  })

  it('is 404 below a domain that does not exist', async () => {
    const emulator = await startEmulator(owner)
    const { domainTopics, domainEventSubscriptions } = managementOf(emulator)
    const missing = {
      statusCode: 404,
      code: 'ParentResourceNotFound',
      message: expect.stringContaining('domains/shop'),
    }
    await expect(domainTopics.beginCreateOrUpdate('rg', 'shop', 'lamps')).rejects.toMatchObject(missing)
    await expect(listed(domainTopics.listByDomain('rg', 'shop'))).rejects.toMatchObject(missing)
    await expect(listed(domainEventSubscriptions.list('rg', 'shop'))).rejects.toMatchObject(missing)
  })
})
