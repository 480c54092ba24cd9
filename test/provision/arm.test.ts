/** A call to Resource Manager: where the token may go, how long a call lasts, and what becomes of a write whose caller goes. */
import { expect, it } from 'vitest'
import { BindingError } from '../../src/core/errors.ts'
import { azureEnvironments } from '../../src/metadata/fields/addresses.ts'
import { type CallLimits, connectArm, pauseWithin, resourceManagerOf, untilAnswered } from '../../src/provision/arm.ts'
import { asPermitted, type Detail } from '../../src/provision/arm-subscription.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { refused, startFakeArm } from './fake-arm.ts'
import { oneToken } from './open-target.ts'
import type { Answer, Asked } from './scripted-arm.ts'

const environment = azureEnvironments.AzurePublicCloud

it.each([
  ['https://arm.example.com', 'https://arm.example.com'],
  ['https://arm.example.com/', 'https://arm.example.com'],
  ['https://arm.example.com/base//', 'https://arm.example.com/base'],
  ['HTTPS://arm.example.com', 'HTTPS://arm.example.com'],
  [undefined, 'https://management.azure.com'],
])('the base URL of %j is %j', (resourceManager, base) => {
  expect(resourceManagerOf({ ...(resourceManager && { resourceManager }) }, environment)).toBe(base)
})

it.each(['http://arm.example.com', 'ftp://x/https://arm.example.com', 'arm.example.com'])(
  'the endpoint %j is refused, as it is not https',
  (resourceManager) => {
    const refusal = expect.objectContaining({
      code: 'METADATA_INVALID',
      issues: [expect.objectContaining({ field: 'endpoints.resourceManager', rule: 'must be an https URL' })],
    })
    expect(() => resourceManagerOf({ resourceManager }, environment)).toThrow(refusal)
  },
)

/** A connection to a fake Resource Manager that answers each request so. */
async function open(answer: (asked: Asked) => Answer, requestTimeoutMs?: number) {
  const { url, ca, asked } = await startFakeArm({ once: answer })
  const { clock, ...time } = createManualClock()
  const arm = connectArm({
    ...{ environment, subscriptionId: 's1', credential: oneToken, endpoints: { resourceManager: url, ca }, clock },
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
  })
  const limits: CallLimits = { signal: new AbortController().signal, deadline: 60_000 }
  return { arm, asked, limits, url, ...time }
}

const ok = () => ({ status: 200, body: { name: 'here' } })

it('sends the token to no other host, whatever an answer names', async () => {
  const { arm, asked, limits } = await open(ok)
  const failure = { kind: 'lost', message: expect.stringContaining('it names another host, arm.example.com;') }
  await expect(arm.ask({ path: 'https://arm.example.com/next' }, limits)).rejects.toMatchObject({ failure })
  expect(asked).toEqual([])
})

it('asks by our API version, and by that of a link', async () => {
  const { arm, asked, limits, url } = await open(ok)
  expect(await arm.ask({ path: '/a' }, limits)).toEqual({ name: 'here' })
  await arm.ask({ path: '/a', apiVersion: '2022-04-01' }, limits)
  await arm.ask({ path: `${url}/next?api-version=2021-01-01&page=2` }, limits)
  expect(asked.map(({ query }) => query)).toEqual([
    'api-version=2025-02-15',
    'api-version=2022-04-01',
    'api-version=2021-01-01&page=2',
  ])
})

it.each([
  [200, true],
  [299, true],
  [300, false],
  [404, false],
])('takes the status %d for an answer: %s', async (status, isAnswer) => {
  const { arm, limits } = await open(() => ({ status, body: {} }))
  const sent = arm.send({ path: '/a' }, limits)
  if (isAnswer) expect(await sent).toMatchObject({ status })
  else await expect(sent).rejects.toMatchObject({ statusCode: status })
})

it.each([
  { name: 'its own limit', requestTimeoutMs: 50, deadline: 60_000 },
  { name: 'the deadline of the caller', requestTimeoutMs: 30_000, deadline: 50 },
])('a call without an answer ends by $name', async ({ requestTimeoutMs, deadline }) => {
  const { arm, limits } = await open(() => 'never', requestTimeoutMs)
  const since = performance.now()
  await expect(arm.ask({ path: '/a' }, { ...limits, deadline })).rejects.toThrow()
  expect(performance.now() - since).toBeLessThan(10_000)
})

it('a pause ends at once where the deadline comes first, or with it', async () => {
  const { clock, pending } = createManualClock()
  const { signal } = new AbortController()
  const waited = (deadline: number) => pauseWithin({ signal, deadline }, { clock, ms: 1_000, message: 'too late' })
  for (const deadline of [999, 1_000])
    await expect(waited(deadline)).rejects.toMatchObject({ failure: { kind: 'deadline', message: 'too late' } })
  expect(pending()).toBe(0)
})

it('a pause ends with the reason of the signal', async () => {
  const { clock, pending } = createManualClock()
  const ending = new AbortController()
  const limits = { signal: ending.signal, deadline: 2_000 }
  const waited = pauseWithin(limits, { clock, ms: 1_000, message: 'too late' })
  ending.abort(new Error('the end'))
  await expect(waited).rejects.toThrow('the end')
  expect(pending()).toBe(0)
})

/** A write under way, whose caller may go. */
function startWrite() {
  const { clock, advance, pending } = createManualClock()
  const ending = new AbortController()
  const { promise: answer, resolve } = Promise.withResolvers<string>()
  const given: CallLimits[] = []
  const written = untilAnswered({ signal: ending.signal, deadline: 60_000 }, clock, (limits) => {
    given.push(limits)
    const { promise: ended, reject } = Promise.withResolvers<string>()
    limits.signal.addEventListener('abort', () => reject(limits.signal.reason))
    return Promise.race([answer, ended])
  })
  return { ending, advance, pending, written, given, resolve }
}

it('a write whose caller goes is awaited for ten seconds', async () => {
  const { ending, advance, written, given, pending } = startWrite()
  ending.abort(new Error('gone'))
  advance(9_999)
  expect(given.map(({ signal, deadline }) => [signal.aborted, deadline])).toEqual([[false, 60_000]])
  advance(1)
  await expect(written).rejects.toThrow('gone')
  expect(pending()).toBe(0)
})

it.each(['before its caller goes', 'after its caller has gone'])(
  'a write that is answered %s leaves no timer',
  async (when) => {
    const { ending, written, resolve, pending } = startWrite()
    if (when.startsWith('after')) ending.abort()
    resolve('answered')
    expect(await written).toBe('answered')
    ending.abort()
    expect(pending()).toBe(0)
  },
)

it('a write is not sent once its caller has gone', async () => {
  const { clock } = createManualClock()
  const sent: string[] = []
  const limits = { signal: AbortSignal.abort(new Error('gone')), deadline: 1 }
  await expect(untilAnswered(limits, clock, async () => sent.push('sent'))).rejects.toThrow('gone')
  expect(sent).toEqual([])
})

it.each([
  { name: 'may not be read', answer: refused(403, 'AuthorizationFailed'), details: ['whole', 'plain'] },
  { name: 'cannot be read', answer: refused(503, 'ServiceUnavailable'), details: ['whole'] },
])('where what is hidden $name, the details $details are read', async ({ answer, details }) => {
  const { arm, limits } = await open(({ path }) => (path === '/whole' ? answer : ok()))
  const read: Detail[] = []
  const found = asPermitted(async (detail) => {
    read.push(detail)
    return arm.ask({ path: `/${detail}` }, limits)
  })
  if (details.length > 1) expect(await found).toEqual({ found: { name: 'here' }, isPlain: true })
  else await expect(found).rejects.not.toBeInstanceOf(BindingError)
  expect(read).toEqual(details)
})
