/** One test for each sentence of the component specification that states behaviour: test/specification/specification.md lists them. */
import { expect, it } from 'vitest'
import { Binding, type BindingError, component, parseComponents } from '../../src/index.ts'
import { freePort } from '../support/free-port.ts'
import { inputFields, openWorld, outputFields, outputOnly, publicUrl, without } from '../support/open-world.ts'
import { quickenTime } from '../support/quick-time.ts'
import { refusal } from '../support/refusal.ts'
import { answering, selfSigned } from '../support/servers.ts'

const yaml = (changes: Readonly<Record<string, string>> = {}) => {
  const parts = {
    apiVersion: 'dapr.io/v1alpha1',
    kind: 'Component',
    name: 'orders',
    type: 'bindings.cloud.eventrouter',
    version: 'v1',
    port: '"9000"',
    ...changes,
  }
  return [
    `apiVersion: ${parts.apiVersion}`,
    `kind: ${parts.kind}`,
    `metadata: { name: ${parts.name} }`,
    'spec:',
    `  type: ${parts.type}`,
    `  version: ${parts.version}`,
    '  metadata:',
    '    - { name: subscriberEndpoint, value: https://orders.example.com }',
    `    - { name: handshakePort, value: ${parts.port} }`,
    '    - { name: scope, value: /subscriptions/33333333-3333-4333-8333-333333333333 }',
    ...['tenantId', 'subscriptionId', 'clientId', 'clientSecret'].map(
      (name) => `    - { name: ${name}, value: 33333333-3333-4333-8333-333333333333 }`,
    ),
  ].join('\n')
}

const options = (port: number | undefined, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS', headers })

/** Fields that a validation error names. */
const named = ({ issues }: BindingError) => issues.map(({ field }) => field)

it('creates the event subscription at init', async () => {
  const world = await openWorld()
  expect(world.subscription()).toBeUndefined()
  await world.init()
  expect(world.subscription()?.provisioningState).toBe('Succeeded')
})

it('updates the event subscription at init when it exists', async () => {
  const world = await openWorld()
  await world.init()
  await world.binding.close()
  const again = new Binding({ endpoints: world.emulator.endpoints })
  world.emulator.setIngress(({ pathname }) => `http://127.0.0.1:${again.address()?.port}${pathname}`)
  await again.init({ ...world.fields, subjectBeginsWith: 'new/' })
  expect(world.subscription()?.properties.filter?.subjectBeginsWith).toBe('new/')
  await again.close()
})

it('makes the event subscription at the configured scope', async () => {
  const world = await openWorld()
  await world.init()
  expect(world.subscription()?.scope).toBe(world.fields.scope)
})

it('asks for CloudEvents at the subscriber endpoint', async () => {
  const world = await openWorld()
  await world.init()
  const properties = world.subscription()?.properties
  expect(properties?.eventDeliverySchema).toBe('CloudEventSchemaV1_0')
  expect(properties?.destination?.properties).toMatchObject({ endpointUrl: publicUrl })
})

it('listens on handshakePort for handshakes and events', async () => {
  const world = await openWorld()
  const port = await freePort()
  await world.init({ handshakePort: String(port) })
  expect(world.binding.address()?.port).toBe(port)
  expect((await options(port)).status).toBe(200)
})

it('publishes an event to the custom topic', async () => {
  const world = await openWorld()
  await world.init(outputOnly)
  await world.binding.invoke('create', { order: 1 })
  const published = world.emulator.records.requests
    .all()
    .filter(({ route, method }) => route === 'topic' && method === 'POST')
  expect(published.map(({ status }) => status)).toEqual([200])
})

it('authorises publishing by the access key', async () => {
  const right = await openWorld()
  await right.init(outputOnly)
  await right.binding.invoke('create', { order: 1 })
  const world = await openWorld()
  await world.init({
    ...outputOnly,
    accessKey: Buffer.from('another key of the same look').toString('base64'),
  })
  expect((await refusal(world.binding.invoke('create', { order: 1 }))).code).toBe('CREDENTIALS_REJECTED')
})

it('offers create and nothing else', async () => {
  const world = await openWorld()
  await world.init(outputOnly)
  expect(world.binding.operations()).toEqual(['create'])
  expect((await refusal(world.binding.invoke(String('get'), {}))).code).toBe('OPERATION_UNSUPPORTED')
})

it('works with the output side alone', async () => {
  const world = await openWorld()
  await world.init(outputOnly)
  expect(world.binding.address()).toBeUndefined()
  expect(world.binding.health()).toMatchObject({ status: 'healthy', output: { status: 'healthy' } })
})

it('works with the input side alone', async () => {
  const world = await openWorld()
  await world.init(without(...outputFields))
  expect(world.binding.health()).toMatchObject({ status: 'healthy', input: { status: 'healthy' } })
  expect((await refusal(world.binding.invoke('create', {}))).code).toBe('SIDE_NOT_CONFIGURED')
})

it.each(inputFields)('requires %s for the input side', async (field) => {
  const world = await openWorld()
  const error = await refusal(world.init(without(field, ...outputFields)))
  expect(error.code).toBe('METADATA_INVALID')
  expect(named(error)).toEqual([field])
})

it.each(outputFields)('requires %s for the output side', async (field) => {
  const world = await openWorld()
  const error = await refusal(world.init({ ...outputOnly, ...without(field) }))
  expect(error.code).toBe('METADATA_INVALID')
  expect(named(error)).toEqual([field])
})

it('does without eventSubscriptionName', async () => {
  const world = await openWorld()
  await world.binding.init({ name: 'shop', properties: { ...world.fields, eventSubscriptionName: '' } })
  expect(world.emulator.eventSubscription(String(world.fields.scope), 'shop')?.provisioningState).toBe('Succeeded')
})

it('takes an https subscriberEndpoint only', async () => {
  const world = await openWorld()
  expect(named(await refusal(world.init({ subscriberEndpoint: 'http://orders.example.com/api/events' })))).toEqual([
    'subscriberEndpoint',
  ])
})

it('completes a subscriberEndpoint without a path to /api/events', async () => {
  const world = await openWorld()
  await world.init({ subscriberEndpoint: 'https://orders.example.com' })
  expect(world.subscription()?.properties.destination?.properties).toMatchObject({ endpointUrl: publicUrl })
})

it('takes handshakePort as a string only', async () => {
  const world = await openWorld()
  const error = await refusal(world.init({ handshakePort: 9000 }))
  expect(named(error)).toEqual(['handshakePort'])
  expect(error.message).toContain('"9000"')
})

it('takes a URL as topicEndpoint', async () => {
  const world = await openWorld()
  expect(named(await refusal(world.init({ topicEndpoint: 'orders' })))).toEqual(['topicEndpoint'])
})

it.each(['apiVersion', 'name', 'type'])('requires a right %s of the component document', (part) => {
  expect(() => parseComponents(yaml({ [part]: '""' }))).toThrow(/METADATA_INVALID/)
})

it('leaves out a document of another kind', () => {
  expect(parseComponents(yaml({ kind: 'Configuration' }))).toEqual([])
})

it('reads name, type, version and metadata of a component document', () => {
  const [parsed] = parseComponents(yaml())
  expect(parsed).toMatchObject({ name: 'orders', type: 'bindings.cloud.eventrouter', version: 'v1' })
  expect(parsed?.properties).toMatchObject({ subscriberEndpoint: 'https://orders.example.com', handshakePort: '9000' })
})

it('answers to the type of the specification and to its real name', () => {
  expect(component.types).toEqual(['bindings.cloud.eventrouter', 'bindings.azure.eventgrid'])
})

it('refuses a component of another type', async () => {
  expect(parseComponents(yaml({ type: 'bindings.cloud.queue' }))).toEqual([])
  const [parsed] = parseComponents(yaml())
  expect(named(await refusal(new Binding().init({ ...parsed, type: 'bindings.cloud.queue' })))).toEqual(['type'])
})

it('refuses a component of another version', async () => {
  expect(() => parseComponents(yaml({ version: 'v2' }))).toThrow(/METADATA_INVALID/)
  const [parsed] = parseComponents(yaml())
  expect(named(await refusal(new Binding().init({ ...parsed, version: 'v2' })))).toEqual(['version'])
})

const scopeForms = [
  { target: 'a subscription', path: '/' },
  { target: 'a resource group', path: '/resourceGroups/shop' },
  { target: 'a resource', path: '/resourceGroups/shop/providers/Microsoft.Storage/storageAccounts/photos' },
  { target: 'a topic', path: '/resourceGroups/shop/providers/Microsoft.EventGrid/topics/orders' },
]

it.each(scopeForms)('takes the scope of $target', async ({ path }) => {
  const world = await openWorld({ emulator: { subscriptions: [{ resourceGroups: ['shop'] }] } })
  const scope = `/subscriptions/${world.emulator.subscriptionId}${path}`
  await world.init({ scope })
  expect(world.emulator.eventSubscription(scope.replace(/\/$/, ''), 'orders')?.provisioningState).toBe('Succeeded')
})

it('refuses a scope of another form', async () => {
  const world = await openWorld()
  const scope = `/subscriptions/${world.emulator.subscriptionId}/providers/Microsoft.EventGrid`
  expect(named(await refusal(world.init({ scope })))).toEqual(['scope'])
})

it('answers OPTIONS /api/events with 200 when healthy', async () => {
  const world = await openWorld()
  await world.init()
  expect((await options(world.binding.address()?.port)).status).toBe(200)
})

it('answers on /api/events whatever the path of subscriberEndpoint', async () => {
  const world = await openWorld()
  await world.init({ subscriberEndpoint: 'https://orders.example.com/shop/events' })
  expect((await options(world.binding.address()?.port)).status).toBe(200)
})

it('passes the handshake of Event Grid', async () => {
  const world = await openWorld()
  await world.init()
  const handshakes = world.emulator.records.handshakes.all()
  expect(handshakes).toHaveLength(1)
  expect(handshakes[0]).toMatchObject({ method: 'OPTIONS', url: publicUrl, status: 200, outcome: 'validated' })
})

it('hands over the cloud events that are sent to it', async () => {
  const world = await openWorld()
  await world.init()
  await world.binding.invoke('create', { order: 7 }, { metadata: { id: 'seven' } })
  await world.emulator.idle()
  expect(world.handled.map(({ cloudEvent }) => [cloudEvent.id, cloudEvent.data])).toEqual([['seven', { order: 7 }]])
})

it('uses the service principal to create the event subscription', async () => {
  const world = await openWorld()
  const error = await refusal(world.init({ clientSecret: 'not the secret of that client, but long enough' }))
  expect(error.code).toBe('CREDENTIALS_REJECTED')
  await world.init()
  const write = world.emulator.records.requests.all().find(({ method }) => method === 'PUT')
  expect(write?.clientId).toBe(world.fields.clientId)
})

it('says which role to assign where the service principal lacks it', async () => {
  const world = await openWorld()
  world.emulator.removeRoles(world.emulator.clientId)
  const error = await refusal(world.init())
  expect(error.code).toBe('PERMISSION_DENIED')
  const { clientId, scope } = world.fields
  expect(error.message).toContain(
    `az role assignment create --assignee ${clientId} --role "EventGrid EventSubscription Contributor" --scope ${scope}`,
  )
})

it('says how to register the resource provider where it is not registered', async () => {
  const world = await openWorld()
  world.emulator.unregisterProvider()
  const error = await refusal(world.init())
  expect(error.code).toBe('PROVIDER_NOT_REGISTERED')
  expect(error.message).toContain('az provider register --namespace Microsoft.EventGrid')
  expect(error.message).toContain('az provider show --namespace Microsoft.EventGrid --query registrationState')
})

it('tells to restart the ingress controller when the endpoint answers the handshake with 503', async () => {
  quickenTime()
  const world = await openWorld()
  const ingress = await answering(503)
  world.emulator.setIngress(() => ingress)
  const error = await refusal(world.init({ subscriptionTimeout: '20s' }))
  expect(error.code).toBe('HANDSHAKE_FAILED')
  expect(error.message).toMatch(/503/)
  expect(error.message).toMatch(/delete its pod so that it restarts/)
})

const refusedNames = [
  { why: 'too short', name: 'ab' },
  { why: 'too long', name: 'a'.repeat(65) },
  { why: 'not letters and digits only', name: 'with-hyphen' },
]

it.each(refusedNames)('refuses an event subscription name that is $why', async ({ name }) => {
  const world = await openWorld()
  expect(named(await refusal(world.init({ eventSubscriptionName: name })))).toEqual(['eventSubscriptionName'])
})

const takenNames = [
  { length: 3, name: 'Az0' },
  { length: 64, name: 'a'.repeat(64) },
]

it.each(takenNames)('takes an event subscription name of $length letters and digits', async ({ name }) => {
  const world = await openWorld()
  await world.init({ eventSubscriptionName: name })
  expect(world.emulator.eventSubscription(String(world.fields.scope), name)?.provisioningState).toBe('Succeeded')
})

it('accepts no self-signed certificate of an endpoint', async () => {
  // The service's half of the sentence: the emulator stands in for it, and the binding says what went wrong.
  quickenTime()
  const world = await openWorld()
  const server = await selfSigned()
  world.emulator.setIngress(() => server)
  const error = await refusal(world.init({ subscriptionTimeout: '20s' }))
  expect(error.code).toBe('HANDSHAKE_FAILED')
  expect(error.message).toMatch(/certificate/i)
})
