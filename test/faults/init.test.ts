/** What Azure and the way to it may do to `init`, through the emulator: it gets over what passes, and names what does not. */

import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { Binding, type BindingErrorCode } from '../../src/index.ts'
import { listen } from '../support/listen.ts'
import { type Fields, openWorld, type World } from '../support/open-world.ts'
import { refusal } from '../support/refusal.ts'
import { answering } from '../support/servers.ts'

type EmulatorOptions = NonNullable<NonNullable<Parameters<typeof openWorld>[0]>['emulator']>

const isTokenRequest = ({ method }: { readonly method: string }) => method === 'POST'
const isWrite = ({ method, url }: { readonly method: string; readonly url: string }) =>
  method === 'PUT' && /\/eventSubscriptions\//i.test(url)
const isRead = ({ method, url }: { readonly method: string; readonly url: string }) =>
  method === 'GET' && /\/eventSubscriptions\//i.test(url)
const isLook = ({ url }: { readonly url: string }) => url.includes('operationsStatus')

it.each<[what: string, fault: Parameters<World['emulator']['failNext']>[0]]>([
  ['Entra answering 503', { route: 'entra', status: 503 }],
  ['Entra answering 429', { route: 'entra', status: 429 }],
  ['Entra cutting the connection', { route: 'entra', drop: true }],
  ['a read answered 500', { route: 'arm', status: 500 }],
  ['a read that is cut off', { route: 'arm', drop: true, matches: isRead }],
  ['a write answered 409', { route: 'arm', status: 409, matches: isWrite }],
  ['a write answered 429', { route: 'arm', status: 429, matches: isWrite }],
  ['a write answered 500', { route: 'arm', status: 500, matches: isWrite }],
  ['a write that is cut off', { route: 'arm', drop: true, matches: isWrite }],
  ['an operation that is cut off', { route: 'arm', drop: true, matches: isLook }],
  ['an operation answered 500', { route: 'arm', status: 500, matches: isLook }],
  [
    'a token that expires on its way',
    { route: 'arm', status: 401, code: 'ExpiredAuthenticationToken', matches: isWrite },
  ],
])('gets over %s', async (_what, fault) => {
  const world = await openWorld()
  world.emulator.failNext(fault)
  await initialised(world)
})

it('gets over tokens that live for a second while the operation takes longer', async () => {
  await initialised(await openWorld({ emulator: { tokenLifetimeSeconds: 1, operationDelayMs: 1_200 } }))
})

it('gets over a handshake answered 503, then well', async () => {
  const world = await openWorld()
  const { emulator, binding } = world
  emulator.setIngress(({ pathname }) => {
    const { port } = binding.address() ?? { port: 1 }
    return emulator.records.handshakes.length === 0 ? 'http://127.0.0.1:1/' : `http://127.0.0.1:${port}${pathname}`
  })
  await initialised(world)
})

async function initialised(world: World): Promise<void> {
  await world.init()
  expect(world.subscription()?.provisioningState).toBe('Succeeded')
  expect(world.binding.health()).toMatchObject({ status: 'healthy' })
}

it('waits as long as Retry-After says', async () => {
  const world = await openWorld()
  world.emulator.failNext({ route: 'arm', status: 429, retryAfter: 1, matches: isWrite })
  await world.init()
  const [refused, taken] = world.emulator.records.requests.filter(isWrite).map(({ at }) => at)
  expect(Number(taken) - Number(refused)).toBeGreaterThanOrEqual(1_000)
})

const hasty: Fields = { subscriptionTimeout: '5s' }

/** A fault of the emulator before init, and the fields that init is given for it. */
const failing =
  (fault: Parameters<World['emulator']['failNext']>[0], fields: Fields = {}) =>
  ({ emulator }: World) => {
    emulator.failNext(fault)
    return fields
  }
const ingressTo = (url: string | Promise<string>) => async (world: World) => {
  const target = await url
  world.emulator.setIngress(() => target)
  return hasty
}
const otherScope = (end: RegExp, instead: string) => (world: World) => ({
  scope: String(world.fields.scope).replace(end, instead),
})
const another = 'aaaaaaaa-1111-4111-8111-111111111111'

it.each<
  [
    what: string,
    code: BindingErrorCode,
    says: RegExp,
    arrange: (world: World) => Fields | Promise<Fields>,
    emulator?: EmulatorOptions,
  ]
>([
  [
    'a scope whose topic is missing',
    'SCOPE_NOT_FOUND',
    /there is no .*topics\/missing.*check scope/,
    otherScope(/[^/]+$/, 'missing'),
  ],
  [
    'a scope whose resource group is missing',
    'SCOPE_NOT_FOUND',
    /resourceGroups\/missing/,
    otherScope(/resourceGroups\/[^/]+.*/, 'resourceGroups/missing'),
  ],
  ['another tenant', 'CREDENTIALS_REJECTED', /there is no such (client|tenant)/, () => ({ tenantId: another })],
  ['an unknown client', 'CREDENTIALS_REJECTED', /AADSTS700016/, () => ({ clientId: another })],
  [
    'a token that ARM does not take',
    'CREDENTIALS_REJECTED',
    /rejected the token.*azureEnvironment/,
    failing({ route: 'arm', status: 401, code: 'InvalidAuthenticationToken', times: 5 }),
  ],
  [
    'a write answered 400',
    'SUBSCRIPTION_REJECTED',
    /InvalidRequest/,
    failing({ route: 'arm', status: 400, code: 'InvalidRequest', matches: isWrite }),
  ],
  [
    'a write answered 403',
    'PERMISSION_DENIED',
    /az role assignment create/,
    failing({ route: 'arm', status: 403, matches: isWrite }),
  ],
  [
    'conflicts without end',
    'TIMEOUT',
    /409/,
    failing({ route: 'arm', status: 409, matches: isWrite, times: 99 }, hasty),
  ],
  [
    'a Retry-After beyond subscriptionTimeout, at once',
    'TIMEOUT',
    /gave up after one attempt in 0 s.*429/,
    failing({ route: 'arm', status: 429, retryAfter: 3_600, matches: isWrite }),
  ],
  [
    'an Entra that wants to be left alone beyond subscriptionTimeout, at once',
    'TIMEOUT',
    /gave up after one attempt in 0 s; no token from https:\/\/127\.0\.0\.1:\d+: it answered 429/,
    failing({ route: 'entra', status: 429, retryAfter: 3_600, matches: isTokenRequest }),
  ],
  [
    'Entra that never answers',
    'TIMEOUT',
    /could not be set up/,
    failing({ route: 'entra', delayMs: 600_000, times: 100 }, hasty),
  ],
  [
    'ARM that never answers a read',
    'TIMEOUT',
    /no answer/,
    failing({ route: 'arm', delayMs: 600_000, times: 100 }, hasty),
  ],
  [
    'an operation that hangs',
    'TIMEOUT',
    /did not complete it in time|still Creating/,
    () => hasty,
    { operationDelayMs: 600_000 },
  ],
  [
    'a handshake that is answered 404',
    'HANDSHAKE_FAILED',
    /OPTIONS was answered NotFound.*route \/api\/events/,
    (world) => ingressTo(answering(404))(world),
  ],
  [
    'a handshake that finds nobody',
    'HANDSHAKE_FAILED',
    /got no HTTP answer.*Emulator: nothing listens at http:\/\/127\.0\.0\.1:1,/,
    ingressTo('http://127.0.0.1:1/'),
  ],
  [
    'a handshake that is never answered',
    'HANDSHAKE_FAILED',
    /got no HTTP answer/,
    async (world) => ingressTo(`http://127.0.0.1:${await listen(createServer(() => {}))}/`)(world),
    { answerTimeout: 300 },
  ],
  [
    'a handshake of another cloud',
    'HANDSHAKE_FAILED',
    /manual validation of .* no consent.*route \/api\/events to handshakePort/,
    () => ({ azureEnvironment: 'AzureUSGovernmentCloud', subscriptionTimeout: '4s' }),
  ],
])('names %s', async (_what, code, says, arrange, emulator = {}) => {
  const world = await openWorld({ emulator })
  const error = await refusal(world.init(await arrange(world)))
  expect([error.code, error.message]).toEqual([code, expect.stringMatching(new RegExp(says, 's'))])
  expect(world.binding.address()).toBeUndefined()
  expect(world.binding.health().status).toBe('unhealthy')
  expect(`${error.stack}${world.log.text()}`).not.toContain(world.fields.clientSecret)
})

it.each([
  {
    what: 'a closed port',
    endpoint: (ca: string) => ({ resourceManager: 'https://127.0.0.1:1', ca }),
    says: /no answer from https:\/\/127\.0\.0\.1:1 .*ECONNREFUSED.*; nothing listens at 127\.0\.0\.1:1: start the emulator/s,
  },
  {
    what: 'a certificate that nobody vouches for',
    endpoint: () => ({}),
    says: /certificate is not trusted.*NODE_EXTRA_CA_CERTS/s,
  },
])('names $what in place of ARM or Entra', async ({ endpoint, says }) => {
  const world = await openWorld()
  const { resourceManager, authorityHost, ca } = world.emulator.endpoints
  const binding = new Binding({ endpoints: { resourceManager, authorityHost, ...endpoint(ca) } })
  onTestFinished(() => binding.close())
  const error = await refusal(binding.init({ ...world.fields, ...hasty }))
  expect([error.code, error.message]).toEqual(['TIMEOUT', expect.stringMatching(says)])
})

it.each([
  { endpoints: { resourceManager: 'http://127.0.0.1:1' } },
  { endpoints: { authorityHost: 'http://127.0.0.1:1' } },
  { endpoints: { resourceManager: 'nonsense' } },
])('refuses the endpoints $endpoints, which are not https, with nothing left open', async ({ endpoints }) => {
  const world = await openWorld()
  const binding = new Binding({ endpoints: { ...world.emulator.endpoints, ...endpoints } })
  onTestFinished(() => binding.close())
  expect((await refusal(binding.init(world.fields))).code).toBe('METADATA_INVALID')
  expect(binding.address()).toBeUndefined()
})
