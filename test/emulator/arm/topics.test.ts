import { expect, it } from 'vitest'
import { managementOf, sendArm } from '../../support/azure-clients.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { openWebhook } from '../../support/webhook.ts'

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
  { name: 'a name of 2 characters', topic: 'ab', body: { location: 'westeurope' }, message: 'Invalid topic name.' },
  {
    name: 'a name of 51 characters',
    topic: 'a'.repeat(51),
    body: { location: 'westeurope' },
    message: 'Invalid topic name.',
  },
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
