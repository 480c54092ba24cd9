/** What an endpoint answers to a handshake: whether the answer is consent, and what is said and advised where it is not. */
import { expect, it } from 'vitest'
import { citer, refusalOfOptions, refusalOfValidation, who } from '../../src/provision/handshake.ts'
import type { ProbeAnswer } from '../../src/support/net/probe.ts'
import { inputMetadata } from './input.ts'

const input = inputMetadata({ subscriberEndpoint: 'https://orders.example.com/api/events?code=marked-secret' })
const consent = { 'webhook-allowed-origin': '*' }
const answer = (status: number, headers: ProbeAnswer['headers'] = {}, body = ''): ProbeAnswer => ({
  status,
  headers,
  body,
})

it.each([
  [199, false],
  [200, true],
  [299, true],
  [300, false],
])('consent with the status %d counts: %s', (status, counts) => {
  const refusal = refusalOfOptions(answer(status, consent), input)
  if (counts) expect(refusal).toBeUndefined()
  else expect(refusal).toMatchObject({ answer: String(status) })
})

it('cites the origin that was allowed in place of ours, trimmed and cut', () => {
  const refusal = refusalOfOptions(answer(200, { 'webhook-allowed-origin': `  ${'o'.repeat(100)}  ` }), input)
  expect(refusal?.what).toContain(`with WebHook-Allowed-Origin: ${'o'.repeat(80)}…`)
})

it.each([
  { name: 'the code', said: answer(200, {}, '{"validationResponse":"c"}'), isConsent: true },
  { name: 'the code with another status', said: answer(201, {}, '{"validationResponse":"c"}'), isConsent: false },
  { name: 'another code', said: answer(200, {}, '{"validationResponse":"d"}'), isConsent: false },
  { name: 'no JSON', said: answer(200, {}, 'c'), isConsent: false },
  { name: 'a list', said: answer(200, {}, '[]'), isConsent: false },
])('the validation event is answered with $name: consent $isConsent', ({ said, isConsent }) => {
  const refusal = refusalOfValidation(said, 'c', input)
  expect(refusal === undefined).toBe(isConsent)
  if (refusal) expect(refusal).toMatchObject({ answer: String(said.status) })
})

const html = { 'content-type': 'text/html; charset=utf-8' }
const firewall = 'a firewall may have answered'
const noCredential = 'the handshake carries no credential'

it.each([
  { name: '403 with a page', said: answer(403, html), advice: [firewall] },
  { name: '403 with a page that does not say so', said: answer(403, {}, '<HTML><body>'), advice: [firewall] },
  { name: '403 without a page', said: answer(403, { 'content-type': 'text/plain' }, 'no'), advice: [] },
  { name: '404 with a page', said: answer(404, html), advice: [] },
  { name: '401', said: answer(401), advice: [noCredential] },
  { name: '401 with a page', said: answer(401, html), advice: [noCredential] },
])('the remedy for $name', ({ said, advice }) => {
  for (const refusal of [refusalOfOptions(said, input), refusalOfValidation(said, 'c', input)]) {
    const lines = refusal?.fix.split('\n') ?? []
    expect(lines[0]).not.toBe('')
    expect(lines.slice(1)).toEqual(advice.map((begin) => expect.stringContaining(begin)))
  }
})

it.each([
  { name: 'nothing', said: answer(200), shown: '' },
  { name: 'a server', said: answer(200, { server: 'nginx' }), shown: ' (server: nginx)' },
  {
    name: 'the title of a page',
    said: answer(200, {}, '<title lang="en">Sign in</title>'),
    shown: ' (page: "Sign in")',
  },
  { name: 'plain words', said: answer(200, { 'content-type': 'Text/Plain' }, 'not here'), shown: ' ("not here")' },
  { name: 'no words', said: answer(200, { 'content-type': 'text/plain' }), shown: '' },
  { name: 'words of another type', said: answer(200, { 'content-type': 'x-text/plain' }, 'no'), shown: '' },
  {
    name: 'all of them',
    said: answer(200, { server: 'IIS', 'content-type': 'text/plain' }, '<title>a</title>'),
    shown: ' (server: IIS, page: "a", "<title>a</title>")',
  },
  {
    name: 'our secret in a page',
    said: answer(200, {}, '<title>code marked-secret</title>'),
    shown: ' (page: "code (redacted)")',
  },
])('a server is told by $name', ({ said, shown }) => {
  expect(who(said, citer(input))).toBe(shown)
})
