import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../../../src/index.ts'
import type { CheckId } from '../../../../src/sidecar/check/report.ts'
import { componentYaml } from '../../../support/component-folder.ts'
import { type CheckWorld, openCheck } from '../open-check.ts'

type Fields = Readonly<Record<string, string | undefined>>

interface PullCheck extends CheckWorld {
  /** Writes the component `orders`, which pulls with the namespace's key, with other fields. */
  pull(fields?: Fields): void
  /** The same with the credential of the emulator's client in place of the key. */
  pullAsClient(fields?: Fields): object
}

async function openPullCheck(): Promise<PullCheck> {
  const world = await openCheck({
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
    clients: [{ roles: [{ role: 'EventGrid Contributor' }, { role: 'EventGrid Data Receiver' }, { role: 'Reader' }] }],
    eventSubscriptions: [{ name: 'taken', endpoint: 'https://orders.example.com/api/events' }],
  })
  const { emulator, folder } = world
  const { tenantId, clientId, clientSecret } = emulator
  const topic = emulator.namespaceTopic('orders')
  const write = (fields: Fields) => {
    const named = { deliveryMode: 'pull', namespaceTopic: topic.id, eventSubscriptionName: 'app', ...fields }
    const metadata = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
    const spec = { type: 'bindings.azure.eventgrid', version: 'v1', metadata }
    const component = { apiVersion: 'dapr.io/v1alpha1', kind: 'Component', metadata: { name: 'orders' }, spec }
    folder.write('orders.yaml', JSON.stringify(component))
    return component
  }
  const key = { namespaceEndpoint: topic.namespaceEndpoint, namespaceKey: topic.key }
  const client = { namespaceEndpoint: topic.namespaceEndpoint, tenantId, clientId, clientSecret }
  write(key)
  return {
    ...world,
    pull: (fields) => void write({ ...key, ...fields }),
    pullAsClient: (fields) => write({ ...client, ...fields }),
  }
}

const files: readonly CheckId[] = ['files/yaml', 'files/metadata', 'files/secrets', 'files/names']

it('finds pull delivery well, takes no event and leaves all as it was', async () => {
  const { emulator, check } = await openPullCheck()
  const topic = emulator.namespaceTopic('orders')
  await fetch(`${emulator.proxy}/namespaces/shop/topics/orders:publish?api-version=2024-06-01`, {
    method: 'POST',
    headers: { authorization: `SharedAccessKey ${topic.key}`, 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify({ specversion: '1.0', id: '1', source: '/s', type: 't', data: {} }),
  })
  const { code, idsThat } = await check()
  expect(idsThat('ok')).toEqual([...files, 'machine/clock', 'pull/receive', 'pull/settle'])
  expect(code).toBe(0)
  expect([...emulator.queues().values()]).toEqual([{ available: 1, locked: 0, delayed: 0 }])
})

it('asks with the token of a client, and looks at what Azure keeps', async () => {
  const world = await openPullCheck()
  world.pullAsClient()
  const { code, idsThat, said } = await world.check()
  expect(idsThat('ok')).toEqual([
    ...files,
    ...['machine/clock', 'azure/credential', 'azure/provider', 'azure/scope', 'azure/permission'],
    ...['pull/receive', 'pull/settle'],
  ])
  expect(said('pull/settle')).toContain('the token')
  expect(idsThat('warning')).toEqual(['azure/subscription'])
  expect(said('azure/subscription')).toMatch(
    /app of \S+orders has no dead-letter destination[\s\S]*deadLetterContainer/,
  )
  expect(code).toBe(0)
})

it('looks at the scope too whose events are forwarded', async () => {
  const world = await openPullCheck()
  const { id: scope } = world.emulator.topic('orders')
  world.pullAsClient({ scope, eventSubscriptionName: 'later' })
  const { code, idsThat, said } = await world.check()
  for (const id of ['azure/scope', 'azure/permission'] as const) {
    expect(said(id)).toContain(scope)
    expect(said(id)).toContain(world.emulator.namespaceTopic('orders').id)
  }
  expect(said('azure/subscription')).toContain(`later of ${scope} does not exist yet: init will create it`)
  expect(idsThat('failed')).toEqual([])
  expect(code).toBe(0)
})

it('finds nothing to mend after init, where there is a dead-letter destination', async () => {
  const world = await openPullCheck()
  const { emulator } = world
  const { id: scope } = emulator.topic('orders')
  const component = world.pullAsClient({
    ...{ scope, eventSubscriptionName: 'later', deadLetterContainer: 'dead', subjectBeginsWith: '/shop' },
    deadLetterStorageAccountId: scope.replace(/\/providers\/.*/, '/providers/Microsoft.Storage/storageAccounts/shop'),
  })
  const binding = new Binding({ endpoints: emulator.endpoints })
  onTestFinished(() => binding.close())
  await binding.init(component)
  const { said, status } = await world.check()
  expect(said('azure/subscription')).toMatch(/^(later of \S+ is as the metadata wants it\s*){2}$/)
  expect(status['azure/subscription']).toBe('ok')
})

it('warns of settings that differ, and of rights that the client lacks but does not need to receive', async () => {
  const world = await openPullCheck()
  world.pullAsClient({ includedEventTypes: 'order.placed' })
  const other = await world.check('--only', 'azure/subscription')
  expect(other.said('azure/subscription')).toContain(
    'differs from the metadata: other filtersConfiguration.includedEventTypes',
  )
  world.emulator.removeRole(world.emulator.clientId, 'EventGrid Contributor')
  const { code, idsThat, said } = await world.check()
  expect(idsThat('warning')).toContain('azure/permission')
  expect(said('azure/permission')).toContain('--role "EventGrid Contributor"')
  expect(idsThat('ok')).toContain('pull/receive')
  expect(code).toBe(0)
})

it('tells a component that pushes the event subscription which forwards to the topic of another one', async () => {
  const world = await openPullCheck()
  const { emulator, folder } = world
  const { id: scope } = emulator.topic('orders')
  world.pullAsClient({ scope, eventSubscriptionName: 'shared' })
  const fields = {
    scope,
    eventSubscriptionName: 'SHARED',
    topicEndpoint: undefined,
    accessKey: undefined,
    clientSecret: 'a-secret',
  }
  folder.write('zz-push.yaml', componentYaml(emulator, { name: 'push', topic: 'orders', handshakePort: '1', fields }))
  const { code, idsThat, said } = await world.check('--only', 'files')
  expect([code, ...idsThat('failed')]).toEqual([1, 'files/names'])
  expect(said('files/names')).toMatch(
    /component "orders" in \S+ has the event subscription "SHARED" of \S+ too, with another destination/,
  )
})

it('lists the checks of pull for a component that is not valid', async () => {
  const world = await openPullCheck()
  world.pull({ maxConcurrency: 'many', deliveryMode: 'Pull' })
  const { idsThat } = await world.check()
  expect(idsThat('failed')).toEqual(['files/metadata'])
  const skipped = idsThat('skipped')
  expect(skipped).toContain('pull/receive')
  expect(skipped.filter((id) => /^endpoint|port$/.test(id))).toEqual([])
})

const misspelt = ({ emulator }: PullCheck) => emulator.namespaceTopic('orders').id.replace(/orders$/, 'ordres')
/** Without a role that the emulator's client has otherwise. */
const withoutRole =
  (role: string, fields: Fields = {}) =>
  ({ emulator, pullAsClient }: PullCheck) => {
    pullAsClient(fields)
    emulator.removeRole(emulator.clientId, role)
  }
const settle: readonly CheckId[] = ['pull/settle']
const subscription: readonly CheckId[] = ['azure/subscription']

it.each<[id: CheckId, how: string, skipped: readonly CheckId[], says: RegExp, breakIt: (world: PullCheck) => unknown]>([
  [
    'pull/receive',
    'a key of another namespace',
    settle,
    /status 401[\s\S]*az eventgrid namespace list-key/,
    ({ pull }) => pull({ namespaceKey: 'd3Jvbmcga2V5' }),
  ],
  [
    'pull/receive',
    'a topic that is missing',
    settle,
    /status 404[\s\S]*check namespaceTopic[\s\S]*az eventgrid namespace topic show --name ordres/,
    (world) => world.pull({ namespaceTopic: misspelt(world) }),
  ],
  [
    'pull/receive',
    'an event subscription that is missing, and nobody to create it',
    settle,
    /create the event subscription nobody/,
    ({ pull }) => pull({ eventSubscriptionName: 'nobody' }),
  ],
  [
    'pull/receive',
    'a client that may not receive',
    settle,
    /status 403[\s\S]*EventGrid Data Receiver/,
    withoutRole('EventGrid Data Receiver'),
  ],
  [
    'azure/provider',
    'a provider that is not registered',
    ['azure/scope', ...subscription],
    /az provider register --namespace Microsoft.EventGrid/,
    ({ emulator, pullAsClient }) => {
      pullAsClient()
      emulator.unregisterProvider()
    },
  ],
  [
    'azure/permission',
    'a client that may not write the event subscription, and no namespaceEndpoint',
    subscription,
    /may not create event subscriptions at \S+orders[\s\S]*az role assignment create[^\n]*"EventGrid Contributor"/,
    withoutRole('EventGrid Contributor', { namespaceEndpoint: undefined }),
  ],
  [
    'azure/scope',
    'a topic that is missing, with a credential',
    [...subscription, 'pull/receive', ...settle],
    /there is no \S+ordres/,
    (world) => world.pullAsClient({ namespaceTopic: misspelt(world) }),
  ],
  [
    'azure/scope',
    'a scope that is missing',
    subscription,
    /there is no \S+-gone/,
    ({ emulator, pullAsClient }) => pullAsClient({ scope: `${emulator.topic('orders').id}-gone` }),
  ],
  [
    'azure/subscription',
    'a webhook event subscription of the same name at the scope',
    [],
    /taken of \S+: it delivers to WebHook and not to a namespace topic[\s\S]*replaceDestination/,
    ({ emulator, pullAsClient }) =>
      pullAsClient({ scope: emulator.topic('orders').id, eventSubscriptionName: 'taken' }),
  ],
  [
    'pull/settle',
    'a namespace that answers 500',
    [],
    /status 500/,
    ({ emulator }) =>
      emulator.failNext({ route: 'namespace', status: 500, matches: ({ url }) => url.includes(':acknowledge') }),
  ],
])('%s fails alone, and says what to do: %s', async (id, _how, skipped, says, breakIt) => {
  const world = await openPullCheck()
  await breakIt(world)
  const checked = await world.check()
  expect(checked.idsThat('failed')).toEqual([id])
  expect(checked.idsThat('skipped')).toEqual(skipped)
  expect(checked.said(id)).toMatch(says)
  expect(checked.code).toBe(1)
})

it('warns of an event subscription that init is going to create', async () => {
  const world = await openPullCheck()
  world.pullAsClient({ eventSubscriptionName: 'later' })
  const checked = await world.check()
  expect(checked.said('pull/receive')).toContain('init creates it')
  expect(checked.code).toBe(0)
})

it('fails over a missing event subscription that init is not going to create', async () => {
  const world = await openPullCheck()
  world.pullAsClient({ eventSubscriptionName: 'later', provisioning: 'check' })
  const checked = await world.check()
  expect(checked.said('pull/receive')).not.toContain('init creates it')
  expect(checked.code).toBe(1)
})
