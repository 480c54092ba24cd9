import { expect, it, onTestFinished, vi } from 'vitest'
import { createCredential } from '../../src/azure/credential.ts'
import { Secret } from '../../src/core/secret.ts'
import { azureEnvironments } from '../../src/metadata/fields/addresses.ts'
import { createNamespaceClient, type NamespaceClientOptions, whatRefuses } from '../../src/receiver/namespace-client.ts'
import { order } from '../support/open-pull.ts'
import { traceparentOf } from '../support/telemetry.ts'
import { brings, type NamespaceAnswer, scriptNamespace } from './scripted-namespace.ts'

const environment = azureEnvironments.AzurePublicCloud

/** Entra's tokens, as the host gives them. */
const byToken = (getToken: () => Promise<{ token: string; expiresOnTimestamp: number }>) => ({
  kind: 'entra' as const,
  credential: createCredential({ kind: 'host' }, { environment, endpoints: {}, hostCredential: { getToken } }),
  scope: environment.topicScope,
})

/** A client of a namespace that answers each request so; `undefined` never. */
async function open(answer: NamespaceAnswer | undefined, more: Partial<NamespaceClientOptions> = {}) {
  const world = await scriptNamespace(() => answer)
  const client = createNamespaceClient({
    namespaceEndpoint: world.properties.namespaceEndpoint,
    topicName: 'orders',
    eventSubscriptionName: 'app',
    authentication: { kind: 'key', key: new Secret('bWFya2Vk') },
    endpoints: world.endpoints,
    ...more,
  })
  onTestFinished(() => client.close())
  const { signal } = new AbortController()
  return {
    world,
    receive: () => client.receive({ maxEvents: 7, maxWaitSeconds: 30, signal }),
    settle: (more: { delaySeconds?: number } = {}) =>
      client.settle({ operation: 'release', lockTokens: ['a', 'b'], signal, ...more }),
  }
}

const locked = (count: number) => Array.from({ length: count }, (_, index) => `token-${index}`)

it('receives each event with its own bytes, its count and its trace', async () => {
  const traceparent = traceparentOf('a')
  const [first, second] = ['{ "id":  1.0 }', JSON.stringify(order('two', { traceparent }))]
  const body = `{"value":[{"brokerProperties":{"lockToken":"a"},"event":${first}},
    {"event":${second},"brokerProperties":{"deliveryCount":3,"lockToken":"b"}}]}`
  const { receive } = await open({ body })
  const answer = await receive()
  expect(
    'events' in answer && answer.events.map(({ bytes, ...event }) => ({ ...event, text: bytes.toString() })),
  ).toEqual([
    { text: first, value: { id: 1 }, lockToken: 'a', deliveryCount: 1, origin: undefined },
    { text: second, value: JSON.parse(second), lockToken: 'b', deliveryCount: 3, origin: { traceparent } },
  ])
})

it.each([
  { name: 'no event', body: '{"value":[]}', count: 0 },
  { name: 'as many events as a receive brings at most', body: brings(...locked(100)).body, count: 100 },
])('receives $name', async ({ body = '', count }) => {
  const { receive } = await open({ body })
  const answer = await receive()
  expect('events' in answer && answer.events).toHaveLength(count)
})

it.each([
  { name: 'a settlement', ask: (client: Awaited<ReturnType<typeof open>>) => client.settle(), megabytes: 1 },
  {
    name: 'a receive of seven events',
    ask: (client: Awaited<ReturnType<typeof open>>) => client.receive(),
    megabytes: 8,
  },
])('reads no answer to $name that is longer than what was asked for', async ({ ask, megabytes }) => {
  const answered = async (bytes: number) => ask(await open({ status: 500, body: ' '.repeat(bytes) }))
  expect(await answered(megabytes * 1_000_000)).toMatchObject({ failure: { status: 500 } })
  const tooLong = await answered(megabytes * 1_200_000)
  expect('failure' in tooLong && tooLong.failure).toMatchObject({ reason: expect.stringContaining('bytes') })
  expect('failure' in tooLong && tooLong.failure.status).toBeUndefined()
})

const broker = '"brokerProperties":{"lockToken":"a","deliveryCount":1}'
const event = '"event":{"id":"1"}'

it.each([
  { name: 'of a proxy', body: '<html>Sign in first</html>' },
  { name: 'that is a text', body: '"value"' },
  { name: 'without events', body: '{}' },
  { name: 'whose value is no list', body: `{"value":{${broker},${event}}}` },
  { name: 'with an item that is no object', body: `{"value":[{${broker},${event}},null]}` },
  { name: 'with an item without an event', body: `{"value":[{${broker}}]}` },
  { name: 'with one event that has no lock', body: `{"value":[{${broker},${event}},{${event}}]}` },
  { name: 'with a lock without a token', body: `{"value":[{"brokerProperties":{},${event}}]}` },
  { name: 'with more events than a receive brings', body: brings(...locked(101)).body },
])('believes nothing of an answer $name', async ({ body = '' }) => {
  const { receive } = await open({ body })
  expect(await receive()).toEqual({ failure: { status: 200, reason: 'the answer to receive is not readable' } })
})

const failing = (lockToken: unknown, error: unknown) => ({ failedLockTokens: [{ lockToken, error }] })

it.each([
  { name: 'the code', answer: failing('b', { code: 'TokenLost' }), failed: { b: 'TokenLost' } },
  { name: 'the start of a long code', answer: failing('b', { code: 'x'.repeat(99) }), failed: { b: /^x{50,59}…?/ } },
  { name: 'that there is no error', answer: failing('b', undefined), failed: { b: 'unknown' } },
  { name: 'that there is no code', answer: failing('b', { code: 7 }), failed: { b: 'unknown' } },
  { name: 'that it is not named', answer: { failedLockTokens: [null] }, failed: { b: 'Unconfirmed' } },
  { name: 'that it is not named as a text', answer: failing(7, {}), failed: { b: 'Unconfirmed' } },
  { name: 'that the failed ones are no list', answer: { failedLockTokens: 'b' }, failed: { b: 'Unconfirmed' } },
  { name: 'nothing', answer: { succeededLockTokens: ['a', 'b'] }, failed: {} },
])('gives for a lock token that is not settled $name', async ({ answer, failed }) => {
  const { settle } = await open({ body: JSON.stringify({ succeededLockTokens: ['a'], ...answer }) })
  const settled = await settle()
  const found = 'failed' in settled ? Object.fromEntries(settled.failed) : settled
  expect(Object.keys(found)).toEqual(Object.keys(failed))
  for (const [token, code] of Object.entries(failed))
    expect(found).toMatchObject({ [token]: expect.stringMatching(code) })
})

it.each([
  { name: 'a proxy', body: '<html>Sign in first</html>' },
  { name: 'no object', body: '["a","b"]' },
  { name: 'nothing', body: '{}' },
  { name: 'a list that is none', body: '{"succeededLockTokens":"a"}' },
  { name: 'other lock tokens', body: '{"failedLockTokens":[{"lockToken":"c"}],"succeededLockTokens":["d"]}' },
])('believes no settlement of $name', async ({ body }) => {
  const { settle } = await open({ body })
  expect(await settle()).toEqual({ failure: { status: 200, reason: 'the answer to release is not readable' } })
})

it('believes a settlement that names one lock token as failed', async () => {
  const { settle } = await open({ body: JSON.stringify(failing('a', { code: 'X' })) })
  const failed = Object.entries({ a: 'X', b: 'Unconfirmed' })
  expect(await settle()).toEqual({ failed: new Map(failed) })
})

it('asks as the data plane documents it, with the slashes of the endpoint left out', async () => {
  const world = await scriptNamespace(() => null)
  const { receive, settle } = await open(undefined, {
    namespaceEndpoint: `${world.properties.namespaceEndpoint}//`,
    endpoints: world.endpoints,
  })
  await receive()
  for (const more of [{}, { delaySeconds: 0 }, { delaySeconds: 10 }]) await settle(more)
  const at = '/topics/orders/eventsubscriptions/app'
  expect(world.requests.map(({ url, type, lockTokens }) => [url, type, ...lockTokens])).toEqual([
    [`${at}:receive?maxEvents=7&maxWaitTime=30&api-version=2024-06-01`, undefined],
    [`${at}:release?api-version=2024-06-01`, 'application/json', 'a', 'b'],
    [`${at}:release?api-version=2024-06-01`, 'application/json', 'a', 'b'],
    [`${at}:release?releaseDelayInSeconds=10&api-version=2024-06-01`, 'application/json', 'a', 'b'],
  ])
})

it.each([
  {
    name: 'both',
    body: '{"error":{"code":"Forbidden","message":"no"}}',
    reason: 'status 403: Forbidden no',
    isForeign: false,
  },
  { name: 'a message', body: '{"error":{"code":7,"message":"no"}}', reason: 'status 403: no' },
  { name: 'no error', body: '{"code":"Forbidden"}', reason: 'status 403' },
  { name: 'an error that is a text', body: '{"error":"no"}', reason: 'status 403' },
  { name: 'a text', body: '"no"', reason: 'status 403' },
  { name: 'no JSON', body: '<html>', reason: 'status 403' },
])('says why it is refused by $name', async ({ body, reason, isForeign = true }) => {
  const { receive } = await open({ status: 403, body })
  expect(await receive()).toEqual({ failure: { status: 403, reason, isForeign, retryAfterMs: undefined } })
})

it.each([
  { name: 'an error of Event Grid', body: '{"error":{"code":"ArgumentInvalid","message":"no"}}', refuses: false },
  { name: 'a page', body: '<h1>Bad Request</h1>', refuses: true },
  { name: 'no word', body: '', refuses: true },
])('takes a 400 with $name for a right to receive, or not (refused: $refuses)', async ({ body, refuses }) => {
  const { receive } = await open({ status: 400, body })
  expect(whatRefuses(await receive()) !== undefined).toBe(refuses)
})

it.each([
  { header: '7', retryAfterMs: 7_000 },
  { header: '301', retryAfterMs: 301_000 },
])('tells the pause that an answer asks for: $header s', async ({ header, retryAfterMs }) => {
  const { receive } = await open({ status: 429, headers: { 'retry-after': header } })
  expect(await receive()).toMatchObject({ failure: { retryAfterMs } })
})

it('says that it has no token, and asks the namespace nothing', async () => {
  const authentication = byToken(() => Promise.reject(new Error('the vault is closed')))
  const { receive, world } = await open(undefined, { authentication })
  expect(await receive()).toMatchObject({
    failure: { noToken: true, reason: expect.stringContaining('the vault is closed') },
  })
  expect(world.requests).toEqual([])
})

it.each([
  {
    name: 'names the code of a lost connection once',
    endpoint: 'https://127.0.0.1:1',
    reason: /^(?!.*ECONNREFUSED.*ECONNREFUSED).*ECONNREFUSED/,
  },
  { name: 'names the code where the words do not', endpoint: undefined, reason: /^\w+ .*certificate/ },
])('$name', async ({ endpoint, reason }) => {
  const { receive } = await open({}, { endpoints: {}, ...(endpoint && { namespaceEndpoint: endpoint }) })
  const answer = await receive()
  expect('failure' in answer && answer.failure).toEqual({
    reason: expect.stringMatching(reason),
    fix: expect.any(String),
  })
})

it.each([
  { name: 'a receive', ask: 'receive', limitMs: 40_000 },
  { name: 'a settlement', ask: 'settle', limitMs: 20_000 },
] as const)('gives $name up that has no answer in $limitMs ms', async ({ ask, limitMs }) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const opened = await open(undefined)
  let failure: unknown
  const asked = opened[ask]().then((answer) => {
    failure = answer
  })
  while (opened.world.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
  vi.advanceTimersByTime(limitMs - 1)
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(failure).toBeUndefined()
  vi.advanceTimersByTime(1)
  await asked
  expect(failure).toMatchObject({ failure: { reason: expect.any(String) } })
})
