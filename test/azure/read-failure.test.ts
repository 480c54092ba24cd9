import { createHttpHeaders, createPipelineRequest, RestError } from '@azure/core-rest-pipeline'
import { expect, it } from 'vitest'
import { readFailure, readOperationFailure } from '../../src/azure/read-failure.ts'

/** What the SDK throws for an answer of ARM. */
function answered(bodyAsText: string | null): RestError {
  const request = createPipelineRequest({ url: 'https://management.azure.com' })
  const response = { status: 502, headers: createHttpHeaders(), request, bodyAsText }
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
  expect(readFailure(answered(body), 0)).toMatchObject({
    kind: 'answer',
    status: 502,
    code: undefined,
    message,
    targets: [],
  })
})

const wrapped = { code: 'ResourceOperationFailure', message: 'see details' }
const inner = { code: 'Url validation', message: 'it failed', details: [{ target: 'a' }, { target: 3 }, null] }

it.each([
  { name: 'a wrapper around it', error: { ...wrapped, details: [inner] }, code: inner.code },
  {
    name: 'two wrappers around it',
    error: { ...wrapped, code: 'DeploymentFailed', details: [{ ...wrapped, details: [inner] }] },
    code: inner.code,
  },
  { name: 'a wrapper around nothing', error: { ...wrapped, details: [] }, code: wrapped.code },
  { name: 'details of its own', error: { ...inner, code: 'Own' }, code: 'Own' },
])('reads an error with $name', ({ error, code }) => {
  const body = JSON.stringify({ error })
  const expected = { code, targets: code === wrapped.code ? [] : ['a'] }
  expect(readFailure(answered(body), 0)).toMatchObject({ kind: 'answer', ...expected })
  expect(readOperationFailure(body)).toMatchObject({ kind: 'operation', ...expected })
})

it.each(['', '{}', '{"status":"Failed"}', '{"error":{}}'])('leaves an operation to the SDK that says %j', (body) => {
  expect(readOperationFailure(body)).toBeUndefined()
})

it('takes a code without a message for the failure of an operation', () => {
  expect(readOperationFailure('{"error":{"code":"Url validation"}}')).toMatchObject({ code: 'Url validation' })
})

it.each([
  { thrown: 'a text', kind: 'unexpected' },
  { thrown: undefined, kind: 'unexpected' },
  { thrown: new DOMException('late', 'TimeoutError'), kind: 'network' },
  { thrown: new Error('Operation was canceled'), kind: 'canceled' },
  { thrown: Object.assign(new Error('cancelled'), { name: 'PollerCancelledError' }), kind: 'canceled' },
  { thrown: new Error('The long-running operation has failed. Url validation. Two\nlines'), kind: 'operation' },
])('takes $thrown for $kind', ({ thrown, kind }) => {
  expect(readFailure(thrown, 0)).toMatchObject({ kind })
})
