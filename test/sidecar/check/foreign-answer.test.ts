import { expect, it } from 'vitest'
import { type Answer, problem, startTopic } from '../../publisher/scripted-topic.ts'
import { openCheck } from './open-check.ts'

const html = { 'content-type': 'text/html' }

it.each<{ name: string; answer: Answer }>([
  { name: 'a page', answer: { foreign: 200, headers: html, body: '<title>Sign in</title>' } },
  { name: 'other JSON', answer: { foreign: 200, body: '{"status":"ok"}' } },
  { name: 'a redirect', answer: { foreign: 302, headers: { location: '/login' } } },
  { name: '204', answer: { foreign: 204 } },
  { name: '400 of a proxy', answer: { foreign: 400, headers: html, body: '<h1>Bad Request</h1>' } },
  { name: '400 without a word', answer: { foreign: 400 } },
  { name: '400 of an application', answer: { foreign: 400, body: '{"status":400,"error":"Bad Request"}' } },
  { name: '413 of a proxy', answer: { foreign: 413, headers: html, body: '<h1>Request Entity Too Large</h1>' } },
])('topic/credential is not proven by $name', async ({ answer }) => {
  const topic = await startTopic(() => answer)
  const { write, check } = await openCheck()
  write({ topicEndpoint: topic.endpoint })
  const { code, idsThat, said } = await check('--only', 'topic')
  expect(code).toBe(1)
  expect(idsThat('failed')).toEqual(['topic/credential'])
  expect(said('topic/credential')).toMatch(/proxy/)
  expect(topic.requests.map(({ body }) => body)).toEqual(['[]'])
})

it.each<{ name: string; answer: Answer }>([
  { name: '200 of a topic', answer: { status: 200 } },
  { name: '200 of a namespace', answer: { foreign: 200, body: '{}' } },
  { name: 'a refusal of the list', answer: { status: 400, body: problem('BadRequest', 'no events') } },
  { name: 'a refusal without an id', answer: { foreign: 400, body: JSON.stringify(problem('BadRequest', 'no')) } },
])('topic/credential is proven by $name', async ({ answer }) => {
  const topic = await startTopic(() => answer)
  const { write, check } = await openCheck()
  write({ topicEndpoint: topic.endpoint })
  expect((await check('--only', 'topic')).idsThat('ok')).toContain('topic/credential')
})
