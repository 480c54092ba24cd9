import { describe, expect, it } from 'vitest'
import { credentialOf, managementOf, send, sendArm } from '../../../../test/support/azure-clients.ts'
import { eventHubId, storageAccountId } from '../../../../test/support/azure-ids.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import { type EventGridEmulatorOptions, emulatorDefaults, ManualClock } from '../../src/index.ts'

const owner = { clients: [{ roles: [{ role: 'Owner' }] }] }
const webhookAt = (endpointUrl: string) => ({ endpointType: 'WebHook' as const, properties: { endpointUrl } })
const put = (properties: unknown) => ({ method: 'PUT', body: JSON.stringify({ properties }) })

/** An emulator with a webhook, and the path of an event subscription of its topic. */
async function open(options: EventGridEmulatorOptions = {}) {
  const emulator = await startEmulator(options)
  const webhook = await openWebhook(emulator)
  const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/shop`
  return { emulator, webhook, path, scope: emulator.topic().id.slice(1), destination: webhookAt(webhook.url) }
}

describe('throttling', () => {
  it('counts reads, writes and deletes of a principal, Event Grid’s own writes by their own counter', async () => {
    const emulator = await startEmulator({ ...owner, clock: new ManualClock() })
    const scope = `/subscriptions/${emulator.subscriptionId}`
    const left = async (path: string, sent: Parameters<typeof sendArm>[2] = {}) => {
      const { headers } = await sendArm(emulator, path, sent)
      return Object.entries(headers)
        .filter(([name]) => name.startsWith('x-ms-ratelimit-remaining'))
        .map(([name, value]) => `${name.replace('x-ms-ratelimit-remaining-subscription-', '')} ${value}`)
    }
    const at = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions`
    expect(await left(at)).toEqual(['reads 249', 'global-reads 3749'])
    expect(await left(at)).toEqual(['reads 248', 'global-reads 3748'])
    expect(await left(`${at}/shop`, { method: 'DELETE' })).toEqual(['resource-requests 199'])
    expect(await left(`${at}/shop`, put({ destination: webhookAt('https://x.example/') }))).toEqual([
      'resource-requests 198',
    ])
    expect(await left(`${scope}/providers/Microsoft.EventGrid/register`, { method: 'POST' })).toEqual([
      'writes 199',
      'global-writes 2999',
    ])
    // What is about no Azure subscription counts for the tenant.
    expect(await left('/providers/Microsoft.EventGrid/topicTypes')).toEqual([
      'x-ms-ratelimit-remaining-tenant-reads 249',
    ])
  })

  it('answers 429 once a bucket of 200 writes is empty, until tokens are put back, where it is asked for', async () => {
    const clock = new ManualClock()
    const emulator = await startEmulator({ ...owner, clock, throttling: true })
    const register = `/subscriptions/${emulator.subscriptionId}/providers/Microsoft.EventGrid/register`
    const { token } = await credentialOf(emulator).getToken('https://management.azure.com/.default')
    const call = (method = 'POST', path = register) =>
      send(emulator, `${path}?api-version=2022-06-15`, { method, headers: { authorization: `Bearer ${token}` } })
    const statuses: number[] = []
    for (let count = 0; count < 200; count++) statuses.push((await call()).status)
    expect(new Set(statuses)).toEqual(new Set([200]))
    const refused = await call()
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      body: {
        error: {
          code: 'SubscriptionRequestsThrottled',
          message: expect.stringContaining("Please try again after '1' seconds"),
        },
      },
    })
    // Reads have a bucket of their own.
    expect((await call('GET', emulator.topic().id)).headers).toHaveProperty(
      'x-ms-ratelimit-remaining-subscription-reads',
      '249',
    )
    await clock.advance(1000)
    for (let count = 0; count < 10; count++) expect((await call()).status).toBe(200)
    expect((await call()).status).toBe(429)
    // A full bucket takes no more.
    await clock.advance(1_800_000)
    expect((await call()).headers).toHaveProperty('x-ms-ratelimit-remaining-subscription-writes', '199')
  })
})

describe('an operation that fails inside Azure', () => {
  it.each([
    {
      name: 'an internal error',
      fault: {},
      code: 'Internal error',
      message: /restored\. Please try again in few minutes\. If error still persists, report [\da-f-]{36}:\d/,
    },
    {
      name: 'a conflict at the source',
      fault: { code: 'Publisher Notification Error', message: 'status code: Conflict' },
      code: 'Publisher Notification Error',
      message: /Conflict/,
    },
    {
      name: 'an identity without its role',
      fault: {
        code: 'Managed Identity Authorization Error',
        message: 'The identity lacks the role.',
        details: [{ code: 'Forbidden', message: 'No role.' }],
      },
      code: 'Managed Identity Authorization Error',
      message: /lacks/,
      details: [{ code: 'Forbidden', message: 'No role.' }],
    },
  ])('says so after a 201: $name', async ({ fault, code, message, details }) => {
    const { emulator, webhook, path, destination } = await open()
    emulator.failNext({ route: 'operation', ...fault })
    const { status, headers } = await sendArm(emulator, path, put({ destination }))
    expect(status).toBe(201)
    await emulator.idle()
    const operation = await sendArm(emulator, new URL(String(headers['azure-asyncoperation'])).pathname)
    expect(operation).toMatchObject({
      status: 200,
      body: { status: 'Failed', error: { code, message: expect.stringMatching(message), ...(details && { details }) } },
    })
    expect(emulator.eventSubscription(emulator.topic().id, 'shop')?.provisioningState).toBe('Failed')
    expect(webhook.calls).toEqual([])
  })

  it('leaves the subscription Failed for good, and a PUT over it starts a new handshake', async () => {
    const clock = new ManualClock()
    const emulator = await startEmulator({ clock })
    let consents = false
    const webhook = await openWebhook(emulator, () => ({ status: consents ? 200 : 503, consents }))
    const { eventSubscriptions } = managementOf(emulator)
    const scope = emulator.topic().id.slice(1)
    const wanted = {
      destination: { endpointType: 'WebHook' as const, endpointUrl: webhook.url },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
    }
    await expect(eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'shop', wanted)).rejects.toThrow('Url validation')
    consents = true
    await clock.advance(3_000_000)
    expect(webhook.calls).toHaveLength(1)
    const made = await eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'shop', wanted)
    expect(made.provisioningState).toBe('Succeeded')
    expect(webhook.calls).toHaveLength(2)
  })
})

describe('quotas', () => {
  it('has room for 50 event subscriptions at a domain, 500 at a topic of it', async () => {
    const emulator = await startEmulator({ domains: [{ name: 'shop' }] })
    const domain = `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.EventGrid/domains/shop`
    const store = (scope: string, name: string) =>
      sendArm(
        emulator,
        `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/${name}`,
        put({ destination: { endpointType: 'EventHub', properties: { resourceId: eventHubId } } }),
      )
    for (let count = 0; count < 50; count++) expect((await store(domain, `sub-${count}`)).status).toBe(201)
    expect(await store(domain, 'one-more')).toMatchObject({
      status: 409,
      body: { error: { message: 'Quota limit reached.' } },
    })
    expect((await store(`${domain}/topics/lamps`, 'one-more')).status).toBe(201)
  })

  it.each([
    { type: 'topics' as const, name: 'custom topics' },
    { type: 'domains' as const, name: 'domains' },
  ])('has room for 100 $name in a region', async ({ type }) => {
    const declared = Array.from({ length: 100 }, (_, index) => ({ name: `topic-${index}` }))
    const emulator = await startEmulator({ ...owner, [type]: declared })
    const make = (name: string, location: string) =>
      sendArm(
        emulator,
        `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.EventGrid/${type}/${name}`,
        { method: 'PUT', body: JSON.stringify({ location }) },
      )
    expect(await make('one-more', 'West Europe')).toMatchObject({ status: 409 })
    expect((await make('topic-0', 'westeurope')).status).toBe(201)
    expect((await make('one-more', 'northeurope')).status).toBe(201)
  })
})

describe('the nested path', () => {
  it('leads to event subscriptions of domains, their topics, system topics and partner topics', async () => {
    const account = `/subscriptions/${emulatorDefaults.subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/a`
    const emulator = await startEmulator({
      clients: [{ roles: [{ role: 'EventGrid Contributor' }] }],
      domains: [{ name: 'shop' }],
      systemTopics: [{ name: 'photos', source: account }],
    })
    const webhook = await openWebhook(emulator)
    const client = managementOf(emulator)
    const wanted = {
      destination: { endpointType: 'WebHook' as const, endpointUrl: webhook.url },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
    }
    const made = await Promise.all([
      client.domainEventSubscriptions.beginCreateOrUpdateAndWait('rg', 'shop', 'one', wanted),
      client.domainTopicEventSubscriptions.beginCreateOrUpdateAndWait('rg', 'shop', 'lamps', 'two', wanted),
      client.systemTopicEventSubscriptions.beginCreateOrUpdateAndWait('rg', 'photos', 'three', wanted),
      client.partnerTopicEventSubscriptions.beginCreateOrUpdateAndWait('rg', 'partner', 'four', wanted),
    ])
    const group = `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.EventGrid`
    expect(made.map(({ id }) => id?.replace(group, ''))).toEqual([
      '/domains/shop/eventSubscriptions/one',
      '/domains/shop/topics/lamps/eventSubscriptions/two',
      '/systemTopics/photos/eventSubscriptions/three',
      '/partnerTopics/partner/eventSubscriptions/four',
    ])
    expect((await sendArm(emulator, made[2]?.id ?? '')).status).toBe(200)
    expect(made.map(({ type, provisioningState }) => [type, provisioningState])).toEqual([
      ['Microsoft.EventGrid/domains/eventSubscriptions', 'Succeeded'],
      ['Microsoft.EventGrid/domains/topics/eventSubscriptions', 'Succeeded'],
      ['Microsoft.EventGrid/systemTopics/eventSubscriptions', 'Succeeded'],
      ['Microsoft.EventGrid/partnerTopics/eventSubscriptions', 'Succeeded'],
    ])
  })
})

describe('event types', () => {
  it.each([
    { name: 'a type the source never sends', types: ['Microsoft.Storage.BlobSold'], status: 201 },
    { name: 'a type it sends on demand', types: ['Microsoft.Storage.BlobRenamed'], status: 201 },
    { name: 'All', types: ['All'], status: 201 },
  ])('of a system source: $name is answered $status', async ({ types, status }) => {
    const { emulator, destination } = await open()
    const account = `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos`
    const answer = await sendArm(
      emulator,
      `${account}/providers/Microsoft.EventGrid/eventSubscriptions/shop`,
      put({ destination, filter: { includedEventTypes: types } }),
    )
    expect(answer.status).toBe(status)
  })
})

describe('what an event subscription shows', () => {
  it('is the type All for a custom topic in the versions of 2018, and no list since', async () => {
    const { emulator, path, destination } = await open()
    await sendArm(emulator, path, put({ destination }))
    await emulator.idle()
    const sparse = await sendArm(emulator, `${path}?api-version=2018-01-01`, put({ destination }))
    expect(Object(sparse.body).properties.filter).toEqual({})
    await emulator.idle()
    const types = async (version: string) =>
      Object((await sendArm(emulator, `${path}?api-version=${version}`)).body).properties.filter.includedEventTypes
    expect(await types('2018-01-01')).toEqual(['All'])
    expect(await types('2022-06-15')).toBeUndefined()
  })

  it.each([
    {
      version: '2018-09-15-preview',
      young: ['maxEventsPerBatch', 'deliveryAttributeMappings'],
      shown: ['eventDeliverySchema'],
    },
    { version: '2019-06-01', young: ['eventDeliverySchema', 'maxEventsPerBatch'], shown: ['retryPolicy'] },
    {
      version: '2020-06-01',
      young: ['deliveryAttributeMappings'],
      shown: ['eventDeliverySchema', 'maxEventsPerBatch'],
    },
    { version: '2021-12-01', young: ['minimumTlsVersionAllowed'], shown: ['deliveryAttributeMappings'] },
    { version: '2022-06-15', young: ['minimumTlsVersionAllowed'], shown: ['deliveryAttributeMappings'] },
    { version: '2025-02-15', young: [], shown: ['minimumTlsVersionAllowed'] },
  ])('in $version has $shown and not $young', async ({ version, young, shown }) => {
    const { emulator, path, destination } = await open()
    const mapping = { name: 'X-Shop', type: 'Static', properties: { value: 'a' } }
    const more = { deliveryAttributeMappings: [mapping], minimumTlsVersionAllowed: '1.2' }
    const properties = { ...destination.properties, ...more }
    await sendArm(emulator, `${path}?api-version=2025-02-15`, put({ destination: { ...destination, properties } }))
    const text = JSON.stringify((await sendArm(emulator, `${path}?api-version=${version}`)).body)
    for (const name of shown) expect(text).toContain(`"${name}"`)
    for (const name of young) expect(text).not.toContain(`"${name}"`)
  })

  it('has no systemData, keeps its labels and the letter case of its name', async () => {
    const { emulator, webhook, scope } = await open()
    const { eventSubscriptions } = managementOf(emulator)
    const destination = { endpointType: 'WebHook' as const, endpointUrl: webhook.url }
    await eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'MixedCase', { destination, labels: ['a', 'b'] })
    const { id, systemData, labels } = await eventSubscriptions.get(scope, 'mixedcase')
    expect(id).toContain('/eventSubscriptions/MixedCase')
    expect(systemData ?? null).toBeNull()
    expect(labels).toEqual(['a', 'b'])
  })

  it('keeps an identity for delivery and for dead-lettering', async () => {
    const { emulator, path, destination } = await open()
    const identity = { type: 'SystemAssigned' }
    const properties = {
      deliveryWithResourceIdentity: { identity, destination },
      deadLetterWithResourceIdentity: {
        identity,
        deadLetterDestination: {
          endpointType: 'StorageBlob',
          properties: { resourceId: storageAccountId, blobContainerName: 'letters' },
        },
      },
    }
    expect((await sendArm(emulator, path, put(properties))).status).toBe(201)
    await emulator.idle()
    expect(await sendArm(emulator, path)).toMatchObject({
      body: {
        properties: {
          provisioningState: 'Succeeded',
          deliveryWithResourceIdentity: { identity, destination: { endpointType: 'WebHook' } },
          deadLetterWithResourceIdentity: { identity },
        },
      },
    })
  })
})
