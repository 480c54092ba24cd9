import { createHttpHeaders, createPipelineRequest, RestError } from '@azure/core-rest-pipeline'
import { expect, it } from 'vitest'
import { ArmFailureError, readFailure, readOperationFailure } from '../../src/azure/read-failure.ts'
import { NoTokenError } from '../../src/azure/refusals/entra-refusal.ts'
import { BindingError } from '../../src/core/errors.ts'

/** What the SDK throws for an answer of ARM. */
function answered(bodyAsText: string | null, of: Readonly<Record<string, string>> = {}): RestError {
  const request = createPipelineRequest({ url: 'https://management.azure.com' })
  const response = { status: 502, headers: createHttpHeaders(of), request, bodyAsText }
  return new RestError('of the SDK', { code: 'OF_SDK', statusCode: 502, request, response })
}

it.each([
  { name: 'no body', body: null },
  { name: 'an empty one', body: '' },
  { name: 'a page', body: '<html>Bad Gateway</html>' },
  { name: 'null', body: 'null' },
  { name: 'a list', body: '[]' },
  { name: 'a text', body: '"error"' },
  { name: 'an error that nothing is around', body: '{"code":"Bare","message":"bare"}' },
  { name: 'null for an error', body: '{"error":null}' },
  { name: 'a text for an error', body: '{"error":"text"}' },
  { name: 'fields of other types', body: '{"error":{"code":5,"message":"","details":{"target":"x"}}}' },
  { name: 'over 100 kB', body: JSON.stringify({ error: { code: 'Large', message: 'x'.repeat(100_000) } }) },
])('takes no word for that of ARM where an answer has $name', ({ body }) => {
  const message = 'its body is not an error of Azure Resource Manager'
  const said = { kind: 'busy', status: 502, code: undefined, message }
  expect(readFailure(answered(body), 0)).toMatchObject(said)
})

it.each(['', '{}', '{"status":"Failed"}', '{"error":{}}'])('leaves an operation to the SDK that says %j', (body) => {
  expect(readOperationFailure(body)).toBeUndefined()
})

it('takes a code without a message for the failure of an operation', () => {
  expect(readOperationFailure('{"error":{"code":"Url validation"}}')).toMatchObject({ code: 'Url validation' })
})

it.each([
  { thrown: 'a text', kind: 'refused' },
  { thrown: undefined, kind: 'refused' },
  { thrown: new DOMException('gone', 'AbortError'), kind: 'network' },
  { thrown: new TypeError('x is undefined'), kind: 'answerUnread' },
  { thrown: new Error('A word. The long-running operation has failed'), kind: 'answerUnread' },
  { thrown: new Error('The long-running operation has failed for once'), kind: 'answerUnread' },
  { thrown: new RestError('x', { statusCode: 399 }), kind: 'answerUnread' },
  { thrown: new RestError('x', { statusCode: 400 }), kind: 'refused' },
  { thrown: new RestError('x', { code: 'ECONNREFUSED' }), kind: 'network' },
  { thrown: new ArmFailureError({ kind: 'missing', message: 'x' }), kind: 'missing' },
  { thrown: new DOMException('late', 'TimeoutError'), kind: 'network' },
  { thrown: new Error('Operation was canceled'), kind: 'canceled' },
  { thrown: Object.assign(new Error('cancelled'), { name: 'PollerCancelledError' }), kind: 'canceled' },
  { thrown: new Error('The long-running operation has failed. Url validation. Two\nlines'), kind: 'handshake' },
])('takes $thrown for $kind', ({ thrown, kind }) => {
  expect(readFailure(thrown, 0)).toMatchObject({ kind })
})

it('keeps what an answer says beside its error', () => {
  const message = "The client 'c1' has no right"
  const body = JSON.stringify({ error: { code: 'Denied', message } })
  const requestId = '0f8fad5b-d9cb-469f-a165-70867728950e'
  const failure = readFailure(answered(body, { 'retry-after': '7', 'x-ms-request-id': requestId }), 0)
  expect(failure).toMatchObject({ code: 'Denied', message })
  expect(failure).toMatchObject({ status: 502, retryAfterMs: 7_000, requestId })
  const other = readFailure(answered(body, { 'x-ms-request-id': 'of another form' }), 0)
  expect(other.requestId).toBeUndefined()
})

it.each([
  { name: 'a status for a code', code: '502', reads: { code: undefined, message: /^its body is not/ } },
  { name: 'a code with a number', code: 'X502', reads: { code: 'X502', message: /^of the SDK$/ } },
  { name: 'a code that begins with a number', code: '502X', reads: { code: '502X', message: /^of the SDK$/ } },
])('reads $name', ({ code, reads: { code: read, message } }) => {
  const failure = readFailure(answered(JSON.stringify({ error: { code } })), 0)
  expect(failure).toMatchObject({ code: read, message: expect.stringMatching(message) })
})

it('reads a body of 100,000 characters', () => {
  const body = JSON.stringify({ error: { code: 'Long', message: '' } })
  const long = body.replace('""', `"${'x'.repeat(100_000 - body.length)}"`)
  expect(readFailure(answered(long), 0)).toMatchObject({ code: 'Long' })
})

it("takes the SDK's word where there is no answer to read", () => {
  const thrown = new RestError('of the SDK', { code: 'OF_SDK', statusCode: 502 })
  expect(readFailure(thrown, 0)).toMatchObject({ code: 'OF_SDK', message: 'of the SDK' })
})

it('keeps what a failure of ours says', () => {
  const token = new NoTokenError('none', { fix: 'trust it', retryAfterMs: 7 })
  expect(readFailure(token, 0)).toEqual({ kind: 'token', message: 'none', fix: 'trust it', retryAfterMs: 7 })
  const refused = new BindingError('CREDENTIALS_REJECTED', { what: 'refused', fix: 'sign in' })
  expect(readFailure(refused, 0)).toEqual({ kind: 'refused', message: 'refused', fix: 'sign in' })
})
