import { expect, it } from 'vitest'
import { type ArmFailure, readFailure } from '../../src/azure/read-failure.ts'
import { explainFailure, type FailureContext, judgeFailure } from '../../src/azure/resource-manager-refusal.ts'

const context: FailureContext = {
  scopeId: '/subscriptions/s1/resourceGroups/rg1',
  subscriptionId: 's1',
  eventSubscriptionName: 'events1',
  clientId: 'c1',
  subscriberEndpoint: 'https://app.example.com/api/events?code=query-marked',
  pathKind: 'extension',
  resourceManager: 'https://management.azure.com',
  secrets: ['query-marked', 'secret/marked'],
}
const failed = (changes: Partial<ArmFailure>): ArmFailure => ({
  kind: 'answer',
  status: 400,
  code: undefined,
  message: '',
  targets: [],
  fix: undefined,
  retryAfterMs: undefined,
  requestId: undefined,
  ...changes,
})
const explain = (changes: Partial<ArmFailure>, over: Partial<FailureContext> = {}) =>
  explainFailure(failed(changes), { ...context, ...over })
const handshake = (said: string) =>
  failed({
    kind: 'operation',
    status: undefined,
    code: 'Url validation',
    message: `Webhook validation handshake failed for https://app.example.com/api/events. ${said}`,
  })

it.each<[name: string, over: Partial<FailureContext>, expected: string]>([
  [
    'the role, to the client and scope',
    {},
    '--assignee c1 --role "EventGrid EventSubscription Contributor" --scope /subscriptions/s1/resourceGroups/rg1',
  ],
  ['the client that ARM names where metadata names none', { clientId: undefined }, '--assignee 4b-x --role'],
  ['a scope that a shell would not take', { scopeId: '/subscriptions/s1/rg(1)' }, "--scope '/subscriptions/s1/rg(1)'"],
])('gives a line to paste that assigns %s', (_name, over, expected) => {
  const message =
    "The client '4b-x' with object id '9' does not have authorization to perform action 'x' over scope 'y'"
  const { code, fix } = explain({ status: 403, code: 'AuthorizationFailed', message }, over)
  expect(code).toBe('PERMISSION_DENIED')
  expect(fix?.split('\n')[1]).toMatch(/^az role assignment create /)
  expect(fix).toContain(expected)
})

const answered = (method: string, code: string) => `Http ${method} request failed with response code ${code}.`
const restart = 'delete its pod so that it restarts; afterwards the same request returns 200'

it.each([
  [answered('OPTIONS', 'ServiceUnavailable'), 'OPTIONS was answered ServiceUnavailable', restart],
  [answered('OPTIONS', 'Unknown'), 'OPTIONS got no HTTP answer', 'not self-signed'],
  [answered('POST', 'NotFound'), 'POST was answered NotFound', 'route /api/events'],
  ['Something new.', 'Something new.', 'reachable from the internet'],
])('says of a failed handshake which URL, what it answered and what to do: %s', (said, what, fix) => {
  const explained = explainFailure(handshake(said), context)
  expect(explained.code).toBe('HANDSHAKE_FAILED')
  expect(explained.what).toContain('https://app.example.com/api/events?(redacted)')
  expect(explained.what).toContain(what)
  expect(explained.fix).toContain(fix)
})

it('advises about the ingress only where the answer was 503', () => {
  expect(explainFailure(handshake(answered('OPTIONS', 'Forbidden')), context).fix).not.toContain('pod')
})

it('hides queries and secrets that Azure repeats, in every spelling, and bounds the length', () => {
  const message = `bad https://x.example.com/a?b=c secret/marked secret%2Fmarked ${'long '.repeat(1_000)}`
  const { what } = explain({ code: 'InvalidRequest', message })
  expect(what).toContain('https://x.example.com/a?(redacted) (redacted) (redacted)')
  expect(what.length).toBeLessThan(1_200)
})

const network = (code?: string) => ({ kind: 'network', status: undefined, code }) as const
const token = (fix?: string) => ({ kind: 'token', status: undefined, fix }) as const

it.each<[name: string, failure: Partial<ArmFailure>, fix: string, over?: Partial<FailureContext>]>([
  ['an untrusted certificate', network('SELF_SIGNED_CERT_IN_CHAIN'), 'NODE_EXTRA_CA_CERTS'],
  ['no connection', network('ECONNREFUSED'), 'HTTPS_PROXY'],
  ['an Entra that does not answer', token(), 'HTTPS_PROXY'],
  ["Entra's untrusted certificate", token('trust it'), 'trust it'],
  [
    'an emulator that is down',
    network('ECONNREFUSED'),
    'nothing listens at 127.0.0.1:4430: start the emulator',
    { resourceManager: 'https://127.0.0.1:4430' },
  ],
])('says what to do about %s', (_name, failure, fix, over) => expect(explain(failure, over).fix).toContain(fix))

const operation = (code?: string, message = '') => ({ kind: 'operation', code, message }) as const

it.each<[verdict: string, failure: Partial<ArmFailure>]>([
  ['passing', { status: 409, code: 'Conflict' }],
  ['passing', { status: 412 }],
  ['passing', { status: 408 }],
  ['passing', { status: 429, code: 'TooManyRequests' }],
  ['passing', { status: 503 }],
  ['passing', network()],
  ['passing', token()],
  ['passing', { kind: 'canceled', status: undefined }],
  ['passing', operation('Internal error', 'The operation failed due to an internal server error.')],
  ['passing', operation('Publisher Provider Error', 'status code: Conflict')],
  ['passing', operation(undefined, 'failed without saying why')],
  ['rejected', operation('Managed Identity Authorization Error', 'no role')],
  ['rejected', { status: 409, code: 'ScopeLocked' }],
  ['rejected', { status: 409, message: 'Quota limit reached' }],
  ['rejected', { status: 403, code: 'RequestDisallowedByPolicy' }],
  ['rejected', { kind: 'unexpected', status: undefined, message: 'a bug' }],
  ['provider', { status: 409, code: 'Conflict', message: "is not registered to use namespace 'Microsoft.EventGrid'." }],
  ['provider', { status: 409, message: "The subscription registration is in 'Unregistered' state." }],
  [
    'provider',
    {
      status: 409,
      code: 'X',
      message: 'The Microsoft.EventGrid resource provider is not registered in subscription s1.',
    },
  ],
  ['permission', operation('AuthorizationFailed')],
  ['scope', { status: 404, code: 'SubscriptionNotFound' }],
  ['scope', { status: 400, code: 'InvalidSubscriptionId' }],
  ['credentials', { status: 401 }],
  ['passing', { status: 401, code: 'ExpiredAuthenticationToken' }],
  ['handshake', { status: 400, code: 'Url validation' }],
  ['handshake', operation('X', 'The attempt to validate the provided endpoint https://x failed.')],
])('judges as %s: %j', (verdict, failure) => expect(judgeFailure(failed(failure))).toBe(verdict))

it.each([
  {
    name: 'with a code that has a space',
    message: 'The long-running operation has failed. Url validation. Webhook validation handshake failed. See x.',
    expected: { code: 'Url validation', message: 'Webhook validation handshake failed. See x.' },
  },
  { name: 'without a reason', message: 'The long-running operation has failed', expected: { code: undefined } },
])('reads a failed operation, which the SDK throws as a plain Error, $name', ({ message, expected }) => {
  expect(readFailure(new Error(message), 0)).toMatchObject({ kind: 'operation', ...expected })
})
