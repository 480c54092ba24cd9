import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { resetToDefault } from '../../src/metadata/fields/field.ts'
import { parseScope } from '../../src/metadata/fields/scope.ts'
import type { PushMetadata, SubscriptionSettings } from '../../src/metadata/typed/metadata.ts'
import { connectArm } from '../../src/provision/arm.ts'
import type { FailedAttempt, ProvisionTask } from '../../src/provision/attempts.ts'
import { upsertSubscriptions } from '../../src/provision/upsert.ts'
import { seededRandom } from '../faults/seeded-random.ts'
import { refusal } from '../support/refusal.ts'
import { handshakeFailed, refused } from './fake-arm.ts'
import { inputMetadata, marked } from './input.ts'
import { aToken, oneToken, openTarget, type TargetOptions } from './open-target.ts'
import { type Answer, type Asked, type Json, type Properties, startScripted } from './scripted-arm.ts'

type Changes = Partial<ProvisionTask> & { readonly input?: PushMetadata }

async function start(options: Changes & TargetOptions = {}) {
  const { once, hide, requestTimeoutMs, credential, ...changes } = options
  const { arm, time, log, failed, targetOf, taskOf } = await openTarget({ once, hide, requestTimeoutMs, credential })
  const upsert = (over: Changes = {}) => {
    const { input = inputMetadata(), ...how } = { ...changes, ...over }
    return upsertSubscriptions(targetOf(input), taskOf(how))
  }
  return { arm, time, log, failed, upsert }
}

/** Answers the first requests of a method as told, one after another. */
const first =
  (method: string, ...answers: Answer[]) =>
  (asked: Asked) =>
    asked.method === method ? answers.shift() : undefined
const always = (method: string, answer: Answer) => (asked: Asked) => (asked.method === method ? answer : undefined)
/** The first answer for what is asked so, and then the fake's own. */
const onceFor = (isAsked: (asked: Asked) => boolean, answer: Answer) => {
  const answers = [answer]
  return (asked: Asked) => (isAsked(asked) ? answers.shift() : undefined)
}
const isPoll = ({ path }: Asked) => path.startsWith('/operationsStatus')

/** Metadata with these settings. */
const withSettings = (settings: Partial<SubscriptionSettings>) => ({
  input: inputMetadata({ settings: { eventDeliverySchema: 'CloudEventSchemaV1_0', ...settings } }),
})
const url = 'https://app.example.com/api/events'
const theirs = { name: 'x-theirs', type: 'Static', properties: { value: 'operator-marked', isSecret: true } }
/** What somebody has written, which delivers elsewhere. */
const elsewhere = (properties: Properties = {}, more: Properties = {}) => ({
  properties: {
    destination: { endpointType: 'WebHook', properties: { endpointUrl: 'https://old.example.com/', ...properties } },
    ...more,
  },
})

it('patches the differing top-level fields only, at the top of the body', async () => {
  const { arm, upsert } = await start()
  await upsert()
  expect(await upsert(withSettings({ labels: ['a'], maxDeliveryAttempts: 5 }))).toMatchObject({ action: 'patched' })
  expect(arm.writes()[1]).toMatchObject({ method: 'PATCH' })
  expect(arm.writes()[1]?.body).toEqual({
    labels: ['a'],
    retryPolicy: { maxDeliveryAttempts: 5, eventTimeToLiveInMinutes: 1440 },
  })
})

it('sends one request a call, whatever the SDK would retry', async () => {
  const { arm, upsert, failed, log } = await start({ once: first('GET', refused(500, 'InternalServerError')) })
  await upsert()
  expect(failed).toMatchObject([{ attempt: 1, retryInMs: 500 }])
  expect(log).toContainEqual(expect.stringMatching(/^warn Azure Resource Manager answered 500 .*"retryInMs":500}$/))
  expect(arm.asked.filter(({ method, path }) => method === 'GET' && path.endsWith('events1')).length).toBe(5)
})

it.each([
  { name: 'back', by: -86_400_000 },
  { name: 'forward', by: 86_400_000 },
])('has the time of subscriptionTimeout, whoever sets the clock $name', async ({ by }) => {
  const { upsert, time } = await start({ once: always('PUT', refused(409, 'Conflict', 'busy')), onAttempt })
  function onAttempt({ attempt }: FailedAttempt) {
    if (attempt === 1) time.setForward(by)
  }
  expect(await refusal(upsert())).toMatchObject({ code: 'TIMEOUT' })
  const waited = time.waits.reduce((sum, one) => sum + one)
  expect(waited).toBeGreaterThan(100_000)
  expect(waited).toBeLessThanOrEqual(120_000)
})

const unregistered = "The subscription registration is in 'Unregistered' state."

it.each<[name: string, answer: Answer, code: string]>([
  ['no role', refused(403, 'AuthorizationFailed', "The client 'c9' ..."), 'PERMISSION_DENIED'],
  ['a rejected token', refused(401, 'InvalidAuthenticationToken'), 'CREDENTIALS_REJECTED'],
  ['a provider', refused(409, 'MissingSubscriptionRegistration', unregistered), 'PROVIDER_NOT_REGISTERED'],
  ['a missing group', refused(404, 'ResourceGroupNotFound'), 'SCOPE_NOT_FOUND'],
  ['a missing topic', refused(404, 'ResourceNotFound'), 'SCOPE_NOT_FOUND'],
  ['a bad request', refused(400, 'InvalidRequest', 'Invalid filter.'), 'SUBSCRIPTION_REJECTED'],
  ['a full quota, which is a 409 too', refused(409, 'X', 'Quota limit reached'), 'SUBSCRIPTION_REJECTED'],
])('fails at once for %s', async (_name, answer, code) => {
  const { upsert, time, arm } = await start({ once: always('PUT', answer) })
  expect(await refusal(upsert())).toMatchObject({ code })
  expect(time.waits).toEqual([])
  expect(arm.writes()).toHaveLength(1)
})

it('goes on for ever in the background where an operator may put it right, half a minute apart, with the remedy in the log', async () => {
  const answers = [refused(403, 'AuthorizationFailed'), refused(403, 'AuthorizationFailed')]
  const { upsert, time, log } = await start({ once: first('PUT', ...answers), patience: 'forever' })
  expect(await upsert()).toMatchObject({ action: 'created' })
  expect(time.waits).toEqual([45_000, 45_000])
  expect(log.filter((line) => line.startsWith('error') && line.includes('az role assignment create'))).toHaveLength(2)
})

it('starts a failed handshake again by a PUT, and logs what the endpoint answered', async () => {
  const { arm, upsert, log } = await start()
  arm.operations.push(handshakeFailed('NotFound'), handshakeFailed('ServiceUnavailable'))
  expect(await upsert()).toMatchObject({ action: 'created' })
  expect(new Set(arm.writes().map(({ method }) => method))).toEqual(new Set(['PUT']))
  const lines = log.filter((line) => line.startsWith('warn'))
  expect(lines[0]).toContain('OPTIONS was answered NotFound')
  expect(lines[1]).toContain('OPTIONS was answered ServiceUnavailable')
  expect(lines[1]).toContain('delete its pod')
})

it('goes on with a failed handshake beyond subscriptionTimeout in the background', async () => {
  const { arm, upsert, time } = await start({
    patience: 'forever',
    input: inputMetadata({ subscriptionTimeoutMs: 10_000 }),
  })
  arm.operations.push(...Array.from({ length: 10 }, () => handshakeFailed('Unknown')))
  expect(await upsert()).toMatchObject({ action: 'created' })
  expect(time.now() - 1_000_000).toBeGreaterThan(20_000)
})

const awaiting = {
  properties: {
    provisioningState: 'AwaitingManualAction',
    destination: { endpointType: 'WebHook', properties: { endpointUrl: null, endpointBaseUrl: url } },
  },
}

it('does not wait for a hand: an operation by provisioningState that awaits one is a failed handshake', async () => {
  const { upsert } = await start({
    input: inputMetadata({ subscriptionTimeoutMs: 5_000 }),
    once: ({ method }) => ({ status: 200, body: method === 'POST' ? { endpointUrl: url } : awaiting }),
  })
  expect(await refusal(upsert())).toMatchObject({ code: 'HANDSHAKE_FAILED' })
})

it('reads the event subscription itself after some polls, where its operation never says that a hand is awaited', async () => {
  const { arm, upsert, failed } = await start({
    input: inputMetadata({ subscriptionTimeoutMs: 60_000 }),
    // What stands once it was written.
    once: ({ method, path }) =>
      method === 'GET' && path.endsWith('/events1') && arm.writes().length > 0
        ? { status: 200, body: awaiting }
        : undefined,
  })
  arm.operations.push(...Array.from({ length: 50 }, () => ({ status: 'InProgress' })))
  expect(await refusal(upsert())).toMatchObject({ code: 'HANDSHAKE_FAILED' })
  expect(failed[0]?.error.what).toContain('waits for manual validation')
  const asked = arm.asked.map((one) => (isPoll(one) ? 'poll' : one.method))
  expect(asked.slice(asked.indexOf('PUT'), asked.indexOf('PUT') + 5)).toEqual(['PUT', 'poll', 'poll', 'poll', 'GET'])
})

it('gives up a request that is never answered, and tries again', async () => {
  const { upsert, failed } = await start({ once: first('GET', 'never'), requestTimeoutMs: 400 })
  expect(await upsert()).toMatchObject({ action: 'created' })
  expect(failed).toMatchObject([{ error: { code: 'TIMEOUT' } }])
})

it('writes again after an operation that was cancelled', async () => {
  const { arm, upsert } = await start()
  arm.operations.push({ status: 'Canceled' })
  expect(await upsert()).toMatchObject({ action: 'created' })
  expect(arm.writes()).toHaveLength(2)
})

it.each<[name: string, isAsked: (asked: Asked) => boolean]>([
  ['to a read', ({ method }) => method === 'GET'],
  ['to a write', ({ method }) => method === 'PUT'],
  ['to a poll of the operation', isPoll],
])('asks again where a page stands in the place of an answer of ARM %s', async (_name, isAsked) => {
  const page = { status: 200, text: '<html>', headers: { 'content-type': 'text/html' } }
  const { upsert, failed } = await start({ once: onceFor(isAsked, page) })
  expect(await upsert()).toMatchObject({ action: 'created' })
  expect(failed).toHaveLength(1)
})

const gone = refused(404, 'ResourceNotFound', "Event subscription doesn't exist.")
const listed = (asked: Asked) => asked.method === 'GET' && asked.path.endsWith('/eventSubscriptions')

/** Says that there is nothing, and then lists it on the third page. */
function onThirdPage() {
  let page = 0
  return (asked: Asked): Answer | undefined => {
    if (page === 0 && asked.method === 'GET' && !listed(asked)) return gone
    if (!listed(asked) || ++page > 2) return undefined
    const nextLink = `https://${asked.headers.host}${asked.path}?api-version=1&$skiptoken=${page}`
    return { status: 200, body: { value: [], nextLink } }
  }
}

it.each<[name: string, once: (asked: Asked) => Answer | undefined]>([
  ['a page of a gateway', first('GET', { status: 404, text: '<html>no such site</html>' })],
  ['an answer without a code', first('GET', { status: 404, body: { message: 'no' } })],
  ['a code, while it is listed', first('GET', gone)],
  ['a code for the full URL, while it is listed', first('POST', gone)],
  ['a code once, where the list may not be read', first('GET', gone, refused(403, 'AuthorizationFailed'))],
  ['a code, and a page in place of the list', first('GET', gone, { status: 404, text: '<html>' })],
  ['a code, while it is listed on the third page', onThirdPage()],
  ['ResourceNotFound of a gateway, and for the list too', first('GET', ...Array(2).fill(gone))],
  ['404 of a gateway, and for the list too', first('GET', ...Array(9).fill(refused(404, '404')))],
  ...Object.entries({
    'nothing for an item': { value: [null] },
    'a text for an item': { value: ['orders'] },
    'an item without a name': { value: [{ id: '/subscriptions/1' }] },
    'an item without an id': { value: [{ name: 'others' }] },
    'an error beside it': { error: { code: 'x', message: 'y' }, value: [] },
    'a next page that is a number': { value: [], nextLink: 5 },
  }).map(([name, body]): [string, (asked: Asked) => Answer | undefined] => [
    `a code, and a list that holds ${name}`,
    first('GET', gone, { status: 200, body }),
  ]),
])('does not believe one 404 that is %s', async (_name, once) => {
  const { arm, upsert } = await start({ once })
  arm.write(elsewhere({}, { labels: ['theirs'] }))
  await upsert()
  expect(arm.writes().map(({ method }) => method)).toEqual(['PATCH'])
  expect(arm.state.properties?.labels).toEqual(['theirs'])
})

it('creates nothing in place of one that it has read, though its full URL is said not to exist', async () => {
  const { arm, upsert } = await start({
    once: (asked) => (asked.method === 'POST' ? gone : listed(asked) ? refused(403, 'AuthorizationFailed') : undefined),
  })
  arm.write(elsewhere({}, { labels: ['theirs'] }))
  expect(await refusal(upsert())).toMatchObject({ code: 'TIMEOUT' })
  expect(arm.writes()).toEqual([])
  expect(arm.state.properties?.labels).toEqual(['theirs'])
})

const topicScope = parseScope('/subscriptions/s1/resourceGroups/rg1/providers/Microsoft.EventGrid/topics/t')
const idBelow = (source: string) => `${source}/providers/Microsoft.EventGrid/eventSubscriptions/events1`

it.each<[name: string, action: 'created' | 'patched', item: Json, scope?: PushMetadata['scope']]>([
  ['a resource group, the same name at one of its topics', 'created', { id: idBelow(topicScope.id), name: 'events1' }],
  [
    'a resource group, its id in other letter case',
    'patched',
    { id: idBelow('/subscriptions/s1/resourceGroups/rg1').toUpperCase(), name: 'x' },
  ],
  ['a topic, its name in other letter case', 'patched', { id: 'x', name: 'EVENTS1' }, topicScope],
  ['a topic, another name', 'created', { id: idBelow(topicScope.id), name: 'e' }, topicScope],
])('goes by the list of %s, where it is said not to exist: %s', async (_name, action, item, scope) => {
  const page: Answer = { status: 200, body: { value: [item] } }
  const { arm, upsert } = await start({ once: first('GET', gone, page) })
  arm.write(elsewhere())
  expect(await upsert({ input: inputMetadata(scope ? { scope } : {}) })).toMatchObject({ action })
})

it('believes that it is missing at the second look, where the list may not be read', async () => {
  const { arm, upsert, time } = await start({
    once: (asked) => (listed(asked) ? refused(403, 'AuthorizationFailed') : undefined),
  })
  await upsert()
  expect(arm.writes().map(({ method }) => method)).toEqual(['PUT'])
  expect(time.waits).toContain(2_000)
})

const badGateway = { code: 'MessagingGatewayBadRequest', message: 'no' }

it.each<[name: string, once: (asked: Asked) => Answer | undefined]>([
  ['by an answer', first('PUT', { status: 400, body: { error: badGateway } })],
  ['by its operation', onceFor(isPoll, { status: 200, body: { status: 'Failed', error: badGateway } })],
])('tries again after a MessagingGatewayBadRequest of Resource Manager, %s', async (_name, once) => {
  const { upsert, failed } = await start({ once })
  expect(await upsert()).toMatchObject({ action: 'created' })
  expect(failed.map(({ error }) => error)).toMatchObject([
    { code: 'TIMEOUT', details: { azureCode: 'MessagingGatewayBadRequest' } },
  ])
})

it('reads what a refusal names from the answer of Resource Manager, and ends', async () => {
  const account = '/subscriptions/s1/resourceGroups/rg2/providers/Microsoft.Storage/storageAccounts/a'
  const message =
    `The client 'c7' has permission to perform action 'x' on scope 'y'; however, it does not have permission to perform ` +
    `action(s) 'Microsoft.Storage/storageAccounts/write' on the linked scope(s) '${account}' (respectively).`
  const { upsert } = await start({ once: first('PUT', refused(403, 'LinkedAuthorizationFailed', message)) })
  expect(await refusal(upsert())).toMatchObject({
    code: 'PERMISSION_DENIED',
    what: expect.stringContaining(account),
    fix: expect.stringContaining('the right that Azure names'),
  })
})

it('takes an answer of the wrong type for a passing failure, and names what is wrong', async () => {
  const odd = elsewhere({ endpointBaseUrl: 5 })
  const { upsert, failed } = await start({ once: first('GET', { status: 200, body: odd }) })
  await upsert()
  expect(failed.map(({ error }) => error.code)).toEqual(['TIMEOUT'])
  expect(failed[0]?.error.what).toMatch(/cannot be read: .*properties\.destination\.properties\.endpointBaseUrl/)
})

const named = [{ name: 'X-Theirs', type: 'Static' }]
const revealed = (value: Json): Answer => ({ status: 200, body: { value } })

it.each<{ name: string; hide?: (properties: Properties) => Json; reveals: Answer }>([
  { name: 'Hidden, and null for the list of values', reveals: revealed(null) },
  { name: 'Hidden, and no list of values', reveals: { status: 200, body: {} } },
  { name: 'Hidden, and an attribute without properties', reveals: revealed(named) },
  { name: 'Hidden, and null for its value', reveals: revealed([{ ...named[0], properties: { value: null } }]) },
  { name: 'Hidden twice', reveals: revealed([{ ...named[0], properties: { value: 'Hidden', isSecret: true } }]) },
  { name: 'no value', hide: ({ isSecret }) => ({ isSecret }), reveals: revealed(null) },
  { name: 'null for its value', hide: ({ isSecret }) => ({ isSecret, value: null }), reveals: revealed(null) },
  { name: 'an empty value', hide: ({ isSecret }) => ({ isSecret, value: '' }), reveals: revealed(null) },
  { name: 'null for its properties', hide: () => null, reveals: revealed(named) },
])(
  "leaves an event subscription alone whose secret attribute of the operator's has $name",
  async ({ hide, reveals }) => {
    const { arm, upsert } = await start({
      once: ({ path }) => (path.endsWith('/getDeliveryAttributes') ? reveals : undefined),
      ...(hide && { hide }),
    })
    for (const provisioningState of ['Succeeded', 'Failed']) {
      arm.write(elsewhere({ deliveryAttributeMappings: [theirs] }))
      Object.assign(arm.state.properties ?? {}, { provisioningState })
      const { code, what } = await refusal(upsert())
      expect(code).toBe('SUBSCRIPTION_REJECTED')
      expect(what).toContain('the value of its delivery attribute x-theirs cannot be read')
    }
    expect(arm.writes()).toEqual([])
  },
)

const oursAndTheirs = 'id-b.other-replica,id-a.another'

it.each<{ name: string; call: string; answer: Answer }>([
  { name: 'a page', call: 'getDeliveryAttributes', answer: { status: 200, text: '<html></html>' } },
  { name: 'an empty object', call: 'getDeliveryAttributes', answer: { status: 200, body: {} } },
  { name: 'no attributes', call: 'getDeliveryAttributes', answer: revealed(null) },
  { name: 'an empty object', call: 'getFullUrl', answer: { status: 200, body: {} } },
  { name: 'a page', call: 'getFullUrl', answer: { status: 200, text: '<html></html>' } },
])('writes nothing by $name in answer to $call, and keeps the credentials of other replicas', async (row) => {
  const { arm, upsert, failed } = await start({
    once: onceFor(({ path }) => path.endsWith(`/${row.call}`), row.answer),
  })
  const token = {
    name: 'X-EventGrid-Binding-Token',
    type: 'Static',
    properties: { value: oursAndTheirs, isSecret: true },
  }
  arm.write(elsewhere({ deliveryAttributeMappings: [token] }))
  await upsert()
  expect(failed.map(({ error }) => error.code)).toEqual(['TIMEOUT'])
  const standing = JSON.stringify(arm.state.properties)
  for (const one of oursAndTheirs.split(',')) expect(standing).toContain(one)
  expect(arm.writes()).toHaveLength(1)
})

it("writes an operator's attribute as its own call tells it, where ARM shows nothing of it", async () => {
  const { arm, upsert } = await start({ hide: () => null })
  arm.write(elsewhere({ deliveryAttributeMappings: [theirs] }))
  await upsert()
  expect(arm.state.properties).toMatchObject({
    destination: { properties: { deliveryAttributeMappings: expect.arrayContaining([theirs]) } },
  })
})

it.each(['getFullUrl', 'getDeliveryAttributes'])('keeps what an operator adds while %s is asked', async (call) => {
  const more = { ...theirs, name: 'x-more' }
  const both = elsewhere({ deliveryAttributeMappings: [theirs, more] })
  let isAdded = false
  const { arm, upsert } = await start({
    once({ path }) {
      if (path.endsWith(`/${call}`) && !isAdded) arm.write(both)
      isAdded ||= path.endsWith(`/${call}`)
      return undefined
    },
  })
  arm.write(elsewhere({ deliveryAttributeMappings: [theirs] }))
  await upsert()
  expect(arm.state.properties).toMatchObject({
    destination: { properties: { deliveryAttributeMappings: expect.arrayContaining([theirs, more]) } },
  })
})

it("an operator's settings survive any sequence of answers", async () => {
  const odd: readonly Answer[] = [
    gone,
    refused(409, 'Conflict'),
    refused(412, 'PreconditionFailed'),
    refused(429, 'TooManyRequests'),
    refused(500, 'InternalServerError'),
    refused(403, 'AuthorizationFailed'),
    { status: 404, text: '<html>' },
    { status: 200, text: '<html>' },
    { status: 503, text: '' },
    { status: 200, body: { properties: { filter: 5, labels: {} } } },
    { status: 200, body: { value: 'none' } },
    'cut',
  ]
  const kept = {
    labels: ['theirs'],
    expirationTimeUtc: '2030-01-01T00:00:00Z',
    deadLetterDestination: { endpointType: 'StorageBlob', properties: { resourceId: '/r', blobContainerName: 'c' } },
  }
  const random = seededRandom(Number(process.env.SEED ?? 20_261_125))
  for (let run = 0; run < 20; run++) {
    // A client that may read nothing for long enough is told so; that is another promise.
    const plan = Array.from({ length: 30 }, () => (random() < 0.4 ? odd[Math.floor(random() * odd.length)] : undefined))
    const { arm, upsert } = await start({ once: () => plan.shift() })
    const properties = { deliveryAttributeMappings: [theirs], minimumTlsVersionAllowed: '1.2' }
    arm.write(elsewhere(properties, { ...kept, filter: { subjectEndsWith: '.png' } }))
    await upsert(withSettings({ subjectBeginsWith: '/b' })).catch(() => {})
    const stands = JSON.stringify(arm.state.properties)
    expect(arm.state.properties).toMatchObject({ ...kept, filter: { subjectEndsWith: '.png' } })
    expect(stands).toContain('operator-marked')
    expect(stands).toContain('minimumTlsVersionAllowed')
  }
})

it('finds its own write again after the connection to the operation was lost', async () => {
  const { arm, upsert } = await start({ once: onceFor(isPoll, 'cut') })
  expect(await upsert()).toMatchObject({ action: 'created', wroteAt: expect.any(Number) })
  expect(arm.writes()).toHaveLength(1)
})

it('reads the event subscription itself where the status of its operation may not be read', async () => {
  const { arm, upsert, failed } = await start({
    once: (asked) => (isPoll(asked) ? refused(403, 'AuthorizationFailed') : undefined),
  })
  expect(await upsert()).toMatchObject({ action: 'created' })
  expect(failed.map(({ error }) => error.code)).toEqual(['TIMEOUT'])
  expect(arm.writes()).toHaveLength(1)
})

it('creates the event subscription anew when it is deleted before a patch', async () => {
  const { arm, upsert } = await start({
    once: ({ method }) => {
      if (method === 'PATCH') arm.state.properties = undefined
      return undefined
    },
  })
  await upsert()
  expect(await upsert(withSettings({ labels: ['a'] }))).toMatchObject({ action: 'created' })
})

it.each([
  { name: 'before it is read', startsAt: undefined },
  { name: 'between the read and that of its secret attributes', startsAt: '/getDeliveryAttributes' },
])(
  "waits while another replica's change that began $name is under way, and then writes nothing",
  async ({ startsAt }) => {
    let isStarted = false
    const becomes = (state: string) => {
      if (arm.state.properties) arm.state.properties.provisioningState = state
    }
    const { arm, upsert, time } = await start({
      once: ({ path }) => {
        if (isStarted && startsAt !== undefined && path.endsWith(startsAt)) becomes('Updating')
        return undefined
      },
    })
    await upsert()
    isStarted = true
    if (startsAt === undefined) becomes('Updating')
    let waits = 0
    const clock: typeof time = {
      ...time,
      setTimer(ms, callback) {
        waits++
        isStarted = false
        becomes('Succeeded')
        return time.setTimer(ms, callback)
      },
    }
    expect(await upsert({ clock })).toEqual({ action: 'kept' })
    expect({ waits, writes: arm.writes().length }).toEqual({ waits: 1, writes: 1 })
  },
)

it.each([
  { what: 'until it ends', state: 'Updating', reads: 6, ends: 'patched' },
  { what: 'no longer than the time of the attempt', state: 'Creating', reads: 1e9, ends: undefined },
])("reads somebody's change again, at growing pauses, $what", async ({ state, reads, ends }) => {
  let left = Number.POSITIVE_INFINITY
  const { arm, upsert, time } = await start({
    once({ method, path }) {
      if (method !== 'GET' || !path.endsWith('/events1') || --left > 0 || !arm.state.properties) return undefined
      arm.state.properties.provisioningState = 'Succeeded'
      return undefined
    },
  })
  await upsert()
  if (arm.state.properties) arm.state.properties.provisioningState = state
  left = reads
  time.waits.length = 0
  const asked = arm.asked.length
  const { settings } = withSettings({ labels: ['a'] }).input
  const changed = upsert({ input: inputMetadata({ settings, subscriptionTimeoutMs: 10_000 }) })
  if (ends !== undefined) expect(await changed).toMatchObject({ action: ends })
  else expect(await refusal(changed)).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining(state) })
  // Half of the pause is by chance.
  expect(time.waits.slice(0, 5)).toEqual([375, 500, 750, 1_250, 1_250])
  const methods = arm.asked.slice(asked).map(({ method }) => method)
  expect(methods.slice(0, 5)).toEqual(['GET', 'GET', 'GET', 'GET', 'GET'])
  expect(methods.filter((method) => method === 'PATCH')).toHaveLength(ends === undefined ? 0 : 1)
})

it('does not fight with somebody who writes something else: two writes, then a warning', async () => {
  const { arm, upsert, log } = await start({
    once(asked) {
      if (isPoll(asked) && arm.state.properties) arm.state.properties.labels = ['theirs']
      return undefined
    },
    ...withSettings({ labels: ['ours'] }),
  })
  const warning = expect.stringContaining('somebody else writes it too: other labels')
  expect(await upsert()).toEqual({ action: 'created', wroteAt: expect.any(Number), warnings: [warning] })
  expect(arm.writes()).toHaveLength(2)
  expect(log.filter((line) => line.startsWith('warn') && line.includes('labels'))).toHaveLength(1)
})

it('does not take a contest for a success that sends the deliveries elsewhere', async () => {
  const { arm, upsert } = await start({
    once({ method }) {
      // Another binding with the same secret and another endpoint writes before each of our reads.
      const text = JSON.stringify(arm.state.properties)
      if (method === 'GET' && text) arm.state.properties = JSON.parse(text.replaceAll(url, 'https://old.example.com/'))
      return undefined
    },
  })
  expect(await refusal(upsert())).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('somebody else') })
})

it('takes what the service spells out after a reset for the default', async () => {
  const { arm, upsert } = await start({
    once(asked) {
      const spelled = { includedEventTypes: ['Microsoft.Storage.BlobCreated', 'Microsoft.Storage.BlobDeleted'] }
      if (isPoll(asked) && arm.state.properties) arm.state.properties.filter = spelled
      return undefined
    },
  })
  await upsert()
  expect(await upsert(withSettings({ includedEventTypes: resetToDefault }))).toMatchObject({ action: 'replaced' })
  expect(arm.writes()).toHaveLength(2)
})

it('warns with both hosts, but no query, when it moves an event subscription', async () => {
  const { arm, upsert, log } = await start()
  await upsert()
  const moved = await upsert({ input: inputMetadata({ subscriberEndpoint: 'https://new.example.com/api/events' }) })
  expect(moved.warnings).toEqual([expect.stringMatching(/app\.example\.com.*new\.example\.com/)])
  expect(arm.writes()[1]).toMatchObject({ method: 'PATCH' })
  const warning = log.find((line) => line.startsWith('warn'))
  expect(warning).toMatch(/app\.example\.com.*new\.example\.com/)
  expect(warning).not.toContain('query-marked')
})

it('asks for a token of the environment, and shows it only to ARM', async () => {
  const asked: unknown[] = []
  const { arm, upsert } = await start({
    credential: {
      ...oneToken,
      getToken: async (scopes) => {
        asked.push(scopes)
        return aToken()
      },
    },
  })
  await upsert()
  expect([...new Set(asked.flat())]).toEqual(['https://management.azure.com/.default'])
  expect(arm.asked.every(({ headers }) => headers.authorization === 'Bearer token-marked')).toBe(true)
  expect(arm.asked.every(({ query }) => query === 'api-version=2025-02-15')).toBe(true)
})

it('shows the token to no other host that ARM redirects to', async () => {
  const other = await startScripted(() => ({ status: 200, body: { status: 'Succeeded' } }))
  const { upsert } = await start({
    once: first('GET', { status: 307, headers: { location: `${other.url}/elsewhere` } }),
  })
  await upsert()
  expect(other.asked).toEqual([])
})

it('follows an address of ARM that writes out the port, in whatever letter case', async () => {
  const { arm, upsert, failed } = await start({
    once: ({ method, body }) => {
      if (method !== 'PUT') return undefined
      arm.write(body)
      const headers = { 'azure-asyncoperation': `${arm.url.replace('https', 'HTTPS')}/operationsStatus/none` }
      return { status: 201, headers, body: { properties: { provisioningState: 'Creating' } } }
    },
  })
  await upsert()
  expect(arm.asked.filter(({ path }) => path === '/operationsStatus/none')).not.toEqual([])
  expect(failed).toEqual([])
})

it.each(['GET', 'PUT'])('reads no more of an endless answer to %s than is sane, and tries again', async (method) => {
  const { arm, upsert, failed } = await start({ once: first(method, { endless: 200 }) })
  await upsert()
  expect(failed.map(({ error }) => error.message)).toEqual([
    expect.stringContaining('ANSWER_TOO_LONG: the answer has more than 1048576 bytes'),
  ])
  await arm.disconnected()
})

it('shows no secret in errors, log lines, reports or objects, even when Azure repeats them all', async () => {
  const echo = `no ${marked.join(' ')} https://app.example.com/api/events?code=query-marked&x=1`
  const answers = [refused(500, 'InternalServerError', echo), refused(400, 'InvalidRequest', echo)]
  const { arm, upsert, log, failed } = await start({ once: first('PATCH', ...answers) })
  arm.write(elsewhere({ endpointUrl: `${url}/old?code=query-marked`, deliveryAttributeMappings: [theirs] }))
  const error = await refusal(upsert())
  expect(error.code).toBe('SUBSCRIPTION_REJECTED')
  const connected = connectArm({ ...inputMetadata(), credential: oneToken, endpoints: {} })
  const seen = [error, failed, log, connected].flatMap((each) => [
    inspect(each, { depth: Infinity, showHidden: true }),
    JSON.stringify(each),
    String(each),
  ])
  expect(seen.join('\n')).toContain('(redacted)')
  for (const secret of [...marked, 'token-marked']) expect(seen.join('\n')).not.toContain(secret)
})
