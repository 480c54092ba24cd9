import { expect, it } from 'vitest'
import { consentMissing, judgeOptionsAnswer, judgeValidationAnswer } from '../../../src/delivery/handshake/handshake.ts'

it.each<{ status: number | undefined; allowed?: string; verdict: string }>([
  { status: 200, allowed: '*', verdict: 'validated' },
  { status: 299, allowed: 'eventgrid.azure.net', verdict: 'validated' },
  { status: 200, allowed: 'a.example, EventGrid.Azure.net', verdict: 'validated' },
  { status: 200, allowed: 'a.example,*', verdict: 'validated' },
  { status: 200, allowed: 'a.example', verdict: 'failed' },
  { status: 200, allowed: 'x.eventgrid.azure.net', verdict: 'failed' },
  { status: 200, allowed: ' ', verdict: 'awaiting-manual-action' },
  { status: 200, verdict: 'awaiting-manual-action' },
  { status: 199, allowed: '*', verdict: 'failed' },
  { status: 300, allowed: '*', verdict: 'failed' },
  { status: undefined, verdict: 'failed' },
])('OPTIONS answered with $status and the origin $allowed is $verdict', ({ status, allowed, verdict }) => {
  const headers = allowed === undefined ? {} : { 'webhook-allowed-origin': allowed }
  expect(judgeOptionsAnswer({ ...(status !== undefined && { status, headers }) })).toBe(verdict)
})

it.each([
  { status: 200, body: '{"validationResponse":"code"}', verdict: 'validated' },
  { status: 200, body: '{"validationResponse":"other"}', verdict: 'awaiting-manual-action' },
  { status: 200, body: '{"validationresponse":"code"}', verdict: 'awaiting-manual-action' },
  { status: 200, body: 'code', verdict: 'awaiting-manual-action' },
  { status: 200, body: '', verdict: 'awaiting-manual-action' },
  { status: 202, body: '{"validationResponse":"code"}', verdict: 'failed' },
  { status: 201, body: '{"validationResponse":"code"}', verdict: 'failed' },
])('a validation event answered with $status $body is $verdict', ({ status, body, verdict }) => {
  expect(judgeValidationAnswer({ status, body }, 'code')).toBe(verdict)
})

it.each([
  {
    method: 'OPTIONS',
    pauseMs: 5_000,
    says: /WebHook-Allowed-Origin.*WebHook-Request-Callback\. It is asked again every 5 s\.$/,
  },
  {
    method: 'POST',
    pauseMs: undefined,
    says: /validationResponse.*validationUrl of the event\. It is not asked again\.$/,
  },
] as const)('says what $method lacks, and what may still be done', ({ method, pauseMs, says }) => {
  expect(consentMissing(method, 200, { untilMs: 0, pauseMs })).toMatch(says)
})
