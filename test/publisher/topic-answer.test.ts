import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { accessKey, openTimedTopic } from './open-publisher.ts'
import { type Answer, event, problem, startTopic } from './scripted-topic.ts'

const html = { 'content-type': 'text/html; charset=utf-8' }
const json = { 'content-type': 'application/json' }
const signIn = '<!doctype html><title>Sign in</title><form action="/login">Please sign in to continue</form>'
const ofAzure = { 'x-ms-request-id': 'request-1' }

const page = (headers = {}, body: string | Buffer = signIn): Answer => ({ foreign: 200, headers, body })
const compressed = { 'content-encoding': 'gzip' }
const elsewhere = { location: '/login?code=SECRETQUERY' }

/** What stands between us and the topic, or in its place. */
const strangers: readonly (readonly [name: string, answer: Answer])[] = [
  ['a login page', page(html)],
  ['a login page that calls itself JSON', page(json)],
  ['a login page without a type', page()],
  ['a page of XML', page({ 'content-type': 'application/xml' }, '<ok/>')],
  ["Entra's login page, with an id of its request", page({ ...html, ...ofAzure }, `\r\n${signIn}`)],
  ['a compressed page with an id', page({ ...html, ...ofAzure, ...compressed }, gzipSync(signIn))],
  ['a compressed page', page(compressed, gzipSync(signIn))],
  ['a page of a megabyte', page(html, signIn.padEnd(1_000_000, '<br>'))],
  ['text', page({ 'content-type': 'text/plain' }, 'OK')],
  ['white space', page({}, '\r\n')],
  ['other JSON', page(json, '{"status":"ok"}')],
  ['an empty array', page(json, '[]')],
  ['a JSON null', page(json, 'null')],
  ['an empty id', page({ ...json, 'x-ms-request-id': ' ' }, '{"status":"ok"}')],
  ['an error under 200', page(json, JSON.stringify(problem('Busy', 'try later')))],
  ['an error under 200 with an id', { status: 200, body: problem('Busy', 'try later') }],
  ...[201, 202, 203, 204, 205, 206, 207, 226].map((status) => [`${status}`, { status }] as const),
  ...[300, 301, 302, 303, 304, 307, 308].map(
    (status) => [`${status} to a login page`, { foreign: status, headers: elsewhere }] as const,
  ),
  ['400 with a page and an id', { foreign: 400, headers: { ...html, ...ofAzure }, body: '<h1>Bad Request</h1>' }],
  ['400 with a page', { foreign: 400, headers: html, body: '<h1>Bad Request</h1>' }],
]

async function openBinding(topicEndpoint: string): Promise<Binding> {
  const binding = new Binding()
  onTestFinished(() => binding.close())
  await binding.init({ topicEndpoint, accessKey })
  return binding
}

describe.each(['/api/events', '/topics/orders:publish'])('an answer of something else at %s', (path) => {
  it.each(strangers)('is no success: %s', async (_name, answer) => {
    const topic = await startTopic(() => answer)
    const binding = await openBinding(topic.origin + path)
    const error = await refusal(binding.invoke('create', event('1')))
    expect(error).toMatchObject({ code: 'PUBLISH_REJECTED', details: { attempts: 1, ids: ['1'], published: [] } })
    expect(error.message).toMatch(/topicEndpoint .*proxy/s)
    expect(error.message).not.toContain('SECRETQUERY')
    expect(topic.requests).toHaveLength(1)
    expect(binding.health().output).toMatchObject({ status: 'degraded' })
  })
})

it.each<[name: string, answer: Answer]>([
  ['an empty body with an id, as a topic gives it', { status: 200 }],
  ['an empty body', { foreign: 200 }],
  ['{}, as a namespace gives it', page(json, '{}')],
  ['{} with white space and no type', page({}, ' { }\n')],
  ['other JSON with an id', { status: 200, body: { accepted: 1 } }],
  ['text with an id', page({ ...ofAzure, 'content-type': 'text/plain' }, 'taken')],
])('believes 200 with %s', async (_name, answer) => {
  const topic = await startTopic(() => answer)
  await expect((await openBinding(topic.endpoint)).invoke('create', event('1'))).resolves.toMatchObject({ ids: ['1'] })
})

it('shows the page without the key that it repeats', async () => {
  const topic = await startTopic(() => ({ foreign: 200, headers: html, body: `<p>${accessKey}</p>` }))
  const error = await refusal((await openBinding(topic.endpoint)).invoke('create', event('1')))
  expect(error.message).toContain('<p>')
  expect(error.message).not.toContain(accessKey)
})

describe('an answer that begins and never ends', () => {
  /** Resolves when the next answer begins here. */
  async function answerBegins(): Promise<void> {
    const begun = Promise.withResolvers<unknown>()
    subscribe('http.client.response.finish', begun.resolve)
    await begun.promise
    unsubscribe('http.client.response.finish', begun.resolve)
    await setImmediate()
  }

  it.each<{ name: string; headers: Record<string, string> }>([
    { name: 'a head alone', headers: {} },
    { name: 'a head with an id', headers: { ...ofAzure, 'content-length': '2' } },
  ])('is sent again, as without an answer: $name', async ({ headers }) => {
    const { topic, time, publisher } = await openTimedTopic(() => ({ headOf: 200, headers }), { retryBaseMs: 2 })
    const failed = refusal(publisher.publish(event('1')))
    const pausing = time.waits((delayMs) => delayMs === 1)
    await answerBegins()
    time.advance(30_000)
    await pausing
    const again = answerBegins()
    time.advance(1)
    await again
    time.advance(30_000)
    expect(await failed).toMatchObject({ code: 'PUBLISH_UNAVAILABLE', details: { attempts: 2, ids: ['1'] } })
    expect(topic.requests).toHaveLength(2)
  })
})
