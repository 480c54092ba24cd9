import { createHttpHeaders, createPipelineRequest } from '@azure/core-rest-pipeline'
import { describe, expect, it } from 'vitest'
import { decideRetry } from '../../src/publisher/rejection.ts'
import { readAnswer } from '../../src/publisher/topic.ts'

const answered = (status: number, foreign = false) => {
  const nothing = { message: '', requestId: undefined, retryAfterMs: undefined }
  return { kind: 'answered', status, isForeign: foreign, ...nothing } as const
}
const unreachable = (permanent: boolean) => ({ kind: 'unreachable', reason: '', permanent }) as const
const noToken = (permanent: boolean) =>
  ({ kind: 'no-token', reason: '', fix: undefined, permanent, retryAfterMs: undefined }) as const

describe('after a failure', () => {
  it.each([
    [answered(400), 'split'],
    [answered(400, true), 'give up'],
    [answered(413), 'split'],
    [answered(413, true), 'split'],
    [answered(401), 'give up'],
    [answered(404), 'give up'],
    [answered(202), 'give up'],
    [answered(408), 'retry'],
    [answered(429), 'retry'],
    [answered(499), 'give up'],
    [answered(500), 'retry'],
    [answered(503, true), 'retry'],
    [unreachable(false), 'retry'],
    [unreachable(true), 'give up'],
    [noToken(false), 'retry'],
    [noToken(true), 'give up'],
  ] as const)('%j: %s', (answer, verdict) => expect(decideRetry(answer)).toBe(verdict))
})

describe('a refusal', () => {
  const error = '{"error":{"code":"BadRequest"}}'

  it.each<[name: string, heard: { body?: string; contentType?: string; requestId?: string }, isForeign: boolean]>([
    ['an empty one with an id', { requestId: 'r' }, false],
    ['an empty one without an id', {}, true],
    ['an error without an id', { body: error }, false],
    ['other JSON without an id', { body: '{"status":"bad"}' }, true],
    ['text with an id', { body: 'bad', requestId: 'r' }, false],
    ['a page with an id', { body: ' <p>', requestId: 'r' }, true],
    ['what calls itself a page, with an id', { body: 'bad', contentType: 'text/HTML', requestId: 'r' }, true],
    ['nothing that calls itself a page, with an id', { contentType: 'text/html', requestId: 'r' }, false],
    ['a less-than sign within text', { body: 'a < b', requestId: 'r' }, false],
  ])('is foreign or not: %s', (_name, { body = '', contentType = '', requestId = '' }, isForeign) => {
    const headers = createHttpHeaders({ 'content-type': contentType, 'x-ms-request-id': requestId })
    const request = createPipelineRequest({ url: 'https://topic' })
    const answer = readAnswer({ request, status: 400, headers, bodyAsText: body }, String, 0)
    expect(answer).toMatchObject({ kind: 'answered', isForeign })
  })
})
