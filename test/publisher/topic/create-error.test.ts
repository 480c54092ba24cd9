import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { BindingError } from '../../../src/core/errors.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { OutputMetadata } from '../../../src/metadata/typed/metadata.ts'
import { explainRejection } from '../../../src/publisher/topic/create-error.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { refusal } from '../../support/refusal.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { accessKey, failureInTime, openPublisher } from '../open-publisher.ts'
import { type Answer, event, problem, startTopic } from '../scripted-topic.ts'

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
    { status: 404, code: 'PUBLISH_REJECTED', says: "set topicEndpoint to the topic's own" },
    { status: 410, code: 'PUBLISH_REJECTED', says: "set topicEndpoint to the topic's own" },
    { status: 413, code: 'PAYLOAD_TOO_LARGE', says: 'smaller' },
    { status: 415, code: 'PUBLISH_REJECTED', says: 'topicEndpoint' },
    { status: 202, code: 'PUBLISH_REJECTED', says: 'where Event Grid answers 200' },
    { status: 307, code: 'PUBLISH_REJECTED', says: 'proxy' },
  ])('with $status is $code, with a remedy and no retry', async ({ status, code, says }) => {
    const body = problem('Code', 'in its own words')
    const { error, requests } = await refused({ status, body, headers: { location: '/elsewhere' } })
    expect(error).toMatchObject({ code, details: { status, requestId: 'request-1', ids: ['1'], published: [] } })
    expect(error.message).toContain(says)
    if (status >= 400) expect(error.message).toContain('in its own words')
    expect(requests).toBe(1)
  })

  it.each([408, 429, 500, 503])('with %i until the time of the call is over is PUBLISH_UNAVAILABLE', async (status) => {
    const topic = await startTopic(() => ({ status }))
    const time = createManualClock()
    const { publisher } = openPublisher(topic.endpoint, { clock: time.clock })
    const error = await failureInTime(time, publisher.publish(event('1')))
    expect(error).toMatchObject({ code: 'PUBLISH_UNAVAILABLE', details: { ids: ['1'] } })
    expect(topic.requests.length).toBeGreaterThan(1)
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

  it('of any length is cut', async () => {
    const { error } = await refused({
      status: 400,
      body: 'x'.repeat(5_000_000),
      headers: { 'content-type': 'text/plain' },
    })
    expect(error.code).toBe('PUBLISH_REJECTED')
    expect(error.message.length).toBeLessThan(1_000)
  })

  it('without end is cut too, and its connection with it', async () => {
    const topic = await startTopic(() => ({ endless: 400 }))
    const error = await refusal(openPublisher(topic.endpoint).publisher.publish(event('1')))
    expect(error.code).toBe('PUBLISH_REJECTED')
    await topic.disconnected()
  })
})

describe('events of the wrong schema', () => {
  const cloud = { specversion: '1.0', id: '1', source: '/shop', type: 'order.placed' }
  const grid = { id: '1', subject: 's', eventType: 't', eventTime: '2026-03-11T08:00:00Z', data: {}, dataVersion: '1' }
  const toCloud = 'this topic takes CloudEvents, and an Event Grid event was sent: '
  const toGrid =
    'this topic takes Event Grid events, and a CloudEvent was sent: set topicSchema to EventGridSchema, and '
  const wholeCloud = 'publish data alone or { specversion, id, source, type, data }'
  const wholeGrid = 'publish data alone or { id, subject, eventType, eventTime, data, dataVersion }'

  it.each([
    { takes: 'CloudEventSchemaV1_0', topicSchema: 'auto', payload: grid, fix: toCloud + wholeCloud },
    {
      takes: 'CloudEventSchemaV1_0',
      topicSchema: 'EventGridSchema',
      payload: { lamp: 1 },
      fix: `${toCloud}set topicSchema to CloudEventSchemaV1_0, and ${wholeCloud}`,
    },
    { takes: 'EventGridSchema', topicSchema: 'auto', payload: cloud, fix: toGrid + wholeGrid },
    { takes: 'EventGridSchema', topicSchema: 'CloudEventSchemaV1_0', payload: { lamp: 1 }, fix: toGrid + wholeGrid },
  ] as const)('are named where a topic of $takes refuses them, with topicSchema $topicSchema', async (one) => {
    const emulator = await startEmulator({ topics: [{ name: 'orders', inputSchema: one.takes }] })
    const { httpEndpoint, key } = emulator.topic('orders')
    const authentication = { kind: 'accessKey', accessKey: new Secret(key) } as const
    const { publisher } = openPublisher(httpEndpoint, { topicSchema: one.topicSchema, output: { authentication } })
    expect(await refusal(publisher.publish(one.payload))).toMatchObject({ code: 'PUBLISH_REJECTED', fix: one.fix })
  })

  it('are not named where the topic complains of the schema that was sent', async () => {
    const body = problem('BadRequest', "This resource is configured for 'CloudEventV10' schema and requires 'x'.")
    const topic = await startTopic(() => ({ status: 400, body }))
    const error = await refusal(openPublisher(topic.endpoint).publisher.publish(cloud))
    expect(error.fix).toBe('correct the event, and let topicSchema be the input schema of the topic')
  })
})

describe('the lines to paste about a topic of Azure', () => {
  const custom = 'https://orders.westeurope-1.eventgrid.azure.net/api/events'
  const namespace = 'https://shop.westeurope-1.eventgrid.azure.net/topics/orders:publish'
  const key = { kind: 'accessKey', accessKey: new Secret('a2V5') } as const
  const lookUp = (name: string, type: string, field: string) =>
    `"$(az resource list --name ${name} --resource-type Microsoft.EventGrid/${type} --query '[0].${field}' --output tsv)"`
  const entra = {
    kind: 'entra',
    credential: { kind: 'managedIdentity', clientId: 'client-1' },
  } as const

  it.each([
    [
      'takes no keys',
      'Local authentication is disabled for ORDERS',
      'CREDENTIALS_REJECTED',
      'topicAuthentication to entra',
    ],
    [
      'is another than its own',
      "The topic '/x' of the event is not this one",
      'PUBLISH_REJECTED',
      'leave topic out of',
    ],
    ['refuses the key', 'The request authorization key is not authorized', 'CREDENTIALS_REJECTED', 'set accessKey'],
  ])('name another way than a key where the topic of the event %s', async (_name, message, code, says) => {
    const topic = await startTopic(() => ({ status: 401, body: problem('Unauthorized', message) }))
    const gridEvent = { id: '1', subject: 's', eventType: 't', eventTime: '2026-03-11T08:00:00Z', topic: '/x' }
    const error = await refusal(openPublisher(topic.endpoint).publisher.publish(gridEvent))
    expect(error.code).toBe(code)
    expect(error.fix).toContain(says)
    expect(error.fix).not.toContain('--name 127')
  })

  /** What a topic's answer means, without asking one. */
  const fixOf = (status: number, topicEndpoint: string, authentication: OutputMetadata['authentication']) =>
    explainRejection(
      { kind: 'answered', status, message: '', requestId: undefined, retryAfterMs: undefined, isForeign: false },
      { output: { topicEndpoint, authentication, topicSchema: 'auto' }, ids: [], published: [], attempts: 1 },
    ).fix

  it.each([404, 410])('say after %i how the endpoint of a namespace topic looks, which no az line finds', (status) => {
    const host = 'https://shop.westeurope-1.eventgrid.azure.net'
    expect(fixOf(status, host, key)).toContain(`${host}/topics/<topic>:publish`)
  })

  it.each([
    [
      'a wrong key',
      fixOf(401, custom, key),
      `az eventgrid topic key list --name orders --resource-group ${lookUp('orders', 'topics', 'resourceGroup')}`,
    ],
    [
      'a wrong key of a namespace',
      fixOf(401, namespace, key),
      `az eventgrid namespace list-key --name shop --resource-group ${lookUp('shop', 'namespaces', 'resourceGroup')}`,
    ],
    [
      'a missing role',
      fixOf(403, custom, entra),
      `az role assignment create --assignee client-1 --role "EventGrid Data Sender" --scope ${lookUp('orders', 'topics', 'id')}`,
    ],
    [
      'a wrong endpoint',
      fixOf(404, custom, key),
      `az eventgrid topic list --query "[?name=='orders'].endpoint" --output tsv`,
    ],
  ])('have no placeholder: %s', (_name, fix, line) => expect(fix?.split('\n').at(-1)).toBe(line))
})

describe('a call that was not published', () => {
  const topicEndpoint = 'https://orders.example/api/events?code=SECRETQUERY'
  const authentication = { kind: 'accessKey', accessKey: new Secret('a2V5') } as const
  const context = {
    output: { topicEndpoint, authentication, topicSchema: 'auto' },
    ...{ ids: ['2', '3'], published: [], attempts: 1 },
  } as const
  const noToken = { kind: 'no-token', reason: 'Entra is away', fix: undefined, retryAfterMs: undefined } as const
  const answered = { kind: 'answered', message: '', requestId: undefined, retryAfterMs: undefined } as const
  const refusedToken = 'check the credential fields and that the Entra authority can be reached'
  const lost = /^check topicEndpoint and the network.*may have accepted the events already$/

  it.each([
    [{ ...noToken, permanent: false }, 1, 'PUBLISH_UNAVAILABLE', "can't be published to: Entra is away", refusedToken],
    [
      { ...noToken, permanent: true, fix: 'mend it' },
      2,
      'CREDENTIALS_REJECTED',
      "can't be published to: Entra is away (after 2 attempts)",
      'mend it',
    ],
    [
      { kind: 'unreachable', reason: 'ECONNRESET', permanent: false },
      1,
      'PUBLISH_UNAVAILABLE',
      "can't be reached: ECONNRESET",
      expect.stringMatching(lost),
    ],
    [
      { kind: 'unreachable', reason: 'ENOTFOUND', permanent: false, fix: 'mend it' },
      3,
      'PUBLISH_UNAVAILABLE',
      "can't be reached: ENOTFOUND (after 3 attempts)",
      'mend it',
    ],
    [
      { kind: 'unfinished', status: 200, reason: 'no answer in time' },
      2,
      'PUBLISH_UNAVAILABLE',
      'began to answer 200, and the answer did not end: no answer in time (after 2 attempts)',
      expect.stringContaining('the events may have been accepted'),
    ],
    [
      { ...answered, status: 503, isForeign: false, message: 'busy' },
      2,
      'PUBLISH_UNAVAILABLE',
      'answered 503: busy (after 2 attempts)',
      expect.any(String),
    ],
    [
      { ...answered, status: 200, isForeign: true },
      2,
      'PUBLISH_REJECTED',
      'answered 200, which is not an answer of Event Grid',
      expect.any(String),
    ],
    [
      { ...answered, status: 302, isForeign: true },
      1,
      'PUBLISH_REJECTED',
      'answered 302, where Event Grid answers 200',
      expect.any(String),
    ],
    [{ ...answered, status: 404, isForeign: false }, 2, 'PUBLISH_REJECTED', 'answered 404', expect.any(String)],
  ] as const)('has a code, a reason and a remedy: %j after %i attempts', (failure, attempts, code, says, fix) => {
    const error = explainRejection(failure, { ...context, attempts })
    expect(error).toMatchObject({ code, what: `the topic at orders.example ${says}`, fix })
    const status = 'status' in failure ? { status: failure.status } : {}
    expect(error.details).toEqual({ ...status, attempts, ids: ['2', '3'], published: [] })
  })

  it('tells how many of its events were published, and the id of the request', () => {
    const failure = { ...answered, status: 404, isForeign: false, requestId: 'r' }
    const error = explainRejection(failure, { ...context, published: ['1'] })
    expect(error.what).toBe('the topic at orders.example answered 404; 1 of its 3 events were published')
    expect(error.details).toMatchObject({ requestId: 'r', published: ['1'] })
  })
})
