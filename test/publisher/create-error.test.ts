import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { BindingError } from '../../src/core/errors.ts'
import { Secret } from '../../src/core/secret.ts'
import { explainRejection } from '../../src/publisher/rejection.ts'
import { refusal } from '../support/refusal.ts'
import { startEmulator } from '../support/start-emulator.ts'
import { accessKey, openPublisher } from './open-publisher.ts'
import { type Answer, event, problem, requestId, startTopic } from './scripted-topic.ts'

describe('an answer that refuses', () => {
  const refused = async (answer: Answer, query = ''): Promise<{ error: BindingError; requests: number }> => {
    const topic = await startTopic(() => answer)
    const { publisher } = openPublisher(topic.endpoint + query)
    const error = await refusal(publisher.publish(event('1')))
    return { error, requests: topic.requests.length }
  }

  it.each([
    { status: 400, code: 'PUBLISH_REJECTED', says: 'topicSchema' },
    { status: 401, code: 'CREDENTIALS_REJECTED', says: 'set accessKey to a key of this topic' },
    { status: 403, code: 'PERMISSION_DENIED', says: 'network settings' },
    { status: 413, code: 'PAYLOAD_TOO_LARGE', says: 'smaller' },
    { status: 202, code: 'PUBLISH_REJECTED', says: 'where Event Grid answers 200' },
    { status: 307, code: 'PUBLISH_REJECTED', says: 'proxy' },
  ])('with $status is $code, with a remedy and no retry', async ({ status, code, says }) => {
    const body = problem('Code', 'in its own words')
    const { error, requests } = await refused({ status, body, headers: { location: '/elsewhere' } })
    expect(error).toMatchObject({ code, details: { status, requestId, ids: ['1'], published: [] } })
    expect(error.message).toContain(says)
    if (status >= 400) expect(error.message).toContain('in its own words')
    expect(requests).toBe(1)
  })

  it('shows neither the query of a URL nor the key, in message, inspect or JSON', async () => {
    const body = problem('NotFound', `no resource matches 'https://x/api/events?code=SECRETQUERY' with ${accessKey}`)
    const { error } = await refused({ status: 404, body }, '?code=SECRETQUERY')
    const shown =
      error.message + inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }) + JSON.stringify(error)
    expect(shown).toContain('no resource matches')
    expect(shown).not.toContain('SECRETQUERY')
    expect(shown).not.toContain(accessKey)
  })

  it.each([
    { headers: { 'content-type': 'text/plain' }, body: 'in plain words', says: 'answered 403: in plain words' },
    { headers: { 'content-type': 'application/json' }, body: '{ "broken', says: 'answered 403: { "broken' },
  ])('is shown whatever its form: $body', async ({ headers, body, says }) => {
    const { error } = await refused({ status: 403, headers, body })
    expect(error.message).toContain(says)
  })

  it('without end is cut, and its connection with it', async () => {
    const topic = await startTopic(() => ({ endless: 400 }))
    const error = await refusal(openPublisher(topic.endpoint).publisher.publish(event('1')))
    expect(error.code).toBe('PUBLISH_REJECTED')
    expect(error.message.length).toBeLessThan(1_000)
    await topic.disconnected()
  })
})

// What is said of it is in test/azure/refusals/topic-refusal.test.ts.
it.each([
  {
    takes: 'CloudEventSchemaV1_0',
    topicSchema: 'EventGridSchema',
    payload: { lamp: 1 },
    says: 'let topicSchema be the input schema of the topic',
  },
  {
    takes: 'EventGridSchema',
    topicSchema: 'auto',
    payload: event('1'),
    says: 'let topicSchema be the input schema of the topic',
  },
] as const)('a topic of $takes names the wrong schema, with topicSchema $topicSchema', async (one) => {
  const emulator = await startEmulator({ topics: [{ name: 'orders', inputSchema: one.takes }] })
  const { httpEndpoint, key } = emulator.topic('orders')
  const authentication = { kind: 'accessKey', accessKey: new Secret(key) } as const
  const { publisher } = openPublisher(httpEndpoint, { topicSchema: one.topicSchema, output: { authentication } })
  const error = await refusal(publisher.publish(one.payload))
  expect(error).toMatchObject({ code: 'PUBLISH_REJECTED', fix: expect.stringContaining(one.says) })
})

describe('a call that was not published', () => {
  const topicEndpoint = 'https://orders.example/api/events?code=SECRETQUERY'
  const authentication = { kind: 'accessKey', accessKey: new Secret('a2V5') } as const
  const output = { topicEndpoint, authentication, topicSchema: 'auto' } as const
  const noToken = { kind: 'no-token', reason: 'it is away', fix: undefined, retryAfterMs: undefined } as const
  const refused = { ...noToken, permanent: true, fix: 'mend it' }
  const lost = { kind: 'unreachable', reason: 'ECONNRESET', permanent: false } as const
  const answered = { kind: 'answered', message: '', requestId: undefined, retryAfterMs: undefined } as const
  const busy = { ...answered, status: 503, isForeign: false, message: 'busy' }
  const foreign = { ...answered, status: 200, isForeign: true }
  const unavailable = 'PUBLISH_UNAVAILABLE'

  it.each([
    [{ ...noToken, permanent: false }, 1, unavailable, "can't be published to: it is away", /^check the credential/],
    [refused, 2, 'CREDENTIALS_REJECTED', "can't be published to: it is away (after 2 attempts)", /^mend it$/],
    [
      lost,
      1,
      unavailable,
      "can't be reached: ECONNRESET",
      /^check topicEndpoint.*may have accepted a request that it did not answer$/,
    ],
    [{ ...lost, fix: 'mend it' }, 3, unavailable, "can't be reached: ECONNRESET (after 3 attempts)", /^mend it$/],
    [busy, 2, unavailable, 'answered 503: busy (after 2 attempts)', /./],
    [foreign, 2, 'PUBLISH_REJECTED', 'answered 200, which is not an answer of Event Grid', /./],
  ] as const)('has a code, a reason and a remedy: %j after %i attempts', (failure, attempts, code, says, fix) => {
    const error = explainRejection(failure, { output, ids: ['2', '3'], published: [], attempts })
    expect(error).toMatchObject({ code, what: `the topic at orders.example ${says}`, fix: expect.stringMatching(fix) })
    const status = 'status' in failure ? { status: failure.status } : {}
    expect(error.details).toEqual({ ...status, attempts, ids: ['2', '3'], published: [] })
  })

  it('tells how many of its events were published, and the id of the request', () => {
    const failure = { ...answered, status: 404, isForeign: false, requestId: 'r' }
    const error = explainRejection(failure, { output, ids: ['2', '3'], published: ['1'], attempts: 2 })
    expect(error.what).toBe('the topic at orders.example answered 404; 1 of its 3 events were published')
    expect(error.details).toMatchObject({ requestId: 'r', published: ['1'] })
  })
})
