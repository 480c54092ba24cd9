import { describe, expect, it } from 'vitest'
import { managementOf, sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'
import type { EventGridEmulator } from '../../src/index.ts'

const contributor = { clients: [{ roles: [{ role: 'EventGrid Contributor' }] }] }

it('creates, reads, lists and deletes custom topics through the SDK', async () => {
  const emulator = await startEmulator(contributor)
  const { topics } = managementOf(emulator)
  const made = await topics.beginCreateOrUpdateAndWait('rg', 'lamps', {
    location: 'northeurope',
    tags: { for: 'test' },
  })
  expect(made).toMatchObject({
    name: 'lamps',
    type: 'Microsoft.EventGrid/topics',
    location: 'northeurope',
    tags: { for: 'test' },
    provisioningState: 'Succeeded',
    inputSchema: 'EventGridSchema',
    endpoint: emulator.topic('lamps').endpoint,
    disableLocalAuth: false,
  })
  const names: (string | undefined)[] = []
  for await (const { name } of topics.listByResourceGroup('rg')) names.push(name)
  expect(names).toEqual(['orders', 'lamps'])
  await topics.beginDeleteAndWait('rg', 'lamps')
  await expect(topics.get('rg', 'lamps')).rejects.toMatchObject({ statusCode: 404, code: 'ResourceNotFound' })
})

it('shows both keys and renews one at a time', async () => {
  const emulator = await startEmulator(contributor)
  const { topics } = managementOf(emulator)
  const [key1, key2] = emulator.topic().keys
  expect(await topics.listSharedAccessKeys('rg', 'orders')).toEqual({ key1, key2 })
  const renewed = await topics.beginRegenerateKeyAndWait('rg', 'orders', { keyName: 'key2' })
  expect(renewed).toMatchObject({ key1, key2: expect.not.stringMatching(key2.replace(/[+/]/g, '.')) })
  expect(emulator.topic().keys).toEqual([renewed.key1, renewed.key2])
})

it('keeps keys and input schema when a topic is put again, and takes the mapping of a custom schema', async () => {
  const emulator = await startEmulator(contributor)
  const { topics } = managementOf(emulator)
  const inputSchemaMapping = {
    inputSchemaMappingType: 'Json' as const,
    id: { sourceField: 'number' },
    eventType: { sourceField: 'kind', defaultValue: 'order' },
  }
  const custom = { location: 'westeurope', inputSchema: 'CustomEventSchema', inputSchemaMapping }
  await topics.beginCreateOrUpdateAndWait('rg', 'mapped', custom)
  const { keys } = emulator.topic('mapped')
  const again = await topics.beginCreateOrUpdateAndWait('rg', 'mapped', { location: 'westeurope', inputSchemaMapping })
  expect(again).toMatchObject({ inputSchema: 'CustomEventSchema', inputSchemaMapping })
  expect(emulator.topic('mapped').keys).toEqual(keys)
})

it('takes the event subscriptions of a topic along when it is deleted', async () => {
  const emulator = await startEmulator(contributor)
  const webhook = await openWebhook(emulator)
  const { topics, eventSubscriptions } = managementOf(emulator)
  const destination = { endpointType: 'WebHook' as const, endpointUrl: webhook.url }
  await eventSubscriptions.beginCreateOrUpdateAndWait(emulator.topic().id.slice(1), 'shop', { destination })
  await topics.beginDeleteAndWait('rg', 'orders')
  await emulator.idle()
  expect(emulator.eventSubscriptions()).toEqual([])
})

it.each([
  { name: 'a name of 2 characters', topic: 'ab', body: { location: 'westeurope' }, message: /between 3 and 50/ },
  {
    name: 'a name of 51 characters',
    topic: 'a'.repeat(51),
    body: { location: 'westeurope' },
    message: /between 3 and 50/,
  },
  { name: 'a name with a dot', topic: 'a.b', body: { location: 'westeurope' }, message: 'Invalid topic name.' },
  { name: 'a reserved name', topic: 'Microsoft-x', body: { location: 'westeurope' }, message: 'Invalid topic name.' },
  { name: 'no location', topic: 'lamps', body: {}, message: /location/ },
  {
    name: 'an unknown schema',
    topic: 'lamps',
    body: { location: 'x', properties: { inputSchema: 'Xml' } },
    message: /inputSchema/,
  },
])('refuses a topic with $name', async ({ topic, body, message }) => {
  const emulator = await startEmulator(contributor)
  const path = `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.EventGrid/topics/${topic}`
  expect(await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify(body) })).toMatchObject({
    status: 400,
    body: { error: { code: 'InvalidRequest', message: expect.stringMatching(message) } },
  })
})

it('refuses a topic name that another resource group has', async () => {
  const emulator = await startEmulator({ ...contributor, subscriptions: [{ resourceGroups: ['rg', 'other'] }] })
  const taken = managementOf(emulator).topics.beginCreateOrUpdate('other', 'orders', { location: 'westeurope' })
  await expect(taken).rejects.toMatchObject({ statusCode: 409, code: 'Conflict' })
})

it('refuses topics to who may only handle event subscriptions', async () => {
  const emulator = await startEmulator()
  const { topics } = managementOf(emulator)
  await expect(topics.listSharedAccessKeys('rg', 'orders')).rejects.toMatchObject({ code: 'AuthorizationFailed' })
})

describe('a custom topic', () => {
  const group = (emulator: EventGridEmulator) =>
    `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg/providers/Microsoft.EventGrid`
  const publishTo = ({ httpEndpoint, key }: { readonly httpEndpoint: string; readonly key: string }) =>
    fetch(httpEndpoint, {
      method: 'POST',
      headers: { 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify({ specversion: '1.0', id: '1', source: '/shop', type: 'order.placed' }),
    })

  it('is changed by a PATCH, which keeps what it does not name', async () => {
    const emulator = await startEmulator(contributor)
    const { topics } = managementOf(emulator)
    const { keys } = emulator.topic()
    const sku = { name: 'Basic' }
    const identity = { type: 'SystemAssigned' }
    const at = emulator.topic().id
    await sendArm(emulator, at, { method: 'PATCH', body: JSON.stringify({ sku, identity, tags: { for: 'test' } }) })
    await topics.beginUpdateAndWait('rg', 'orders', { disableLocalAuth: true })
    expect((await sendArm(emulator, at)).body).toMatchObject({
      tags: { for: 'test' },
      sku,
      identity,
      properties: { disableLocalAuth: true, inputSchema: 'CloudEventSchemaV1_0', provisioningState: 'Succeeded' },
    })
    expect(emulator.topic().keys).toEqual(keys)
    expect((await sendArm(emulator, `${at}s`, { method: 'PATCH', body: '{}' })).status).toBe(404)
  })

  it('has no endpoint, metricResourceId and publicNetworkAccess in the 201 that makes it, and has them afterwards', async () => {
    const emulator = await startEmulator(contributor)
    const path = `${group(emulator)}/topics/lamps`
    const made = await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ location: 'westeurope' }) })
    const { properties } = Object(made.body)
    expect(properties).toMatchObject({ provisioningState: 'Creating', endpoint: null })
    expect(properties).not.toHaveProperty('metricResourceId')
    expect(properties).not.toHaveProperty('publicNetworkAccess')
    await emulator.idle()
    expect((await sendArm(emulator, path)).body).toMatchObject({
      systemData: null,
      properties: {
        endpoint: emulator.topic('lamps').endpoint,
        metricResourceId: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
        publicNetworkAccess: 'Enabled',
      },
    })
  })

  it('has disableLocalAuth only in the versions that know it', async () => {
    const emulator = await startEmulator(contributor)
    const shown = async (version: string) =>
      Object((await sendArm(emulator, `${emulator.topic().id}?api-version=${version}`)).body).properties
        .disableLocalAuth
    // Where nobody wrote it, it is not shown (recorded, 2024).
    expect(await shown('2021-12-01')).toBeUndefined()
    const body = JSON.stringify({ properties: { disableLocalAuth: false } })
    await sendArm(emulator, emulator.topic().id, { method: 'PATCH', body })
    expect(await shown('2020-06-01')).toBeUndefined()
    expect(await shown('2021-12-01')).toBe(false)
  })

  it('keeps its kind, sku and identity, and a PATCH changes each alone', async () => {
    const emulator = await startEmulator(contributor)
    const path = `${group(emulator)}/topics/lamps`
    const given = { kind: 'Azure', sku: { name: 'Basic' }, identity: { type: 'SystemAssigned' } }
    await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ location: 'westeurope', ...given }) })
    await sendArm(emulator, path, { method: 'PATCH', body: JSON.stringify({ sku: { name: 'Premium' } }) })
    expect((await sendArm(emulator, path)).body).toMatchObject({ ...given, sku: { name: 'Premium' } })
  })

  it('may have the name of one in another region, which has an endpoint of its own', async () => {
    const groups = { subscriptions: [{ resourceGroups: ['rg', 'other'] }] }
    const emulator = await startEmulator({ ...contributor, ...groups })
    const { topics } = managementOf(emulator)
    const cloud = { location: 'northeurope', inputSchema: 'CloudEventSchemaV1_0' }
    await topics.beginCreateOrUpdateAndWait('other', 'orders', cloud)
    const [first, second] = emulator.topics()
    expect([first?.name, second?.name]).toEqual(['orders', 'orders'])
    const { key1 = '' } = await topics.listSharedAccessKeys('other', 'orders')
    const { httpEndpoint = '' } = second ?? {}
    expect((await publishTo({ httpEndpoint, key: key1 })).status).toBe(200)
    expect((await publishTo({ httpEndpoint, key: first?.key ?? '' })).status).toBe(401)
    await topics.beginDeleteAndWait('other', 'orders')
    expect((await publishTo({ httpEndpoint, key: key1 })).status).toBe(404)
    expect((await publishTo(emulator.topic())).status).toBe(200)
  })

  it('keeps its location: another is refused with 409', async () => {
    const emulator = await startEmulator(contributor)
    const put = (location: string) =>
      sendArm(emulator, emulator.topic().id, { method: 'PUT', body: JSON.stringify({ location }) })
    expect(await put('northeurope')).toMatchObject({
      status: 409,
      body: { error: { code: 'InvalidResourceLocation' } },
    })
    expect((await put('West Europe')).status).toBe(201)
  })

  it.each([
    { name: 'no public access', rules: { publicNetworkAccess: 'Disabled' }, status: 403 },
    { name: 'a rule for others', rules: { inboundIpRules: [{ ipMask: '10.0.0.0/8' }] }, status: 403 },
    { name: 'a rule for its address', rules: { inboundIpRules: [{ ipMask: '127.0.0.1' }] }, status: 200 },
    { name: 'a rule for its network', rules: { inboundIpRules: [{ ipMask: '127.0.0.0/8' }] }, status: 200 },
  ])('with $name answers a publisher $status', async ({ rules, status }) => {
    const emulator = await startEmulator(contributor)
    const body = JSON.stringify({ properties: rules })
    expect((await sendArm(emulator, emulator.topic().id, { method: 'PATCH', body })).status).toBe(201)
    expect(Object((await sendArm(emulator, emulator.topic().id)).body).properties).toMatchObject(rules)
    const answer = await publishTo(emulator.topic())
    expect(answer.status).toBe(status)
    if (status === 403) expect(await answer.text()).toContain('is rejected due to IpAddress filtering rules.')
  })

  it.each(['10.0.0.0/33', '10.0.0', 'all', '::1/129', '10.0.0.0/8/8'])('refuses the rule %s', async (ipMask) => {
    const emulator = await startEmulator(contributor)
    const body = JSON.stringify({ properties: { inboundIpRules: [{ ipMask }] } })
    expect(await sendArm(emulator, emulator.topic().id, { method: 'PATCH', body })).toMatchObject({ status: 400 })
  })
})

it.each([3_000, 100_000])('a body that nests %i levels deep is refused in words', async (levels) => {
  const emulator = await startEmulator({ clients: [{ roles: [{ role: 'Owner' }] }] })
  const deep = `${'['.repeat(levels)}1${']'.repeat(levels)}`
  const body = `{"location":"westeurope","properties":${deep}}`
  expect(await sendArm(emulator, emulator.topic().id, { method: 'PUT', body })).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('nests deeper than 2,000 levels') } },
  })
})
