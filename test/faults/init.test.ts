/** What Azure and the way to it may do to `init`, through the emulator: it gets over what passes, and names what does not. */

import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { Binding, type BindingErrorCode } from '../../src/index.ts'
import { startAcceleratedClock } from '../support/accelerated-clock.ts'
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

it.each<{ what: string; arrange: (world: World) => void; emulator?: EmulatorOptions }>([
  { what: 'Entra answering 503', arrange: ({ emulator }) => emulator.failNext({ route: 'entra', status: 503 }) },
  { what: 'Entra answering 429', arrange: ({ emulator }) => emulator.failNext({ route: 'entra', status: 429 }) },
  {
    what: 'Entra answering 503 to two requests for a token',
    arrange: ({ emulator }) => emulator.failNext({ route: 'entra', status: 503, times: 2, matches: isTokenRequest }),
  },
  {
    what: 'Entra cutting the connection',
    arrange: ({ emulator }) => emulator.failNext({ route: 'entra', drop: true }),
  },
  { what: 'a read answered 500', arrange: ({ emulator }) => emulator.failNext({ route: 'arm', status: 500 }) },
  {
    what: 'a read that is cut off',
    arrange: ({ emulator }) => emulator.failNext({ route: 'arm', drop: true, matches: isRead }),
  },
  {
    what: 'a write answered 409',
    arrange: ({ emulator }) => emulator.failNext({ route: 'arm', status: 409, matches: isWrite }),
  },
  {
    what: 'a write answered 429',
    arrange: ({ emulator }) => emulator.failNext({ route: 'arm', status: 429, matches: isWrite }),
  },
  {
    what: 'a write answered 500',
    arrange: ({ emulator }) => emulator.failNext({ route: 'arm', status: 500, matches: isWrite }),
  },
  {
    what: 'a write that is cut off',
    arrange: ({ emulator }) => emulator.failNext({ route: 'arm', drop: true, matches: isWrite }),
  },
  {
    what: 'an operation that is cut off',
    arrange: ({ emulator }) => emulator.failNext({ route: 'arm', drop: true, matches: isLook }),
  },
  {
    what: 'an operation answered 500',
    arrange: ({ emulator }) => emulator.failNext({ route: 'arm', status: 500, matches: isLook }),
  },
  {
    what: 'a token that expires on its way',
    arrange({ emulator }) {
      emulator.failNext({ route: 'arm', status: 401, code: 'ExpiredAuthenticationToken', matches: isWrite })
    },
  },
  {
    what: 'tokens that live for a second while the operation takes longer',
    arrange() {},
    emulator: { tokenLifetimeSeconds: 1, operationDelayMs: 1_200 },
  },
  {
    what: 'a handshake answered 503, then well',
    arrange({ emulator, binding }) {
      emulator.setIngress(({ pathname }) => {
        const { port } = binding.address() ?? { port: 1 }
        return emulator.records.handshakes.length === 0 ? 'http://127.0.0.1:1/' : `http://127.0.0.1:${port}${pathname}`
      })
    },
  },
])('gets over $what', async ({ arrange, emulator }) => {
  const world = await openWorld({ ...(emulator && { emulator }) })
  arrange(world)
  await world.init()
  expect(world.subscription()?.provisioningState).toBe('Succeeded')
  expect(world.binding.health()).toMatchObject({ status: 'healthy' })
})

it('waits as long as Retry-After says', async () => {
  const world = await openWorld()
  world.emulator.failNext({ route: 'arm', status: 429, retryAfter: 1, matches: isWrite })
  await world.init()
  const [refused, taken] = world.emulator.records.requests.filter(isWrite).map(({ at }) => at)
  expect(Number(taken) - Number(refused)).toBeGreaterThanOrEqual(1_000)
})

const hasty: Fields = { subscriptionTimeout: '5s' }
const otherScope = (change: (scope: string) => string) => (world: World) => ({
  scope: change(String(world.fields.scope)),
})

it.each<{
  what: string
  code: BindingErrorCode
  says: RegExp
  emulator?: EmulatorOptions
  /** Returns the fields that it changes, if any. */
  arrange: (world: World) => unknown
}>([
  {
    what: 'a scope whose topic is missing',
    code: 'SCOPE_NOT_FOUND',
    says: /there is no .*topics\/missing.*check scope/s,
    arrange: otherScope((scope) => scope.replace(/[^/]+$/, 'missing')),
  },
  {
    what: 'a scope whose resource group is missing',
    code: 'SCOPE_NOT_FOUND',
    says: /resourceGroups\/missing/,
    arrange: otherScope((scope) => scope.replace(/resourceGroups\/[^/]+.*/, 'resourceGroups/missing')),
  },
  {
    what: 'a client of another tenant',
    code: 'CREDENTIALS_REJECTED',
    says: /there is no such (client|tenant)/,
    arrange: () => ({ tenantId: 'aaaaaaaa-1111-4111-8111-111111111111' }),
  },
  {
    what: 'an unknown client',
    code: 'CREDENTIALS_REJECTED',
    says: /AADSTS700016/,
    arrange: () => ({ clientId: 'bbbbbbbb-1111-4111-8111-111111111111' }),
  },
  {
    what: 'a token that ARM does not take',
    code: 'CREDENTIALS_REJECTED',
    says: /rejected the token.*azureEnvironment/,
    arrange: ({ emulator }) =>
      emulator.failNext({ route: 'arm', status: 401, code: 'InvalidAuthenticationToken', times: 5 }),
  },
  {
    what: 'a write answered 400',
    code: 'SUBSCRIPTION_REJECTED',
    says: /InvalidRequest/,
    arrange: ({ emulator }) =>
      emulator.failNext({ route: 'arm', status: 400, code: 'InvalidRequest', matches: isWrite }),
  },
  {
    what: 'a write answered 403',
    code: 'PERMISSION_DENIED',
    says: /az role assignment create/,
    arrange: ({ emulator }) => emulator.failNext({ route: 'arm', status: 403, matches: isWrite }),
  },
  {
    what: 'conflicts without end',
    code: 'TIMEOUT',
    says: /409/,
    arrange({ emulator }) {
      emulator.failNext({ route: 'arm', status: 409, matches: isWrite, times: 1_000 })
      return hasty
    },
  },
  {
    what: 'a Retry-After beyond subscriptionTimeout, at once',
    code: 'TIMEOUT',
    says: /gave up after one attempt in 0 s.*429/,
    arrange: ({ emulator }) => emulator.failNext({ route: 'arm', status: 429, retryAfter: 3_600, matches: isWrite }),
  },
  {
    what: 'an Entra that wants to be left alone beyond subscriptionTimeout, at once',
    code: 'TIMEOUT',
    says: /gave up after one attempt in 0 s; no token from https:\/\/127\.0\.0\.1:\d+: it answered 429/,
    arrange: ({ emulator }) =>
      emulator.failNext({ route: 'entra', status: 429, retryAfter: 3_600, matches: isTokenRequest }),
  },
  {
    what: 'Entra that never answers',
    code: 'TIMEOUT',
    says: /could not be set up/,
    arrange({ emulator }) {
      emulator.failNext({ route: 'entra', delayMs: 600_000, times: 100 })
      return hasty
    },
  },
  {
    what: 'ARM that never answers a read',
    code: 'TIMEOUT',
    says: /no answer/,
    arrange({ emulator }) {
      emulator.failNext({ route: 'arm', delayMs: 600_000, times: 100 })
      return hasty
    },
  },
  {
    what: 'an operation that hangs',
    code: 'TIMEOUT',
    says: /did not complete it in time|still Creating/,
    emulator: { operationDelayMs: 600_000 },
    arrange: () => hasty,
  },
  {
    what: 'a handshake that is answered 404',
    code: 'HANDSHAKE_FAILED',
    says: /OPTIONS was answered NotFound.*route \/api\/events/,
    async arrange({ emulator }) {
      const ingress = await answering(404)
      emulator.setIngress(() => ingress)
      return hasty
    },
  },
  {
    what: 'a handshake that finds nobody',
    code: 'HANDSHAKE_FAILED',
    says: /got no HTTP answer.*Emulator: nothing listens at http:\/\/127\.0\.0\.1:1,/s,
    arrange({ emulator }) {
      emulator.setIngress(() => 'http://127.0.0.1:1/')
      return hasty
    },
  },
  {
    what: 'a handshake that is never answered',
    code: 'HANDSHAKE_FAILED',
    says: /got no HTTP answer/,
    emulator: { clock: startAcceleratedClock(100) },
    async arrange({ emulator }) {
      const port = await listen(createServer(() => {}))
      emulator.setIngress(() => `http://127.0.0.1:${port}/`)
      return hasty
    },
  },
  {
    what: 'a handshake of another cloud',
    code: 'HANDSHAKE_FAILED',
    says: /manual validation of .* no consent.*route \/api\/events to handshakePort/,
    arrange: () => ({ azureEnvironment: 'AzureUSGovernmentCloud', subscriptionTimeout: '4s' }),
  },
])('names $what', async ({ code, says, emulator, arrange }) => {
  const world = await openWorld({ ...(emulator && { emulator }) })
  const changes = await arrange(world)
  const error = await refusal(world.init(changes instanceof Object ? { ...changes } : {}))
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
