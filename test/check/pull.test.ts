import { expect, it } from 'vitest'
import type { CheckId } from '../../src/check/check-ids.ts'
import { type CheckWorld, openCheck } from './open-check.ts'

interface PullCheck extends CheckWorld {
  /** Writes the component `orders`, which pulls with the namespace's key, with other fields. */
  pull(fields?: Readonly<Record<string, string>>): void
  /** The same with the credential of the emulator's client in place of the key. */
  pullAsClient(fields?: Readonly<Record<string, string>>): void
}

async function openPullCheck(): Promise<PullCheck> {
  const world = await openCheck({
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
    clients: [{ roles: [{ role: 'EventGrid Contributor' }, { role: 'EventGrid Data Receiver' }] }],
  })
  const { emulator, folder } = world
  const { tenantId, clientId, clientSecret } = emulator
  const topic = emulator.namespaceTopic('orders')
  const write = (fields: Readonly<Record<string, string>>) => {
    const named = { deliveryMode: 'pull', namespaceTopic: topic.id, eventSubscriptionName: 'app', ...fields }
    const metadata = Object.entries(named).map(([name, value]) => ({ name, value }))
    const spec = { type: 'bindings.azure.eventgrid', version: 'v1', metadata }
    const component = { apiVersion: 'dapr.io/v1alpha1', kind: 'Component', metadata: { name: 'orders' }, spec }
    folder.write('orders.yaml', JSON.stringify(component))
  }
  const key = { namespaceEndpoint: topic.namespaceEndpoint, namespaceKey: topic.key }
  const client = { namespaceEndpoint: topic.namespaceEndpoint, tenantId, clientId, clientSecret }
  write(key)
  return {
    ...world,
    pull: (fields) => write({ ...key, ...fields }),
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

it('asks with the token of a client, which needs no namespaceEndpoint', async () => {
  const world = await openPullCheck()
  world.pullAsClient()
  const { code, idsThat, said } = await world.check()
  expect(idsThat('ok')).toEqual([...files, 'machine/clock', 'azure/credential', 'pull/receive', 'pull/settle'])
  expect(said('pull/settle')).toContain('the token')
  expect(code).toBe(0)
})

it.each<{
  readonly id: CheckId
  readonly how: string
  readonly breakIt: (world: PullCheck) => void
  readonly skipped: readonly CheckId[]
  readonly says: RegExp
}>([
  {
    id: 'pull/receive',
    how: 'a key of another namespace',
    breakIt: ({ pull }) => pull({ namespaceKey: 'd3Jvbmcga2V5' }),
    skipped: ['pull/settle'],
    says: /status 401[\s\S]*az eventgrid namespace list-key/,
  },
  {
    id: 'pull/receive',
    how: 'a topic that is missing',
    breakIt: ({ emulator, pull }) =>
      pull({ namespaceTopic: emulator.namespaceTopic('orders').id.replace(/orders$/, 'ordres') }),
    skipped: ['pull/settle'],
    says: /status 404[\s\S]*check namespaceTopic[\s\S]*az eventgrid namespace topic show --name ordres/,
  },
  {
    id: 'pull/receive',
    how: 'an event subscription that is missing, and nobody to create it',
    breakIt: ({ pull }) => pull({ eventSubscriptionName: 'nobody' }),
    skipped: ['pull/settle'],
    says: /create the event subscription nobody/,
  },
  {
    id: 'pull/receive',
    how: 'a client that may not receive',
    breakIt({ emulator, pullAsClient }) {
      pullAsClient()
      emulator.removeRole(emulator.clientId, 'EventGrid Data Receiver')
    },
    skipped: ['pull/settle'],
    says: /status 403[\s\S]*EventGrid Data Receiver/,
  },
  {
    id: 'pull/settle',
    how: 'a namespace that answers 500',
    breakIt: ({ emulator }) =>
      emulator.failNext({ route: 'namespace', status: 500, matches: ({ url }) => url.includes(':acknowledge') }),
    skipped: [],
    says: /status 500/,
  },
])('$id fails alone, and says what to do: $how', async ({ id, breakIt, skipped, says }) => {
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
