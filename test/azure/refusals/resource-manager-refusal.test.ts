import { createHttpHeaders, createPipelineRequest, RestError } from '@azure/core-rest-pipeline'
import { expect, it } from 'vitest'
import { readFailure, readOperationFailure } from '../../../src/azure/read-failure.ts'
import {
  type ArmFailure,
  codeOfFailure,
  explainFailure,
  explainHandshakeAnswer,
  type FailureContext,
} from '../../../src/azure/refusals/resource-manager-refusal.ts'

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
type Said = Partial<ArmFailure>

/** A failure of this kind; without one the kind that an answer of ARM has which says so. */
function failed({ kind, status = 400, code, message = '', ...more }: Said): ArmFailure {
  if (kind) return { kind, status, code, message, ...more }
  const error = { code, message }
  const request = createPipelineRequest({ url: 'https://arm.example.com' })
  const response = { status, headers: createHttpHeaders(), request, bodyAsText: JSON.stringify({ error }) }
  return { ...readFailure(new RestError('', { statusCode: status, request, response }), 0), ...more }
}
const operation = (code?: string, message = 'x') =>
  readOperationFailure(JSON.stringify({ error: { code, message } })) ?? failed({ kind: 'operation' })
const explain = (changes: Said, over: Partial<FailureContext> = {}) =>
  explainFailure(failed(changes), { ...context, ...over })
const hiddenEndpoint = 'https://app.example.com/api/events?(redacted)'

const rg = '/subscriptions/s1/resourceGroups/rg1'

const answered = (method: string, code: string) => `Http ${method} request failed with response code ${code}.`
const restart = 'delete its pod so that it restarts; afterwards the same request returns 200'

it.each<[said: string, what: string, fix: string, answer: string | undefined]>([
  [answered('OPTIONS', 'ServiceUnavailable'), 'OPTIONS was answered Serv', restart, 'ServiceUnavailable'],
  [answered('OPTIONS', 'Unknown'), 'OPTIONS got no HTTP answer', 'not self-signed', 'Unknown'],
  [answered('post', 'NotFound'), 'POST was answered NotFound', 'route /api/events', 'NotFound'],
  ['Something new.', 'Something new.', 'reachable from the internet', undefined],
])('says of a failed handshake which URL, what it answered and what to do: %s', (said, what, fix, answer) => {
  const message = `Webhook validation handshake failed for https://app.example.com/api/events. ${said}`
  const explained = explainFailure(operation('Url validation', message), context)
  expect(explained.code).toBe('HANDSHAKE_FAILED')
  expect(explained.what).toContain(hiddenEndpoint)
  expect(explained.what).toContain(what)
  expect(explained.fix).toContain(fix)
  expect(explained.details?.answer).toBe(answer)
})

it('hides queries and secrets that Azure repeats, in every spelling, and bounds the length', () => {
  const message = `bad https://x.example.com/a?b=c secret/marked secret%2Fmarked ${'long '.repeat(1_000)}`
  const { what } = explain({ code: 'InvalidRequest', message })
  expect(what).toContain('https://x.example.com/a?(redacted) (redacted) (redacted)')
  expect(what.length).toBeLessThan(1_200)
})

const network = (code?: string) => ({ kind: 'network', status: undefined, code }) as const
const token = (fix?: string) => ({ kind: 'token', status: undefined, fix }) as const

type Judged = [code: string, failure: Said]
const each = <T>(meaning: string, codes: readonly T[], failureOf: (code: T) => Judged[1]) =>
  codes.map((code): Judged => [meaning, failureOf(code)])
const lastingConflicts = [
  ...['ScopeLocked', 'ReadOnlyDisabledSubscription', 'SubscriptionNotRegistered', 'RequestDisallowedByPolicy'],
  ...['QuotaExceeded', 'QuotaLimitReached', 'LimitExceeded'],
]
const scopeCodes = [
  ...['InvalidSubscriptionId', 'ParentResourceNotFound', 'ResourceGroupNotFound', 'InvalidResourceType'],
  ...['InvalidResourceNamespace', 'NoRegisteredProviderFound', 'MissingApiVersionParameter'],
]

it.each<Judged>([
  ['TIMEOUT', { status: 409, code: 'Conflict' }],
  ['TIMEOUT', { status: 412 }],
  ['TIMEOUT', { status: 408 }],
  ['TIMEOUT', { status: 429, code: 'TooManyRequests' }],
  ['TIMEOUT', { status: 500 }],
  ['TIMEOUT', { status: 404 }],
  ...each('TIMEOUT', ['internal', 'Conflict', 'ServiceUnavailable', 'ServerBusy', 'ServerTimeout'], operation),
  ['TIMEOUT', operation('Publisher Notification Error')],
  ...each('SUBSCRIPTION_REJECTED', ['XInternal', 'AConflict', 'MyServiceBusy', 'ServiceBroken'], operation),
  ['TIMEOUT', operation('Internal error', 'The operation failed due to an internal server error.')],
  ['TIMEOUT', operation('Publisher Provider Error', 'status code: Conflict')],
  ['TIMEOUT', operation(undefined, 'failed without saying why')],
  ['TIMEOUT', { status: 400, code: 'MessagingGatewayBadRequest' }],
  ['TIMEOUT', operation('MessagingGatewayBadRequest')],
  ['TIMEOUT', { status: 403 }],
  ['PERMISSION_DENIED', { status: 403, code: 'Forbidden' }],
  ['PERMISSION_DENIED', { status: 403, code: 'DenyAssignmentAuthorizationFailed' }],
  ['SUBSCRIPTION_REJECTED', { status: 403, code: 'AccountIsDisabled' }],
  ['SUBSCRIPTION_REJECTED', operation('Managed Identity Authorization Error', 'no role')],
  ...each('SUBSCRIPTION_REJECTED', lastingConflicts, (code) => ({ status: 409, code })),
  ['SUBSCRIPTION_REJECTED', { status: 400, code: 'X' }],
  ['SUBSCRIPTION_REJECTED', { status: 403, code: 'DisallowedX' }],
  ['PERMISSION_DENIED', { status: 403, code: 'XDisallowed' }],
  ['PERMISSION_DENIED', { status: 400, code: 'LinkedAuthorizationFailed' }],
  ['SUBSCRIPTION_REJECTED', { status: 400, code: 'AuthorizationFailedX' }],
  ['SUBSCRIPTION_REJECTED', { status: 409, message: 'Quota limit reached' }],
  ['SUBSCRIPTION_REJECTED', { status: 403, code: 'RequestDisallowedByPolicy' }],
  [
    'PROVIDER_NOT_REGISTERED',
    { status: 409, code: 'Conflict', message: "is not registered to use namespace 'Microsoft.EventGrid'." },
  ],
  ['PROVIDER_NOT_REGISTERED', { status: 409, message: "The subscription registration is in 'Unregistered' state." }],
  [
    'PROVIDER_NOT_REGISTERED',
    { status: 409, message: 'The Microsoft.EventGrid provider is not registered in subscription s1.' },
  ],
  ['PROVIDER_NOT_REGISTERED', { status: 400, code: 'MissingSubscriptionRegistration' }],
  ['PERMISSION_DENIED', operation('AuthorizationFailed')],
  ['SCOPE_NOT_FOUND', { status: 404, code: 'SubscriptionNotFound' }],
  ...each('SCOPE_NOT_FOUND', scopeCodes, (code) => ({ status: 400, code })),
  ['SCOPE_NOT_FOUND', { status: 404, code: 'Other' }],
  ['CREDENTIALS_REJECTED', { status: 401 }],
  ['TIMEOUT', { status: 401, code: 'ExpiredAuthenticationToken' }],
  ['SUBSCRIPTION_REJECTED', { status: 400, code: 'ExpiredAuthenticationToken' }],
  ['HANDSHAKE_FAILED', { status: 400, code: 'Url validation' }],
  ['HANDSHAKE_FAILED', { status: 400, code: 'UrlValidation' }],
  ['SUBSCRIPTION_REJECTED', { status: 400, code: 'Bad url validation' }],
  ['HANDSHAKE_FAILED', operation('X', 'The attempt to validate the provided endpoint https://x failed.')],
])('judges as %s: %j', (code, failure) => expect(codeOfFailure(failed(failure))).toBe(code))

it.each([
  {
    name: 'with a code that has a space',
    message: 'The long-running operation has failed. Url validation. Webhook validation handshake failed. See x.',
    expected: { code: 'Url validation', message: 'Webhook validation handshake failed. See x.' },
  },
  { name: 'without a reason', message: 'The long-running operation has failed', expected: { code: undefined } },
])('reads a failed operation, which the SDK throws as a plain Error, $name', ({ message, expected }) => {
  expect(readFailure(new Error(message), 0)).toMatchObject({ isOperation: true, ...expected })
})

const webHookSays = 'the event subscription events1 is not provisioned'

it.each<[name: string, failure: Said, over: Partial<FailureContext>, isTold: boolean]>([
  ['an operation that failed', operation('X'), {}, true],
  ['a hand that is awaited', { kind: 'manual' }, {}, true],
  ['a refusal', { code: 'X' }, {}, false],
  ['a refusal of what was Failed', { code: 'X' }, { isFailed: true }, true],
  ['an operation of pull, which has no endpoint', operation('X'), { subscriberEndpoint: '' }, false],
])('tells that nothing is delivered: %s', (_name, failure, over, isTold) => {
  expect(explain(failure, over).what.includes(webHookSays)).toBe(isTold)
})

it('keeps status, code and request id, without secrets', () => {
  const given = { status: 400, code: 'a secret/marked', requestId: 'an-id' }
  expect(explain(given).details).toEqual({ status: 400, azureCode: 'a (redacted)', requestId: 'an-id' })
  expect(explain({ kind: 'refused', status: undefined }).details).toEqual({ status: 400 })
})

it.each<[name: string, over: Partial<FailureContext>, what: string, fix: RegExp]>([
  ['extension', {}, 'may not create event subscriptions at', /--assignee c1 --role "EventGrid EventSubscription Contr/],
  ['system topic', { pathKind: 'systemTopic' }, 'may not create', /"EventGrid Contributor"/],
  ['extension that is read', { isReadOnly: true }, 'may not read event subs', /"EventGrid EventSubscription Reader"/],
  ['topic that is read', { isReadOnly: true, pathKind: 'partnerTopic' }, 'may not read event subs', /"Reader"/],
  ['namespace', { isHostRead: true }, 'may not read the host name of', /^set namespaceEndpoint, or assign/],
  ['no client that metadata names', { clientId: undefined }, '', /--assignee .?<clientId>.? --role/],
  ['a scope that a shell would not take', { scopeId: '/rg(1)' }, 'may not create', /--scope '\/rg\(1\)'/],
])('names the smallest role, in a line to paste: %s', (_name, over, what, fix) => {
  const explained = explain({ status: 403, code: 'X', message: "The client '4b-x' may not" }, over)
  expect(explained).toMatchObject({ code: 'PERMISSION_DENIED', what: expect.stringContaining(what) })
  expect(explained.fix).toMatch(fix)
  expect(explained.fix?.split('\n')[1]).toMatch(/^az role assignment create /)
})

it.each(['LinkedAuthorizationFailed', 'DenyAssignmentAuthorizationFailed'])(
  'leaves it to Azure what is missing elsewhere, and gives no role for event subscriptions: %s',
  (code) => {
    const message = `it does not have permission to perform action(s) 'Microsoft.Storage/storageAccounts/write' on the linked scope(s) '${rg}'`
    const { what, fix, code: ours } = explain({ status: 403, code, message })
    expect({ ours, what }).toEqual({
      ours: 'PERMISSION_DENIED',
      what: expect.stringContaining(`(${code}: ${message})`),
    })
    expect(fix).toContain('the right that Azure names')
    expect(fix).not.toContain('az role')
  },
)

const has = (text: string) => expect.stringContaining(text)
const consent = { kind: 'noConsent', message: 'no' } as const

it.each<[name: string, failure: Said, expected: object, over?: Partial<FailureContext>]>([
  [
    'a provider that is not registered',
    { code: 'MissingSubscriptionRegistration' },
    { code: 'PROVIDER_NOT_REGISTERED', fix: has('az provider register') },
  ],
  ['a token', { status: 401 }, { code: 'CREDENTIALS_REJECTED', fix: has('tenant') }],
  ['a scope', { status: 404, code: 'X' }, { code: 'SCOPE_NOT_FOUND', fix: has('scope and') }],
  [
    'a namespace topic that is not there, by its field',
    { status: 404, code: 'X' },
    { fix: has('check namespaceTopic') },
    { scopeId: `${rg}/providers/Microsoft.EventGrid/namespaces/n/topics/t` },
  ],
  [
    'a rule of Azure, for which no role helps',
    { status: 403, code: 'RequestDisallowedByAzure' },
    { code: 'SUBSCRIPTION_REJECTED', fix: 'change what Azure names' },
  ],
  ['a page of a proxy, for which no role helps', { status: 403 }, { code: 'TIMEOUT', fix: has('a proxy') }],
  [
    'a managed identity without a role, by no role of the client',
    operation('Managed Identity Authorization Error'),
    { code: 'SUBSCRIPTION_REJECTED', fix: has('Storage Blob Data Contributor') },
  ],
  ['a result that is not known', { kind: 'lost', message: 'x' }, { what: expect.stringMatching(/not known \(x\)$/) }],
  ['a limit', { kind: 'deadline', message: 'too late' }, { code: 'TIMEOUT', what: 'too late', fix: undefined }],
  ['a cancellation', { kind: 'canceled', message: 'cancelled' }, { code: 'TIMEOUT', what: 'cancelled' }],
  [
    'a failed operation',
    operation('Conflict'),
    { what: expect.stringMatching(/^the change .* failed \(Conflict: x\);/) },
  ],
  ['what is missing', { kind: 'missing', message: 'none', fix: 'create it' }, { what: 'none', fix: 'create it' }],
  ['no token', { kind: 'token', message: 'none' }, { what: 'none', fix: has('HTTPS_PROXY') }],
  ["Entra's untrusted certificate", token('trust it'), { fix: 'trust it' }],
  ['an answer that is none', { kind: 'answerUnread' }, { what: has('cannot be read') }],
  [
    'an answer of a gateway',
    { status: 502, message: 'x' },
    { what: 'Azure Resource Manager answered 502 (x)', fix: has('HTTPS_PROXY') },
  ],
  [
    'an answer that passes',
    { status: 503, code: 'Busy', message: 'x' },
    { what: 'Azure Resource Manager answered 503 (Busy: x)', fix: undefined },
  ],
  ['no answer', network('X'), { what: 'no answer from https://management.azure.com (X)' }],
  ['no connection', network('ECONNREFUSED'), { fix: has('HTTPS_PROXY') }],
  ['an untrusted certificate', network('SELF_SIGNED_CERT_IN_CHAIN'), { fix: has('NODE_EXTRA_CA_CERTS') }],
  [
    'an emulator that is down',
    network('ECONNREFUSED'),
    { fix: has('nothing listens at 127.0.0.1:4430: start the emulator') },
    { resourceManager: 'https://127.0.0.1:4430' },
  ],
  [
    'no consent',
    { ...consent, answer: '200', fix: 'route it' },
    {
      ...{ code: 'HANDSHAKE_FAILED', what: 'no', fix: 'route it' },
      details: { status: 400, endpoint: hiddenEndpoint, answer: '200' },
    },
  ],
  ['no answer to a handshake', consent, { details: { status: 400, endpoint: hiddenEndpoint } }],
  [
    'a hand that is awaited',
    { kind: 'manual' },
    { code: 'HANDSHAKE_FAILED', fix: has('route /api/events to handshakePort') },
  ],
])('explains %s', (_name, failure, expected, over) => {
  expect({ fix: undefined, ...explain(failure, over) }).toMatchObject(expected)
})

it.each([
  { answer: '503', isIngress: true },
  { answer: 'serviceunavailable', isIngress: true },
  { answer: '1503', isIngress: false },
  { answer: '5030', isIngress: false },
])('advises about an ingress after $answer: $isIngress', ({ answer, isIngress }) => {
  const { what, fix } = explainHandshakeAnswer({ method: 'POST', answer }, context.subscriberEndpoint)
  expect(what).toContain(`POST was answered ${answer}`)
  expect(fix.includes('delete its pod')).toBe(isIngress)
})
