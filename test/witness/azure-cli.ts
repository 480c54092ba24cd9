import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { caFile, portIngress } from './places.ts'
import { runProgram } from './program.ts'
import { lastLine, preparePython, pythonOf } from './python-environment.ts'
import { type Step, takeStep, type Witness } from './witness.ts'

const environment = 'azure-cli'

/** Azure CLI from PyPI. Installing it takes about a minute and 730 MB, once. */
export const azureCli: Witness = {
  name: 'Azure CLI',
  prepare: prepareAzureCli,
  run,
}

/** Installs it, unless it is there. */
export function prepareAzureCli(): Promise<{ missing?: string }> {
  return preparePython(environment, 'requirements-azure-cli.txt')
}

/** What makes `az` the one that was installed, with its settings in a folder. */
export const azureCliEnvironment = (folder: string) => ({
  PATH: `${dirname(pythonOf(environment))}:${process.env.PATH}`,
  AZURE_CONFIG_DIR: folder,
  AZURE_CORE_COLLECT_TELEMETRY: 'false',
  PYTHONDONTWRITEBYTECODE: '1',
})

const unregistered = '55555555-5555-4555-8555-555555555555'

/** What a command of Azure CLI printed, and how it failed. */
interface Told {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The world that the commands run in. */
interface World {
  readonly emulator: EventGridEmulator
  /** Address of the webhook on a path, as Event Grid is told of it. */
  url(path: string): string
  /** Runs a command that must succeed, and reads what it printed. */
  az<Shape extends z.ZodType>(shape: Shape, ...args: readonly string[]): Promise<z.infer<Shape>>
  /** Runs a command that must fail, with these words in its error. */
  refused(words: readonly string[], ...args: readonly string[]): Promise<void>
}

async function run(): Promise<readonly Step[]> {
  const folder = await mkdtemp(join(tmpdir(), 'azure-cli-witness-'))
  const webhook = createServer(answer).listen(0, '127.0.0.1')
  await once(webhook, 'listening')
  const address = webhook.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  try {
    await using emulator = await EventGridEmulator.start({
      ingress: portIngress,
      clients: [{ roles: [{ role: 'Owner' }] }],
      // Without it Azure CLI asks for the end of an operation every ten seconds.
      operationRetryAfter: 1,
      subscriptions: [{ resourceGroups: ['rg'] }, { id: unregistered, registered: false }],
    })
    const ca = await caFile(environment, emulator.ca)
    const command = (args: readonly string[]): Promise<Told> =>
      runProgram(pythonOf(environment), ['-m', 'azure.cli', ...args, '--only-show-errors', '--output', 'json'], {
        timeoutMs: 120_000,
        env: {
          ...azureCliEnvironment(folder),
          AZURE_CORE_INSTANCE_DISCOVERY: 'false',
          REQUESTS_CA_BUNDLE: ca,
          NO_PROXY: '*',
        },
      })
    const world: World = {
      emulator,
      url: (path) => `https://port-${port}.subscriber.example${path}`,
      async az(shape, ...args) {
        const told = await command(args)
        assert.equal(told.code, 0, `az ${args.join(' ')}: ${lastLine(told)}`)
        return shape.parse(told.stdout === '' ? undefined : JSON.parse(told.stdout))
      },
      async refused(words, ...args) {
        const { code, stderr } = await command(args)
        assert.notEqual(code, 0, `az ${args.join(' ')} was not refused`)
        for (const word of words) assert.ok(stderr.includes(word), `${word} is not in: ${stderr}`)
      },
    }
    return [
      ...(await signIn(world)),
      ...(await provider(world)),
      ...(await topics(world)),
      ...(await eventSubscriptions(world)),
      ...(await domains(world)),
      ...(await systemTopics(world)),
      ...(await groups(world)),
    ]
  } finally {
    webhook.close()
    webhook.closeAllConnections()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The webhook consents to the handshake and takes each event, except below `/missing`. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  const origin = request.headers['webhook-request-origin']
  const consent = typeof origin === 'string' ? { 'webhook-allowed-origin': origin } : {}
  response.writeHead(request.url?.startsWith('/missing') ? 404 : 200, consent).end()
}

const nothing = z.undefined()

async function signIn({ emulator, az, refused }: World): Promise<readonly Step[]> {
  const { endpoints, clientId, clientSecret, tenantId, subscriptionId } = emulator
  const login = ['login', '--service-principal', '--tenant', tenantId, '--username', clientId, '--password']
  return [
    await takeStep('it registers the emulator as a cloud', async () => {
      const audience = 'https://management.azure.com/'
      await az(
        nothing,
        ...['cloud', 'register', '--name', 'emulator'],
        ...['--endpoint-resource-manager', endpoints.resourceManager],
        ...['--endpoint-active-directory-resource-id', audience, '--endpoint-management', audience],
        ...['--endpoint-active-directory-graph-resource-id', 'https://graph.windows.net/'],
        ...['--endpoint-microsoft-graph-resource-id', `${endpoints.resourceManager}/`],
      )
      await az(nothing, 'cloud', 'set', '--name', 'emulator')
    }),
    await takeStep('it is told AADSTS7000215 for a wrong secret', () => refused(['AADSTS7000215'], ...login, 'wrong')),
    await takeStep('it signs in as a service principal, and sees its Azure subscriptions', async () => {
      const accounts = await az(z.array(z.object({ id: z.string(), state: z.string() })), ...login, clientSecret)
      assert.deepEqual(accounts.map(({ id }) => id).toSorted(), [subscriptionId, unregistered].toSorted())
      await az(nothing, 'account', 'set', '--subscription', subscriptionId)
    }),
  ]
}

async function provider({ emulator, az }: World): Promise<readonly Step[]> {
  const show = ['provider', 'show', '--namespace', 'Microsoft.EventGrid', '--query', 'registrationState']
  const there = ['--subscription', unregistered]
  return [
    await takeStep('it registers the provider', async () => {
      assert.equal(await az(z.string(), ...show, ...there), 'NotRegistered')
      await az(nothing, 'provider', 'register', '--namespace', 'Microsoft.EventGrid', '--wait', ...there)
      assert.equal(await az(z.string(), ...show, ...there), 'Registered')
    }),
    await takeStep('it registers the provider by itself where a topic is refused for want of it', async () => {
      emulator.unregisterProvider(unregistered)
      const create = ['eventgrid', 'topic', 'create', '--resource-group', 'rg', '--name', 'late']
      await az(topic, ...create, '--location', 'westeurope', ...there)
      const refusals = emulator.records.requests.filter(({ code }) => code === 'MissingSubscriptionRegistration')
      assert.equal(refusals.length, 1)
    }),
  ]
}

const topic = z.object({
  id: z.string(),
  name: z.string(),
  endpoint: z.string(),
  inputSchema: z.string(),
  provisioningState: z.literal('Succeeded'),
  systemData: z.null(),
  tags: z.record(z.string(), z.string()).nullable(),
  publicNetworkAccess: z.string(),
  inboundIpRules: z.array(z.object({ action: z.string(), ipMask: z.string() })).nullable(),
})
const keys = z.object({ key1: z.string(), key2: z.string() })

async function topics({ emulator, az, refused }: World): Promise<readonly Step[]> {
  const made = ['--resource-group', 'rg', '--name', 'made']
  const eventGrid = (...args: readonly string[]) => ['eventgrid', 'topic', ...args]
  return [
    await takeStep('it creates a topic, and shows and lists it', async () => {
      const schema = ['--input-schema', 'cloudeventschemav1_0']
      const created = await az(topic, ...eventGrid('create', ...made, '--location', 'westeurope', ...schema))
      assert.equal(created.inputSchema, 'CloudEventSchemaV1_0')
      assert.deepEqual(await az(topic, ...eventGrid('show', ...made)), created)
      const listed = await az(z.array(topic), ...eventGrid('list', '--resource-group', 'rg'))
      assert.deepEqual(listed.map(({ name }) => name).toSorted(), ['made', emulator.topic().name].toSorted())
    }),
    await takeStep('it updates tags and network rules of a topic', async () => {
      const rules = ['--public-network-access', 'enabled', '--inbound-ip-rules', '10.0.0.0/8', 'Allow']
      await az(z.unknown(), ...eventGrid('update', ...made, '--tags', 'team=orders', ...rules))
      const updated = await az(topic, ...eventGrid('show', ...made))
      assert.deepEqual(updated.tags, { team: 'orders' })
      assert.deepEqual(updated.inboundIpRules, [{ action: 'Allow', ipMask: '10.0.0.0/8' }])
      const { httpEndpoint, key } = emulator.topic('made')
      const headers = { 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' }
      const event = { specversion: '1.0', id: '1', source: '/', type: 't' }
      const answered = await fetch(httpEndpoint, { method: 'POST', headers, body: JSON.stringify(event) })
      assert.equal(answered.status, 403)
    }),
    await takeStep('it lists and regenerates the keys of a topic', async () => {
      const before = await az(keys, ...eventGrid('key', 'list', ...made))
      const after = await az(keys, ...eventGrid('key', 'regenerate', ...made, '--key-name', 'key1'))
      assert.notEqual(after.key1, before.key1)
      assert.equal(after.key2, before.key2)
    }),
    await takeStep('it is refused another location of a topic', () =>
      refused(['InvalidResourceLocation'], ...eventGrid('create', ...made, '--location', 'northeurope')),
    ),
    await takeStep('it deletes a topic', async () => {
      await az(nothing, ...eventGrid('delete', ...made))
      await refused(['ResourceNotFound'], ...eventGrid('show', ...made))
    }),
  ]
}

const attribute = z.object({ name: z.string(), type: z.string(), value: z.string().nullish() })
const eventSubscription = z.object({
  name: z.string(),
  type: z.literal('Microsoft.EventGrid/eventSubscriptions'),
  provisioningState: z.literal('Succeeded'),
  eventDeliverySchema: z.string(),
  systemData: z.null(),
  labels: z.array(z.string()).nullable(),
  filter: z.object({
    includedEventTypes: z.array(z.string()).nullable(),
    subjectBeginsWith: z.string().nullable(),
    advancedFilters: z.array(z.object({ key: z.string(), operatorType: z.string() })).nullable(),
  }),
  destination: z.object({
    endpointType: z.literal('WebHook'),
    endpointUrl: z.string().nullable(),
    endpointBaseUrl: z.string(),
    deliveryAttributeMappings: z.array(attribute).nullable(),
  }),
})
/** With its secrets, Azure CLI puts the whole answer of getDeliveryAttributes in the place of the list. */
const revealed = z.object({
  destination: z.object({
    endpointUrl: z.string(),
    deliveryAttributeMappings: z.object({ value: z.array(attribute) }),
  }),
})
const names = z.array(z.object({ name: z.string() }))

async function eventSubscriptions(world: World): Promise<readonly Step[]> {
  const { emulator, url, az, refused } = world
  const scope = emulator.topic().id
  const orders = ['--name', 'orders', '--source-resource-id', scope]
  const eventGrid = (...args: readonly string[]) => ['eventgrid', 'event-subscription', ...args]
  const full = url('/api/events?code=s3cret')
  const urlOf = () => {
    const destination = emulator.eventSubscription(scope, 'orders')?.properties.destination
    return destination?.endpointType === 'WebHook' ? destination.properties.endpointUrl : undefined
  }
  return [
    await takeStep('it creates an event subscription, whose endpoint is asked by OPTIONS', async () => {
      const created = await az(
        eventSubscription,
        ...eventGrid('create', ...orders, '--endpoint', full, '--event-delivery-schema', 'cloudeventschemav1_0'),
        ...['--included-event-types', 'Order.Placed', '--subject-begins-with', 'orders/'],
        ...['--advanced-filter', 'data.amount', 'NumberGreaterThan', '1'],
        ...['--delivery-attribute-mapping', 'X-Secret', 'static', 's3cret', 'true'],
        ...['--delivery-attribute-mapping', 'X-Amount', 'dynamic', 'data.amount'],
      )
      assert.equal(created.eventDeliverySchema, 'CloudEventSchemaV1_0')
      assert.equal(emulator.records.handshakes.last?.method, 'OPTIONS')
      assert.equal(emulator.records.handshakes.last?.outcome, 'validated')
    }),
    await takeStep('it shows the event subscription without the query of its URL and without its secret', async () => {
      const { destination, filter } = await az(eventSubscription, ...eventGrid('show', ...orders))
      assert.equal(destination.endpointUrl, null)
      assert.equal(destination.endpointBaseUrl, url('/api/events'))
      assert.equal(destination.deliveryAttributeMappings?.find(({ name }) => name === 'X-Secret')?.value, 'Hidden')
      assert.deepEqual(filter.includedEventTypes, ['Order.Placed'])
      assert.deepEqual(filter.advancedFilters, [{ key: 'data.amount', operatorType: 'NumberGreaterThan' }])
    }),
    await takeStep('it shows the full URL and the secret where it is asked for them', async () => {
      const wanted = ['--include-full-endpoint-url', 'true', '--include-static-delivery-attribute-secret', 'true']
      const { destination } = await az(revealed, ...eventGrid('show', ...orders, ...wanted))
      assert.equal(destination.endpointUrl, full)
      const secret = destination.deliveryAttributeMappings.value.find(({ name }) => name === 'X-Secret')
      assert.equal(secret?.value, 's3cret')
    }),
    await takeStep('it lists event subscriptions by source and by location', async () => {
      const bySource = await az(names, ...eventGrid('list', '--source-resource-id', scope))
      const byLocation = await az(names, ...eventGrid('list', '--location', 'westeurope'))
      assert.deepEqual([bySource, byLocation], [[{ name: 'orders' }], [{ name: 'orders' }]])
    }),
    await takeStep('an event is delivered with the attributes that it set', async () => {
      const event = { specversion: '1.0', source: '/shop', type: 'Order.Placed', subject: 'orders/1' }
      emulator.raise(scope, [{ ...event, id: 'cli-1', data: { amount: 5 } }])
      await emulator.settled()
      const delivery = emulator.records.deliveries.last
      assert.deepEqual([delivery?.eventIds, delivery?.status], [['cli-1'], 200])
      assert.equal(delivery?.headers['X-Amount'], '5')
    }),
    await takeStep('it updates the event subscription without --endpoint, and the URL is kept', async () => {
      await az(z.unknown(), ...eventGrid('update', ...orders, '--labels', 'one', 'two'))
      const updated = await az(eventSubscription, ...eventGrid('show', ...orders))
      assert.deepEqual(updated.labels, ['one', 'two'])
      assert.deepEqual(updated.filter.includedEventTypes, ['Order.Placed'])
      assert.equal(urlOf(), full)
    }),
    await takeStep('it updates the endpoint, which is asked anew', async () => {
      await az(z.unknown(), ...eventGrid('update', ...orders, '--endpoint', url('/moved')))
      assert.equal(urlOf(), url('/moved'))
      assert.equal(emulator.records.handshakes.last?.url, url('/moved'))
    }),
    await takeStep('it is told why a handshake failed', () =>
      refused(
        ['Url validation', 'NotFound'],
        ...eventGrid('create', '--name', 'missing', '--source-resource-id', scope, '--endpoint', url('/missing')),
        ...['--event-delivery-schema', 'cloudeventschemav1_0'],
      ),
    ),
    await takeStep('it is told that an event subscription needs an existing topic', () =>
      refused(
        ['ResourceNotFound'],
        ...eventGrid('create', '--name', 'lost', '--source-resource-id', scope.replace(/\w+$/, 'nothing')),
        ...['--endpoint', url('/api/events')],
      ),
    ),
    await takeStep('it deletes the event subscription', async () => {
      await az(nothing, ...eventGrid('delete', ...orders))
      await refused(['ResourceNotFound'], ...eventGrid('show', ...orders))
      assert.equal(emulator.eventSubscription(scope, 'orders'), undefined)
    }),
  ]
}

const named = z.object({ id: z.string(), name: z.string(), provisioningState: z.literal('Succeeded') })

async function domains({ emulator, url, az, refused }: World): Promise<readonly Step[]> {
  const shop = ['--resource-group', 'rg', '--name', 'shop']
  const inShop = ['--resource-group', 'rg', '--domain-name', 'shop']
  const domain = (...args: readonly string[]) => ['eventgrid', 'domain', ...args]
  const lamps = () => `${emulator.domain('shop').id}/topics/lamps`
  const subscribed = () => ['--name', 'lamps', '--source-resource-id', lamps()]
  const eventGrid = (...args: readonly string[]) => ['eventgrid', 'event-subscription', ...args]
  return [
    await takeStep('it creates a domain, and shows, updates and lists it', async () => {
      const schema = ['--input-schema', 'cloudeventschemav1_0']
      await az(z.unknown(), ...domain('create', ...shop, '--location', 'westeurope', ...schema))
      await az(z.unknown(), ...domain('update', ...shop, '--tags', 'team=orders'))
      const shown = await az(named.extend({ tags: z.record(z.string(), z.string()) }), ...domain('show', ...shop))
      assert.deepEqual(shown.tags, { team: 'orders' })
      const all = await az(names, ...domain('list', '--resource-group', 'rg'))
      assert.deepEqual(all, [{ name: 'shop' }])
    }),
    await takeStep('it lists and regenerates the keys of a domain', async () => {
      const before = await az(keys, ...domain('key', 'list', ...shop))
      const after = await az(keys, ...domain('key', 'regenerate', ...shop, '--key-name', 'key2'))
      assert.deepEqual([after.key1 === before.key1, after.key2 === before.key2], [true, false])
    }),
    await takeStep(
      'it creates a domain topic by an event subscription, and events of the domain are delivered',
      async () => {
        const endpoint = ['--endpoint', url('/lamps'), '--event-delivery-schema', 'cloudeventschemav1_0']
        await az(eventSubscription, ...eventGrid('create', ...subscribed(), ...endpoint))
        const topics = await az(z.array(named), ...domain('topic', 'list', ...inShop))
        assert.deepEqual(
          topics.map(({ name }) => name),
          ['lamps'],
        )
        const { httpEndpoint, key } = emulator.domain('shop')
        const headers = { 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' }
        const event = { specversion: '1.0', id: 'cli-2', source: 'lamps', type: 't' }
        await fetch(httpEndpoint, { method: 'POST', headers, body: JSON.stringify(event) })
        await emulator.settled()
        assert.deepEqual(emulator.records.deliveries.last?.eventIds, ['cli-2'])
      },
    ),
    await takeStep('it creates, shows and deletes a domain topic', async () => {
      const desks = [...inShop, '--name', 'desks']
      await az(z.unknown(), ...domain('topic', 'create', ...desks))
      assert.equal((await az(named, ...domain('topic', 'show', ...desks))).name, 'desks')
      await az(nothing, ...domain('topic', 'delete', ...desks))
      await refused(['ResourceNotFound'], ...domain('topic', 'show', ...desks))
    }),
    await takeStep('it deletes a domain', async () => {
      await az(nothing, ...eventGrid('delete', ...subscribed()))
      await az(nothing, ...domain('delete', ...shop))
      await refused(['ResourceNotFound'], ...domain('show', ...shop))
    }),
  ]
}

async function systemTopics({ emulator, url, az, refused }: World): Promise<readonly Step[]> {
  const group = `/subscriptions/${emulator.subscriptionId}/resourceGroups/rg`
  const photos = `${group}/providers/Microsoft.Storage/storageAccounts/photos`
  const topic = ['--resource-group', 'rg', '--name', 'photos']
  const app = ['--resource-group', 'rg', '--system-topic-name', 'photos', '--name', 'app']
  const systemTopic = (...args: readonly string[]) => ['eventgrid', 'system-topic', ...args]
  const subscription = (...args: readonly string[]) => systemTopic('event-subscription', ...args)
  const type = ['--topic-type', 'Microsoft.Storage.StorageAccounts']
  return [
    await takeStep('it creates a system topic, and shows, updates and lists it', async () => {
      await az(z.unknown(), ...systemTopic('create', ...topic, ...type, '--location', 'westeurope', '--source', photos))
      await az(z.unknown(), ...systemTopic('update', ...topic, '--tags', 'team=orders'))
      const shown = await az(named.extend({ source: z.string() }), ...systemTopic('show', ...topic))
      assert.equal(shown.source.toLowerCase(), photos.toLowerCase())
      assert.deepEqual(await az(names, ...systemTopic('list', '--resource-group', 'rg')), [{ name: 'photos' }])
    }),
    await takeStep('it creates, shows, updates and lists an event subscription of a system topic', async () => {
      const endpoint = ['--endpoint', url('/photos?code=s3cret'), '--event-delivery-schema', 'cloudeventschemav1_0']
      await az(z.unknown(), ...subscription('create', ...app, ...endpoint))
      await az(z.unknown(), ...subscription('update', ...app, '--labels', 'one'))
      const shown = await az(z.object({ labels: z.array(z.string()) }), ...subscription('show', ...app))
      assert.deepEqual(shown.labels, ['one'])
      const all = ['--resource-group', 'rg', '--system-topic-name', 'photos']
      assert.deepEqual(await az(names, ...subscription('list', ...all)), [{ name: 'app' }])
    }),
    await takeStep('an event of its source is delivered to it', async () => {
      const event = { specversion: '1.0', id: 'cli-3', source: photos, type: 'Microsoft.Storage.BlobCreated' }
      emulator.raise('photos', [{ ...event, subject: '/blobServices/default/containers/c/blobs/b', data: {} }])
      await emulator.settled()
      assert.deepEqual(emulator.records.deliveries.last?.eventIds, ['cli-3'])
    }),
    await takeStep('it deletes the event subscription and the system topic', async () => {
      await az(nothing, ...subscription('delete', ...app, '--yes'))
      await refused(['ResourceNotFound'], ...subscription('show', ...app))
      await az(nothing, ...systemTopic('delete', ...topic, '--yes'))
      await refused(['ResourceNotFound'], ...systemTopic('show', ...topic))
    }),
    await takeStep('it lists topic types and the event types of one', async () => {
      const types = await az(names, 'eventgrid', 'topic-type', 'list')
      assert.ok(types.some(({ name }) => name === 'Microsoft.Storage.StorageAccounts'))
      const events = ['eventgrid', 'topic-type', 'list-event-types', '--name', 'Microsoft.Storage.StorageAccounts']
      const eventTypes = await az(names, ...events)
      assert.ok(eventTypes.some(({ name }) => name === 'Microsoft.Storage.BlobCreated'))
    }),
  ]
}

/** A resource group, a role in it by its name, and the end of both. */
async function groups({ emulator, az, refused }: World): Promise<readonly Step[]> {
  const scope = `/subscriptions/${emulator.subscriptionId}/resourceGroups/quickstart`
  const group = ['--name', 'quickstart']
  return [
    await takeStep('it makes a resource group, and changes its tags', async () => {
      await az(z.unknown(), 'group', 'create', ...group, '--location', 'westeurope', '--tags', 'for=test')
      const shape = z.object({ location: z.string(), tags: z.record(z.string(), z.string()) })
      const changed = await az(shape, 'group', 'update', ...group, '--set', 'tags.for=us')
      assert.deepEqual(changed, { location: 'westeurope', tags: { for: 'us' } })
    }),
    await takeStep('it assigns a role by its name', async () => {
      const [{ clientId = '', objectId = '' } = {}] = emulator.clients()
      const guest = randomUUID()
      const shape = z.object({ scope: z.string(), principalId: z.string() })
      for (const { role, assignee, principalId } of [
        { role: 'EventGrid EventSubscription Contributor', assignee: ['--assignee', clientId], principalId: objectId },
        { role: 'EventGrid Data Sender', assignee: ['--assignee', objectId], principalId: objectId },
        {
          role: 'EventGrid Data Sender',
          assignee: ['--assignee-object-id', guest, '--assignee-principal-type', 'ServicePrincipal'],
          principalId: guest,
        },
      ]) {
        const given = [...assignee, '--role', role, '--scope', scope]
        assert.deepEqual(await az(shape, 'role', 'assignment', 'create', ...given), { scope, principalId })
      }
    }),
    await takeStep('it deletes the resource group with the topic in it, as every quickstart does', async () => {
      const topic = ['--name', 'quickstart-topic', '--resource-group', 'quickstart']
      await az(z.unknown(), 'eventgrid', 'topic', 'create', ...topic, '--location', 'westeurope')
      await az(nothing, 'group', 'delete', ...group, '--yes')
      await refused(['ResourceGroupNotFound'], 'group', 'show', ...group)
    }),
  ]
}
