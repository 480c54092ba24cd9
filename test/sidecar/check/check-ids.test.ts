import { createServer } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { CheckId } from '../../../src/sidecar/check/report.ts'
import { componentYaml } from '../../support/component-folder.ts'
import { freePort } from '../../support/free-port.ts'
import { answering, selfSigned } from '../../support/servers.ts'
import { type CheckWorld, openCheck, runCheck, subscribe } from './open-check.ts'

const afterFiles: readonly CheckId[] = [
  ...(['machine/port', 'machine/clock'] as const),
  ...(['endpoint/dns', 'endpoint/connect', 'endpoint/certificate', 'endpoint/handshake', 'endpoint/path'] as const),
  ...(['azure/credential', 'azure/provider', 'azure/scope', 'azure/permission', 'azure/subscription'] as const),
  ...(['topic/dns', 'topic/certificate', 'topic/credential'] as const),
]

interface Fault {
  readonly id: CheckId
  readonly how: string
  /** @default that of `fields` by the id */
  readonly field?: string
  readonly breakIt: (world: CheckWorld) => unknown
  readonly args?: readonly string[]
  readonly skipped: readonly CheckId[]
  /** What somebody needs to mend it. */
  readonly says: RegExp
}

/** Leaves the output side out. */
const noOutput = { topicEndpoint: undefined, accessKey: undefined }

const faults: readonly Fault[] = [
  {
    id: 'files/metadata',
    how: 'a port that is none',
    field: 'handshakePort',
    breakIt: ({ write }) => write({ handshakePort: 'ninety' }),
    skipped: afterFiles,
    says: /orders\.yaml:\d+:\d+: handshakePort must be a port[\s\S]*\^/,
  },
  {
    id: 'files/secrets',
    how: 'a reference to nothing',
    breakIt: ({ folder }) => folder.write('secrets.json', '{}'),
    skipped: afterFiles,
    says: /secretKeyRef to "orders-clientSecret[\s\S]*secretstores\.local\.file/,
  },
  {
    id: 'files/names',
    how: 'two components of one name',
    breakIt: ({ emulator, folder }) => folder.write('zz-copy.yaml', folderCopy(emulator.topic('orders').endpoint)),
    skipped: ['machine/clock', 'topic/dns', 'topic/certificate', 'topic/credential'],
    says: /orders\.yaml is called "orders" too/,
  },
  {
    id: 'files/names',
    how: 'two components that would move one event subscription to and fro',
    field: 'eventSubscriptionName',
    breakIt: ({ emulator, folder }) => {
      const { id } = emulator.topic('orders')
      const fields = {
        scope: id.toUpperCase(),
        subscriberEndpoint: 'https://other.example.com/',
        clientSecret: 'a-secret',
      }
      const parts = { name: 'ORDERS', topic: 'orders', handshakePort: '1', fields: { ...fields, ...noOutput } }
      folder.write('zz-other.yaml', componentYaml(emulator, parts))
    },
    args: ['--only', 'files'],
    skipped: [],
    says: /component "orders" in .*orders\.yaml has the event subscription "ORDERS" of \S+ too, with another/,
  },
  {
    id: 'files/metadata',
    how: 'a namespace topic that is not published to',
    field: 'topicEndpoint',
    breakIt: ({ write }) => write({ topicEndpoint: 'https://shop.westeurope-1.eventgrid.azure.net/topics/orders' }),
    args: ['--offline'],
    skipped: ['machine/port'],
    says: /topicEndpoint must end in :publish/,
  },
  {
    id: 'machine/port',
    how: 'a stranger on the port',
    breakIt: ({ port }) => listenOn(port),
    skipped: ['endpoint/handshake', 'endpoint/path'],
    says: /is in use[\s\S]*answers OPTIONS with 418 \(server: teapot\)[\s\S]*choose another port/,
  },
  {
    id: 'endpoint/handshake',
    how: 'an ingress that answers 503',
    breakIt: async ({ emulator }) => emulator.useIngress('https://orders.example.com/', await answering(503)),
    skipped: ['endpoint/path'],
    says: /OPTIONS was answered 503[\s\S]*delete its pod so that it restarts/,
  },
  {
    id: 'endpoint/path',
    how: 'an ingress that rewrites the path',
    breakIt: ({ emulator, port }) => emulator.useIngress('https://orders.example.com/', `http://127.0.0.1:${port}/v2/`),
    skipped: ['endpoint/handshake'],
    says: /\/api\/events arrives at the listener as \/v2\/api\/events[\s\S]*rewrite it to \/api\/events/,
  },
  {
    id: 'azure/credential',
    how: 'a wrong client secret',
    breakIt: ({ write }) => write({ clientSecret: 'a-secret-of-somebody-else' }),
    skipped: ['azure/provider', 'azure/scope', 'azure/permission', 'azure/subscription'],
    says: /AADSTS7000215[\s\S]*az ad app credential reset/,
  },
  {
    id: 'azure/credential',
    how: 'a proxy that is no URL',
    breakIt() {
      vi.stubEnv('HTTPS_PROXY', 'proxy.example.com')
      onTestFinished(() => void vi.unstubAllEnvs())
    },
    args: ['--skip', 'topic'],
    skipped: ['machine/clock', 'azure/provider', 'azure/scope', 'azure/permission', 'azure/subscription'],
    says: /HTTPS_PROXY must be an http or https URL[\s\S]*like http:\/\/proxy/,
  },
  {
    id: 'azure/provider',
    how: 'a provider that is not registered',
    breakIt: ({ emulator }) => emulator.unregisterProvider(),
    // ARM tells nothing of a topic either.
    skipped: ['azure/scope', 'azure/subscription'],
    says: /not registered[\s\S]*az provider register --namespace Microsoft\.EventGrid/,
  },
  {
    id: 'azure/provider',
    how: 'a Resource Manager that does not answer',
    breakIt: ({ emulator }) => emulator.failNext({ route: 'arm', drop: true, times: Number.POSITIVE_INFINITY }),
    skipped: ['azure/scope', 'azure/permission', 'azure/subscription'],
    says: /no answer from https:\/\/127\.0\.0\.1:\d+ .*[\s\S]*HTTPS_PROXY/,
  },
  {
    id: 'azure/scope',
    how: 'a topic that does not exist',
    breakIt: ({ emulator, write }) => write({ scope: emulator.topic('orders').id.replace(/orders$/, 'ordres') }),
    skipped: ['azure/subscription'],
    says: /there is no .*topics\/ordres[\s\S]*check scope/,
  },
  {
    id: 'azure/permission',
    how: 'a client that may only read',
    breakIt({ emulator }) {
      emulator.removeRoles(emulator.clientId)
      emulator.assignRole(emulator.clientId, 'Reader')
    },
    skipped: ['azure/subscription'],
    says: /do not allow Microsoft\.EventGrid\/eventSubscriptions\/write[\s\S]*az role assignment create --assignee/,
  },
  {
    id: 'azure/subscription',
    how: 'an event subscription that delivers elsewhere',
    breakIt: (world) => subscribe(world, { subscriberEndpoint: 'https://other.example.com/api/events' }),
    skipped: [],
    says: /delivers to https:\/\/other\.example\.com\/api\/events, not to https:\/\/orders[\s\S]*az eventgrid event-subscription show/,
  },
  {
    id: 'topic/certificate',
    how: 'a self-signed certificate',
    breakIt: async ({ write }) => write({ topicEndpoint: `${await selfSigned()}/api/events` }),
    skipped: ['topic/credential'],
    says: /self-signed/,
  },
  {
    id: 'topic/credential',
    how: 'a key of another topic',
    breakIt: ({ write }) => write({ accessKey: 'bm90IHRoZSBrZXkgb2YgdGhpcyB0b3BpYw==' }),
    skipped: [],
    says: /answered 401[\s\S]*Emulator: it prints the keys[\s\S]*az eventgrid topic key list/,
  },
  {
    id: 'round-trip/event',
    how: 'a topic that takes another schema',
    breakIt: async (world) => {
      world.emulator.addTopic({
        name: 'orders',
        inputSchema: 'EventGridSchema',
        keys: [...world.emulator.topic('orders').keys],
      })
      await subscribe(world, {})
    },
    args: ['--round-trip'],
    skipped: [],
    says: /answered 400[\s\S]*topicSchema/,
  },
]

const unknownHost = 'https://no-such-host.invalid/api/events'
const unknownSays = /no-such-host\.invalid does not resolve[\s\S]*dig \+short/

/** The faults that show themselves without `--emulator`, which sends the requests to an endpoint by itself. */
const strangers: readonly Fault[] = [
  {
    id: 'endpoint/dns',
    how: 'a name that does not resolve',
    breakIt: ({ write }) => write({ subscriberEndpoint: unknownHost }),
    skipped: ['endpoint/connect', 'endpoint/certificate', 'endpoint/handshake', 'endpoint/path'],
    says: unknownSays,
  },
  {
    id: 'endpoint/connect',
    how: 'nobody at the port',
    breakIt: async ({ write }) => write({ subscriberEndpoint: `https://localhost:${await freePort()}/api/events` }),
    skipped: ['endpoint/certificate', 'endpoint/handshake', 'endpoint/path'],
    says: /ECONNREFUSED[\s\S]*AzureEventGrid/,
  },
  {
    id: 'endpoint/certificate',
    how: 'a self-signed certificate',
    breakIt: async ({ write }) => write({ subscriberEndpoint: `${await selfSigned()}/api/events` }),
    skipped: ['endpoint/handshake', 'endpoint/path'],
    says: /self-signed[\s\S]*public authority/,
  },
  {
    id: 'topic/dns',
    how: 'a name that does not resolve',
    breakIt: ({ write }) => write({ topicEndpoint: unknownHost }),
    skipped: ['topic/certificate', 'topic/credential'],
    says: unknownSays,
  },
]

/** The metadata field that a failure is about, where that is one. */
const fields: Readonly<Record<string, string>> = {
  'machine/port': 'handshakePort',
  'endpoint/dns': 'subscriberEndpoint',
  'endpoint/connect': 'subscriberEndpoint',
  'endpoint/certificate': 'subscriberEndpoint',
  'endpoint/handshake': 'subscriberEndpoint',
  'endpoint/path': 'subscriberEndpoint',
  'azure/scope': 'scope',
  'topic/dns': 'topicEndpoint',
  'topic/certificate': 'topicEndpoint',
}

it('finds nothing wrong where nothing is, and leaves Azure and the topic as they were', async () => {
  const world = await openCheck()
  const { code, idsThat } = await world.check()
  expect(code).toBe(0)
  for (const status of ['failed', 'skipped', 'warning'] as const) expect(idsThat(status)).toEqual([])
  expect(idsThat('ok')).toEqual(['files/yaml', 'files/metadata', 'files/secrets', 'files/names', ...afterFiles])
  expect(world.emulator.eventSubscriptions()).toEqual([])
  expect(world.emulator.figures()).toMatchObject({ published: 0 })
  const methods = world.emulator.records.requests.all().filter(({ route }) => route === 'arm')
  expect(methods.every(({ method, url }) => method === 'GET' || /getFullUrl|getDeliveryAttributes/.test(url))).toBe(
    true,
  )
})

it.each(faults)(
  '$id fails alone, and says what to do: $how',
  async ({ id, breakIt, args = [], skipped, says, field }) => {
    const world = await openCheck()
    await breakIt(world)
    const checked = await world.check(...args)
    expect(checked.idsThat('failed')).toEqual([id])
    expect(checked.idsThat('skipped')).toEqual(skipped)
    expect(checked.code).toBe(1)
    expect(checked.said(id)).toMatch(says)
    expect(checked.fieldOf(id)).toBe(field ?? fields[id])
    for (const one of skipped) expect(checked.said(one)).toContain(id)
  },
)

it('files/yaml fails where a file is no YAML, with the line and a mark under the place', async () => {
  const world = await openCheck()
  world.folder.write('orders.yaml', 'apiVersion: dapr.io/v1alpha1\nkind: Component\nspec: [\n')
  const checked = await world.check()
  expect(checked.components).toEqual([null])
  expect(checked.idsThat('failed')).toEqual(['files/yaml'])
  expect(checked.said('files/yaml')).toMatch(/orders\.yaml:\d+:\d+: is not valid YAML.*\n.*\n.*\^/)
  expect(checked.code).toBe(1)
})

it.each(strangers)('$id fails alone without an emulator: $how', async ({ id, breakIt, skipped, says }) => {
  const world = await openCheck()
  await breakIt(world)
  const only = `files,${id.split('/')[0]}`
  const checked = await runCheck(['--components', world.folder.path, '--json', '--only', only])
  expect(checked.idsThat('failed')).toEqual([id])
  expect(checked.idsThat('skipped')).toEqual(skipped)
  expect(checked.said(id)).toMatch(says)
  expect(checked.fieldOf(id)).toBe(fields[id])
})

it('round-trip/event publishes one event and has it delivered', async () => {
  const world = await openCheck()
  await subscribe(world, {})
  const checked = await world.check('--round-trip')
  expect(checked.idsThat('failed')).toEqual([])
  expect(checked.said('round-trip/event')).toMatch(/published in \d+ ms, delivered \d+ ms later/)
  await world.emulator.idle()
  expect(world.emulator.figures()).toMatchObject({ published: 1, delivered: 1 })
})

async function listenOn(port: number): Promise<void> {
  const server = createServer((_request, response) => response.writeHead(418, { server: 'teapot' }).end())
  await new Promise<void>((listening) => server.listen(port, '0.0.0.0', listening))
  onTestFinished(() => void server.close())
}

const folderCopy = (topicEndpoint: string) => `apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: orders }
spec:
  type: bindings.azure.eventgrid
  version: v1
  metadata:
    - { name: topicEndpoint, value: "${topicEndpoint}" }
    - { name: accessKey, secretKeyRef: { name: orders-accessKey, key: orders-accessKey } }
auth: { secretStore: local-secrets }
`
