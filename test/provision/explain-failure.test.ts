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

it.each([
  {
    name: 'the role, to the client and scope',
    over: {},
    expected:
      '--assignee c1 --role "EventGrid EventSubscription Contributor" --scope /subscriptions/s1/resourceGroups/rg1',
  },
  {
    name: 'the client that ARM names where metadata names none',
    over: { clientId: undefined },
    expected: '--assignee 4b-x --role',
  },
  {
    name: 'a scope that a shell would not take',
    over: { scopeId: '/subscriptions/s1/resourceGroups/rg(1)' },
    expected: "--scope '/subscriptions/s1/resourceGroups/rg(1)'",
  },
])('gives a line to paste that assigns $name', ({ over, expected }) => {
  const message =
    "The client '4b-x' with object id '9' does not have authorization to perform action 'x' over scope 'y'"
  const { code, fix } = explain({ status: 403, code: 'AuthorizationFailed', message }, over)
  expect(code).toBe('PERMISSION_DENIED')
  expect(fix?.split('\n')[1]).toMatch(/^az role assignment create /)
  expect(fix).toContain(expected)
})

it.each([
  {
    said: 'Http OPTIONS request failed with response code ServiceUnavailable.',
    what: 'OPTIONS was answered ServiceUnavailable',
    fix: 'delete its pod so that it restarts; afterwards the same request returns 200',
  },
  {
    said: 'Http OPTIONS request failed with response code Unknown.',
    what: 'OPTIONS got no HTTP answer',
    fix: 'not self-signed',
  },
  {
    said: 'Http POST request failed with response code NotFound.',
    what: 'POST was answered NotFound',
    fix: 'route /api/events',
  },
  { said: 'Something new.', what: 'Something new.', fix: 'reachable from the internet' },
])('says of a failed handshake which URL, what it answered and what to do: $said', ({ said, what, fix }) => {
  const explained = explainFailure(handshake(said), context)
  expect(explained.code).toBe('HANDSHAKE_FAILED')
  expect(explained.what).toContain('https://app.example.com/api/events?(redacted)')
  expect(explained.what).toContain(what)
  expect(explained.fix).toContain(fix)
})

it('advises about the ingress only where the answer was 503', () => {
  expect(
    explainFailure(handshake('Http OPTIONS request failed with response code Forbidden.'), context).fix,
  ).not.toContain('pod')
})

it('hides queries and secrets that Azure repeats, in every spelling, and bounds the length', () => {
  const message = `bad https://x.example.com/a?b=c secret/marked secret%2Fmarked ${'long '.repeat(1_000)}`
  const { what } = explain({ code: 'InvalidRequest', message })
  expect(what).toContain('https://x.example.com/a?(redacted) (redacted) (redacted)')
  expect(what.length).toBeLessThan(1_200)
})

it.each([
  {
    name: 'an untrusted certificate',
    failure: { kind: 'network', status: undefined, code: 'SELF_SIGNED_CERT_IN_CHAIN' } as const,
    fix: 'NODE_EXTRA_CA_CERTS',
  },
  {
    name: 'no connection',
    failure: { kind: 'network', status: undefined, code: 'ECONNREFUSED' } as const,
    fix: 'HTTPS_PROXY',
  },
  { name: 'an Entra that does not answer', failure: { kind: 'token', status: undefined } as const, fix: 'HTTPS_PROXY' },
  {
    name: "Entra's untrusted certificate",
    failure: { kind: 'token', status: undefined, fix: 'trust it' } as const,
    fix: 'trust it',
  },
])('says what to do about $name', ({ failure, fix }) => expect(explain(failure).fix).toContain(fix))

it('says of an emulator that is down that it must be started', () => {
  const failure = { kind: 'network', status: undefined, code: 'ECONNREFUSED' } as const
  const { fix } = explain(failure, { resourceManager: 'https://127.0.0.1:4430' })
  expect(fix).toContain('nothing listens at 127.0.0.1:4430: start the emulator')
})

it.each([
  { verdict: 'passing', failure: { status: 409, code: 'Conflict' } },
  { verdict: 'passing', failure: { status: 412 } },
  { verdict: 'passing', failure: { status: 408 } },
  { verdict: 'passing', failure: { status: 429, code: 'TooManyRequests' } },
  { verdict: 'passing', failure: { status: 503 } },
  { verdict: 'passing', failure: { kind: 'network', status: undefined } as const },
  { verdict: 'passing', failure: { kind: 'token', status: undefined } as const },
  { verdict: 'passing', failure: { kind: 'canceled', status: undefined } as const },
  {
    verdict: 'passing',
    failure: {
      kind: 'operation',
      code: 'Internal error',
      message: 'The operation failed due to an internal server error.',
    } as const,
  },
  {
    verdict: 'passing',
    failure: { kind: 'operation', code: 'Publisher Provider Error', message: 'status code: Conflict' } as const,
  },
  { verdict: 'passing', failure: { kind: 'operation', message: 'failed without saying why' } as const },
  {
    verdict: 'rejected',
    failure: { kind: 'operation', code: 'Managed Identity Authorization Error', message: 'no role' } as const,
  },
  { verdict: 'rejected', failure: { status: 409, code: 'ScopeLocked' } },
  { verdict: 'rejected', failure: { status: 409, message: 'Quota limit reached' } },
  { verdict: 'rejected', failure: { status: 403, code: 'RequestDisallowedByPolicy' } },
  { verdict: 'rejected', failure: { kind: 'unexpected', status: undefined, message: 'a bug' } as const },
  {
    verdict: 'provider',
    failure: {
      status: 409,
      code: 'Conflict',
      message: "The subscription is not registered to use namespace 'Microsoft.EventGrid'.",
    },
  },
  {
    verdict: 'provider',
    failure: { status: 409, message: "The subscription registration is in 'Unregistered' state." },
  },
  {
    verdict: 'provider',
    failure: {
      status: 409,
      code: 'X',
      message: 'The Microsoft.EventGrid resource provider is not registered in subscription s1.',
    },
  },
  { verdict: 'permission', failure: { kind: 'operation', code: 'AuthorizationFailed' } as const },
  { verdict: 'scope', failure: { status: 404, code: 'SubscriptionNotFound' } },
  { verdict: 'scope', failure: { status: 400, code: 'InvalidSubscriptionId' } },
  { verdict: 'credentials', failure: { status: 401 } },
  { verdict: 'passing', failure: { status: 401, code: 'ExpiredAuthenticationToken' } },
  { verdict: 'handshake', failure: { status: 400, code: 'Url validation' } },
  {
    verdict: 'handshake',
    failure: {
      kind: 'operation',
      code: 'X',
      message: 'The attempt to validate the provided endpoint https://x failed.',
    } as const,
  },
])('judges $failure.status $failure.code $failure.message to be $verdict', ({ verdict, failure }) => {
  expect(judgeFailure(failed({ code: undefined, ...failure }))).toBe(verdict)
})

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
