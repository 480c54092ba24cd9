import type { EventSubscription, EventSubscriptionUpdateParameters } from '@azure/arm-eventgrid'
import { describe, expect, it } from 'vitest'
import { credentialOf, managementOf, send, sendArm } from '../../../../test/support/azure-clients.ts'
import { eventHubId } from '../../../../test/support/azure-ids.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import { type EventGridEmulator, ManualClock } from '../../src/index.ts'

const query = '?code=a-key-in-the-query'

/** What the SDK is asked to create: a webhook that gets CloudEvents. */
const wanted = (endpointUrl: string, more: Partial<EventSubscription> = {}): EventSubscription => ({
  destination: { endpointType: 'WebHook', endpointUrl },
  eventDeliverySchema: 'CloudEventSchemaV1_0',
  ...more,
})

async function open(options: Parameters<typeof startEmulator>[0] = {}) {
  const emulator = await startEmulator(options)
  const webhook = await openWebhook(emulator)
  const { eventSubscriptions } = managementOf(emulator)
  const { id } = emulator.topic()
  const path = `${id}/providers/Microsoft.EventGrid/eventSubscriptions/shop`
  return { emulator, webhook, url: `${webhook.url}${query}`, eventSubscriptions, scope: id.slice(1), path }
}

const scopes = (id: string) => [
  { name: 'the subscription', scope: `subscriptions/${id}` },
  { name: 'a resource group', scope: `subscriptions/${id}/resourceGroups/rg` },
  { name: 'a topic', scope: `subscriptions/${id}/resourceGroups/rg/providers/Microsoft.EventGrid/topics/orders` },
  { name: 'a domain', scope: `subscriptions/${id}/resourceGroups/rg/providers/Microsoft.EventGrid/domains/shop` },
  {
    name: 'a topic of a domain',
    scope: `subscriptions/${id}/resourceGroups/rg/providers/Microsoft.EventGrid/domains/shop/topics/lamps`,
  },
  {
    name: 'any resource',
    scope: `subscriptions/${id}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos`,
  },
]

describe('the real EventGridManagementClient', () => {
  it.each(scopes('33333333-3333-4333-8333-333333333333'))(
    'creates, reads, lists and deletes at $name',
    async ({ scope }) => {
      const { eventSubscriptions, url, emulator } = await open({ domains: [{ name: 'shop' }] })
      const made = await eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'shop', wanted(url))
      expect(made).toMatchObject({
        id: `/${scope}/providers/Microsoft.EventGrid/eventSubscriptions/shop`,
        name: 'shop',
        type: 'Microsoft.EventGrid/eventSubscriptions',
        provisioningState: 'Succeeded',
      })
      expect(emulator.eventSubscription(scope, 'SHOP')?.name).toBe('shop')
      await eventSubscriptions.beginDeleteAndWait(scope, 'shop')
      await expect(eventSubscriptions.get(scope, 'shop')).rejects.toMatchObject({
        statusCode: 404,
        code: 'ResourceNotFound',
        message: "Event subscription doesn't exist.",
      })
    },
  )

  it('sees the URL without its query and the secret attribute as Hidden, and gets both by their own calls', async () => {
    const { eventSubscriptions, url, scope } = await open()
    const deliveryAttributeMappings = [
      { name: 'X-Secret', type: 'Static' as const, value: 'hush', isSecret: true },
      { name: 'X-Plain', type: 'Static' as const, value: 'open', isSecret: false },
      { name: 'X-Dynamic', type: 'Dynamic' as const, sourceField: 'data.key' },
    ]
    const destination = { endpointType: 'WebHook' as const, endpointUrl: url, deliveryAttributeMappings }
    const made = await eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'shop', wanted(url, { destination }))
    expect(made.destination).toMatchObject({
      endpointUrl: null,
      endpointBaseUrl: url.replace(query, ''),
      deliveryAttributeMappings: [{ value: 'Hidden' }, { value: 'open' }, { sourceField: 'data.key' }],
    })
    expect(await eventSubscriptions.getFullUrl(scope, 'shop')).toEqual({ endpointUrl: url })
    const { value } = await eventSubscriptions.getDeliveryAttributes(scope, 'shop')
    expect(value).toEqual(deliveryAttributeMappings)
  })

  it('reads the defaults that were filled in', async () => {
    const { eventSubscriptions, webhook, scope } = await open({
      topics: [{ name: 'orders', inputSchema: 'EventGridSchema' }],
    })
    const destination = { endpointType: 'WebHook' as const, endpointUrl: webhook.url }
    const made = await eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'shop', {
      destination,
      eventDeliverySchema: 'CloudEventSchemaV1_0',
    })
    expect(made).toMatchObject({
      filter: { subjectBeginsWith: '', subjectEndsWith: '', isSubjectCaseSensitive: false },
      retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 },
      destination: { maxEventsPerBatch: 1, preferredBatchSizeInKilobytes: 64 },
      labels: null,
      topic: expect.stringContaining('/providers/microsoft.eventgrid/topics/orders'),
    })
  })

  it('patches single fields, each replaced whole, and the others kept', async () => {
    const { eventSubscriptions, url, scope } = await open()
    await eventSubscriptions.beginCreateOrUpdateAndWait(
      scope,
      'shop',
      wanted(url, { labels: ['one'], filter: { subjectBeginsWith: '/a', subjectEndsWith: '.jpg' } }),
    )
    const update: EventSubscriptionUpdateParameters = { filter: { subjectBeginsWith: '/b' } }
    const patched = await eventSubscriptions.beginUpdateAndWait(scope, 'shop', update)
    expect(patched).toMatchObject({ labels: ['one'], filter: { subjectBeginsWith: '/b', subjectEndsWith: '' } })
    expect(await eventSubscriptions.getFullUrl(scope, 'shop')).toEqual({ endpointUrl: url })
  })

  it('validates the endpoint anew at each write', async () => {
    const { eventSubscriptions, webhook, url, scope } = await open()
    await eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'shop', wanted(url))
    await eventSubscriptions.beginUpdateAndWait(scope, 'shop', { labels: ['one'] })
    expect(webhook.calls.map(({ method, url: path }) => [method, path])).toEqual(
      Array(2).fill(['OPTIONS', `/api/events${query}`]),
    )
  })

  it('lists by resource, by group and by subscription, in pages', async () => {
    const { emulator, eventSubscriptions, url, scope } = await open()
    const group = `subscriptions/${emulator.subscriptionId}/resourceGroups/rg`
    for (const name of ['one', 'two', 'three'])
      await eventSubscriptions.beginCreateOrUpdateAndWait(scope, name, wanted(url))
    await eventSubscriptions.beginCreateOrUpdateAndWait(group, 'group', wanted(url))
    const names = async (list: AsyncIterable<EventSubscription>) => {
      const found: (string | undefined)[] = []
      for await (const { name } of list) found.push(name)
      return found
    }
    const source = ['rg', 'Microsoft.EventGrid', 'topics', 'orders'] as const
    expect(await names(eventSubscriptions.listByResource(...source, { top: 2 }))).toEqual(['one', 'two', 'three'])
    expect(await names(eventSubscriptions.listByResource(...source, { filter: "contains(name, 'tw')" }))).toEqual([
      'two',
    ])
    expect(await names(eventSubscriptions.listGlobalByResourceGroup('rg'))).toEqual(['group'])
    expect(await names(eventSubscriptions.listGlobalBySubscription())).toEqual(['group'])
    expect(await names(eventSubscriptions.listRegionalBySubscription('westeurope'))).toEqual(['one', 'two', 'three'])
    expect(await names(eventSubscriptions.listRegionalBySubscription('eastus'))).toEqual([])
    const byType = eventSubscriptions.listRegionalBySubscriptionForTopicType('westeurope', 'Microsoft.EventGrid.Topics')
    expect(await names(byType)).toEqual(['one', 'two', 'three'])
  })

  it('reaches the same event subscriptions by the nested path of a topic', async () => {
    const emulator = await startEmulator({ clients: [{ roles: [{ role: 'EventGrid Contributor' }] }] })
    const webhook = await openWebhook(emulator)
    const { topicEventSubscriptions, eventSubscriptions } = managementOf(emulator)
    const place = ['rg', 'orders', 'shop'] as const
    const made = await topicEventSubscriptions.beginCreateOrUpdateAndWait(...place, wanted(webhook.url))
    const { id } = emulator.topic()
    const nested = { id: `${id}/eventSubscriptions/shop`, type: 'Microsoft.EventGrid/topics/eventSubscriptions' }
    expect(made).toMatchObject(nested)
    expect(await topicEventSubscriptions.get(...place)).toMatchObject(nested)
    for await (const listed of topicEventSubscriptions.list('rg', 'orders')) expect(listed).toMatchObject(nested)
    expect(await eventSubscriptions.get(id.slice(1), 'shop')).toMatchObject({
      id: `${id}/providers/Microsoft.EventGrid/eventSubscriptions/shop`,
      type: 'Microsoft.EventGrid/eventSubscriptions',
      provisioningState: 'Succeeded',
    })
    expect(await topicEventSubscriptions.getFullUrl(...place)).toEqual({ endpointUrl: webhook.url })
    await topicEventSubscriptions.beginDeleteAndWait(...place)
    expect(emulator.eventSubscriptions()).toEqual([])
  })

  it('gets a failed handshake as the error of the operation', async () => {
    const { emulator, eventSubscriptions, scope } = await open()
    const silent = await openWebhook(emulator, () => ({ status: 404, consents: false }))
    const failed = eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'shop', wanted(silent.url))
    await expect(failed).rejects.toThrow(
      /Url validation.*handshake failed for https:\/\/webhook\.example\.com\/api\/events/s,
    )
    expect((await eventSubscriptions.get(scope, 'shop')).provisioningState).toBe('Failed')
  })
})

describe('a PUT', () => {
  const path = (emulator: EventGridEmulator) =>
    `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/shop`
  const put = (emulator: EventGridEmulator, properties: unknown, more: { method?: string; version?: string } = {}) =>
    sendArm(emulator, `${path(emulator)}?api-version=${more.version ?? '2022-06-15'}`, {
      method: more.method ?? 'PUT',
      body: JSON.stringify(more.method === 'PATCH' ? properties : { properties }),
    })
  const secretive = (endpointUrl: string) => ({
    destination: {
      endpointType: 'WebHook',
      properties: {
        endpointUrl,
        deliveryAttributeMappings: [{ name: 'X-A', type: 'Static', properties: { value: 'hush', isSecret: true } }],
      },
    },
    filter: { isSubjectCaseSensitive: false },
  })

  it('answers 201 with what was asked for and nothing filled in, the secret in clear', async () => {
    const { emulator, webhook } = await open()
    const { status, body, headers } = await put(emulator, secretive(webhook.url))
    expect(status).toBe(201)
    expect(body).toEqual({
      id: path(emulator),
      name: 'shop',
      type: 'Microsoft.EventGrid/eventSubscriptions',
      systemData: null,
      properties: {
        topic: expect.stringContaining('/microsoft.eventgrid/topics/orders'),
        provisioningState: 'Creating',
        labels: null,
        destination: {
          endpointType: 'WebHook',
          properties: {
            endpointUrl: null,
            endpointBaseUrl: webhook.url,
            deliveryAttributeMappings: [{ name: 'X-A', type: 'Static', properties: { value: 'hush', isSecret: true } }],
          },
        },
        filter: {},
      },
    })
    const url = new URL(headers['azure-asyncoperation'] ?? '')
    expect(url.origin).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(url.pathname).toMatch(
      /^\/subscriptions\/[\da-f-]+\/providers\/Microsoft\.EventGrid\/locations\/westeurope\/operationsStatus\/[\dA-F-]{36}$/,
    )
    expect(url.search).toBe('?api-version=2022-06-15')
    expect(headers).not.toHaveProperty('retry-after')
    expect(headers['x-ms-request-id']).toMatch(/^[\da-f-]{36}$/)
    expect(headers['x-ms-ratelimit-remaining-subscription-resource-requests']).toBe('199')
  })

  it('hides the secret in the 201 of a PATCH', async () => {
    const { emulator, webhook } = await open()
    await put(emulator, secretive(webhook.url))
    await emulator.idle()
    const { status, body } = await put(emulator, { labels: ['a'] }, { method: 'PATCH' })
    expect(status).toBe(201)
    expect(JSON.stringify(body)).toContain('"Hidden"')
    expect(JSON.stringify(body)).not.toContain('hush')
    expect(body).toMatchObject({ properties: { provisioningState: 'Updating', labels: ['a'] } })
  })

  it('hides the secret of a destination that is no webhook', async () => {
    const { emulator } = await open()
    const { deliveryAttributeMappings } = secretive('').destination.properties
    const properties = { resourceId: eventHubId, deliveryAttributeMappings }
    await put(emulator, { destination: { endpointType: 'EventHub', properties } })
    await emulator.idle()
    const { body } = await sendArm(emulator, path(emulator))
    expect(JSON.stringify(body)).toContain('"Hidden"')
    expect(JSON.stringify(body)).not.toContain('hush')
    const attributes = await sendArm(emulator, `${path(emulator)}/getDeliveryAttributes`, { method: 'POST' })
    expect(attributes.body).toMatchObject({ value: [{ name: 'X-A', properties: { value: 'hush' } }] })
  })

  it.each([
    { writes: 'a PUT of 2022-06-15', method: 'PUT', version: '2022-06-15', kept: false },
    { writes: 'a PATCH of its destination by 2022-06-15', method: 'PATCH', version: '2022-06-15', kept: false },
    { writes: 'a PATCH of its destination by 2025-02-15', method: 'PATCH', version: '2025-02-15', kept: true },
    { writes: 'a PATCH of its labels by 2022-06-15', method: 'PATCH', version: '2022-06-15', labels: true, kept: true },
  ])('after $writes minimumTlsVersionAllowed stands: $kept', async ({ method, version, labels, kept }) => {
    const { emulator, webhook } = await open()
    const properties = { endpointUrl: webhook.url, minimumTlsVersionAllowed: '1.2' }
    const settings = { destination: { endpointType: 'WebHook', properties } }
    await put(emulator, settings, { version: '2025-02-15' })
    await emulator.idle()
    const written = labels ? { labels: ['x'] } : settings
    const body = JSON.stringify(method === 'PUT' ? { properties: written } : written)
    const answer = await sendArm(emulator, `${path(emulator)}?api-version=${version}`, { method, body })
    expect(answer.status).toBe(201)
    await emulator.idle()
    const { body: stands } = await sendArm(emulator, `${path(emulator)}?api-version=2025-02-15`)
    expect(JSON.stringify(stands).includes('minimumTlsVersionAllowed')).toBe(kept)
  })

  it('lists the default event types of a storage account', async () => {
    const { emulator, webhook } = await open()
    const scope = `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos`
    const { body } = await sendArm(emulator, `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/shop`, {
      method: 'PUT',
      body: JSON.stringify({
        properties: { destination: { endpointType: 'WebHook', properties: { endpointUrl: webhook.url } } },
      }),
    })
    expect(body).toMatchObject({
      properties: {
        filter: { includedEventTypes: ['Microsoft.Storage.BlobCreated', 'Microsoft.Storage.BlobDeleted'] },
      },
    })
  })

  it('refuses what GET showed, since it lacks the URL', async () => {
    const { emulator, webhook } = await open()
    await put(emulator, secretive(webhook.url))
    await emulator.idle()
    const { body } = await sendArm(emulator, path(emulator))
    const again = await sendArm(emulator, path(emulator), { method: 'PUT', body: JSON.stringify(body) })
    expect(again).toMatchObject({
      status: 400,
      body: { error: { code: 'InvalidRequest', message: expect.stringContaining('Supplied URL is invalid') } },
    })
  })

  it('conflicts with a change under way where the emulator is told so', async () => {
    const clock = new ManualClock()
    const { emulator, webhook } = await open({ clock, operationDelayMs: 60_000, conflicts: true })
    expect((await put(emulator, secretive(webhook.url))).status).toBe(201)
    const second = await put(emulator, secretive(webhook.url))
    expect(second).toMatchObject({ status: 409, body: { error: { code: 'Conflict' } } })
    expect(await sendArm(emulator, path(emulator), { method: 'DELETE' })).toMatchObject({ status: 409 })
    await clock.advance(60_000)
    expect((await put(emulator, secretive(webhook.url))).status).toBe(201)
  })

  it('lets the last of several writers win otherwise', async () => {
    const { emulator, webhook } = await open()
    const labels = ['one', 'two', 'three']
    await Promise.all(labels.map((label) => put(emulator, { ...secretive(webhook.url), labels: [label] })))
    await emulator.idle()
    const { body } = await sendArm(emulator, path(emulator))
    expect(body).toMatchObject({
      properties: { provisioningState: 'Succeeded', labels: [expect.stringMatching(/one|two|three/)] },
    })
  })
})

describe('an operation', () => {
  it('is InProgress until its delay is over, then Succeeded, and its result URL answers 202, then 200', async () => {
    const clock = new ManualClock()
    const { emulator, url, eventSubscriptions, scope } = await open({ clock, operationDelayMs: 5000 })
    const poller = eventSubscriptions.beginCreateOrUpdate(scope, 'shop', wanted(url), { updateIntervalInMs: 1 })
    await (await poller).poll()
    const asked = emulator.records.requests.last?.url ?? ''
    const [, id = ''] = /operationsStatus\/([\dA-F-]+)/.exec(asked) ?? []
    expect((await sendArm(emulator, asked)).body).toEqual({
      id: expect.stringContaining(`operationsStatus/${id}`),
      name: id.toLowerCase(),
      status: 'InProgress',
    })
    const result = asked.replace('operationsStatus', 'operationResults')
    expect((await sendArm(emulator, result)).status).toBe(202)
    await clock.advance(5000)
    expect((await sendArm(emulator, asked)).body).toMatchObject({ status: 'Succeeded' })
    expect(await sendArm(emulator, result)).toMatchObject({ status: 200, body: '' })
  })

  it('of a DELETE is answered 202, empty, with both URLs; of what is not there 204', async () => {
    const { emulator, url, eventSubscriptions, scope, path } = await open()
    await eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'shop', wanted(url))
    const gone = await sendArm(emulator, path, { method: 'DELETE' })
    expect(gone).toMatchObject({ status: 202, body: '' })
    expect(gone.headers.location).toContain('/operationResults/')
    expect(gone.headers['azure-asyncoperation']).toContain('/operationsStatus/')
    expect(gone.headers).not.toHaveProperty('retry-after')
    await emulator.idle()
    expect(await sendArm(emulator, path, { method: 'DELETE' })).toMatchObject({ status: 204, body: '' })
  })

  it('of a DELETE removes an event subscription whose creation is under way', async () => {
    const clock = new ManualClock()
    const { emulator, url, path } = await open({ clock, operationDelayMs: 1_000 })
    const destination = { endpointType: 'WebHook', properties: { endpointUrl: url } }
    await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ properties: { destination } }) })
    await clock.advance(500)
    await sendArm(emulator, path, { method: 'DELETE' })
    await clock.advance(500)
    expect((await sendArm(emulator, path)).body).toMatchObject({ properties: { provisioningState: 'Deleting' } })
    await clock.advance(500)
    expect((await sendArm(emulator, path)).status).toBe(404)
  })

  it('that nobody started is not found', async () => {
    const { emulator } = await open()
    const path = `/subscriptions/${emulator.subscriptionId}/providers/Microsoft.EventGrid/locations/westeurope/operationsStatus/x`
    expect(await sendArm(emulator, path)).toMatchObject({ status: 404, body: { error: { code: expect.any(String) } } })
  })
})

it('forgets an event subscription once its expiration time is over', async () => {
  const clock = new ManualClock()
  const { emulator, url, eventSubscriptions, scope } = await open({ clock })
  const expirationTimeUtc = new Date(clock.now() + 3600_000)
  await eventSubscriptions.beginCreateOrUpdateAndWait(scope, 'shop', wanted(url, { expirationTimeUtc }))
  await clock.advance(3599_000)
  expect(emulator.eventSubscriptions()).toHaveLength(1)
  await clock.advance(2000)
  expect(emulator.eventSubscriptions()).toEqual([])
})

describe('the manual handshake', () => {
  const openManual = async () => {
    const clock = new ManualClock()
    const emulator = await startEmulator({ clock, topics: [{ name: 'orders', inputSchema: 'EventGridSchema' }] })
    const webhook = await openWebhook(emulator, () => ({ status: 200 }))
    const { id } = emulator.topic()
    const path = `${id}/providers/Microsoft.EventGrid/eventSubscriptions/shop`
    const destination = { endpointType: 'WebHook', properties: { endpointUrl: webhook.url } }
    const body = JSON.stringify({ properties: { destination } })
    const made = await sendArm(emulator, path, { method: 'PUT', body })
    await emulator.idle()
    const state = async () => Object((await sendArm(emulator, path)).body).properties.provisioningState
    const status = new URL(String(made.headers['azure-asyncoperation']))
    const operation = async () => Object((await sendArm(emulator, status.pathname + status.search)).body).status
    const [event] = JSON.parse(webhook.calls[0]?.body ?? '[]')
    return { clock, emulator, state, operation, validationUrl: new URL(event.data.validationUrl) }
  }

  it('waits in AwaitingManualAction until the validation URL is called', async () => {
    const { emulator, state, operation, validationUrl } = await openManual()
    expect(await state()).toBe('AwaitingManualAction')
    expect(await operation()).toBe('AwaitingManualAction')
    expect(await send(emulator, validationUrl.pathname + validationUrl.search)).toMatchObject({ status: 200 })
    expect(await operation()).toBe('Succeeded')
    expect(await state()).toBe('Succeeded')
  })

  it('fails when ten minutes go by', async () => {
    const { clock, state, operation } = await openManual()
    await clock.advance(599_000)
    expect(await state()).toBe('AwaitingManualAction')
    await clock.advance(2000)
    expect(await operation()).toBe('Failed')
    expect(await state()).toBe('Failed')
  })
})

it('has room for 500 event subscriptions a source', async () => {
  const { emulator, scope } = await open()
  const { token } = await credentialOf(emulator).getToken('https://management.azure.com/.default')
  const headers = { authorization: `Bearer ${token}` }
  const destination = { endpointType: 'EventHub', properties: { resourceId: eventHubId } }
  const body = JSON.stringify({ properties: { destination } })
  const put = (name: string) => {
    const path = `/${scope}/providers/Microsoft.EventGrid/eventSubscriptions/${name}?api-version=2022-06-15`
    return send(emulator, path, { method: 'PUT', headers, body })
  }
  for (let name = 0; name < 500; name++) expect((await put(`n${name}00`)).status).toBe(201)
  expect(await put('too-many')).toMatchObject({ status: 409, body: { error: { message: 'Quota limit reached.' } } })
  expect((await put('n000')).status).toBe(201)
})
