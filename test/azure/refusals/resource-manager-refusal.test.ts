import { expect, it } from 'vitest'
import { type ArmFailure, readFailure } from '../../../src/azure/read-failure.ts'
import { readDenial } from '../../../src/azure/refusals/missing-role.ts'
import {
  explainFailure,
  explainHandshakeAnswer,
  type FailureContext,
  verdictOf,
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
const failed = (changes: Partial<ArmFailure>): ArmFailure => ({
  kind: 'answer',
  status: 400,
  code: undefined,
  message: '',
  targets: [],
  fix: undefined,
  retryAfterMs: undefined,
  requestId: undefined,
  denied: readDenial(changes.message ?? ''),
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

const our =
  "The client 'c7' with object id '9' has permission to perform action 'Microsoft.EventGrid/eventSubscriptions/write' on scope '/subscriptions/s1/resourceGroups/rg1'"
const rg = '/subscriptions/s1/resourceGroups/rg1'
const account = `${rg}/providers/Microsoft.Storage/storageAccounts/dead`
const user = `${rg}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i`
const topic = `${rg}/providers/Microsoft.EventGrid/namespaces/n/topics/t`
const storageWrite = 'Microsoft.Storage/storageAccounts/write'
const assign = 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action'
const linked = (actions: string, scopes: string, end = ' or the linked scope(s) are invalid.') =>
  `${our}; however, it does not have permission to perform action(s) '${actions}' on the linked scope(s) '${scopes}'${end}`
const line = (role: string, scope: string) =>
  `az role assignment create --assignee c1 --role "${role}" --scope ${scope}`

it.each<{ name: string; code: string; message: string; what: string; fix: readonly string[]; says?: string }>([
  {
    name: 'the storage account of dead letters',
    ...{ code: 'LinkedAuthorizationFailed', message: linked(storageWrite, account) },
    what: `perform ${storageWrite} at ${account}`,
    fix: [line('Storage Account Contributor', account)],
  },
  {
    name: 'a user assigned identity, in the older form of the sentence',
    code: 'LinkedAuthorizationFailed',
    message: linked(assign, user, '.').replace('action(s)', 'action').replace("scope(s) '", "scope(s)'"),
    what: `perform ${assign} at ${user}`,
    fix: [line('Managed Identity Operator', user)],
  },
  {
    name: 'two linked resources, each with its action',
    code: 'LinkedAuthorizationFailed',
    message: linked(
      `${assign},${storageWrite}`,
      `${user},${account}`,
      ' (respectively) or the linked scope(s) are invalid.',
    ),
    what: `perform ${assign} at ${user} and perform ${storageWrite} at ${account}`,
    fix: [line('Managed Identity Operator', user), line('Storage Account Contributor', account)],
  },
  {
    name: 'two linked resources with one action',
    ...{ code: 'LinkedAuthorizationFailed', message: linked(assign, `${user}, ${user}2`) },
    what: `perform ${assign} at ${user}2`,
    fix: [line('Managed Identity Operator', user), line('Managed Identity Operator', `${user}2`)],
  },
  {
    name: 'the namespace topic that events are forwarded to',
    ...{ code: 'LinkedAuthorizationFailed', message: linked('Microsoft.EventGrid/namespaces/topics/write', topic) },
    what: topic,
    fix: [line('EventGrid Contributor', topic)],
  },
  {
    name: 'event subscriptions of another resource',
    ...{ code: 'LinkedAuthorizationFailed', message: linked('Microsoft.EventGrid/EventSubscriptions/Write', `${rg}2`) },
    what: `${rg}2`,
    fix: [line('EventGrid EventSubscription Contributor', `${rg}2`)],
  },
  {
    name: 'an action that no role is known for, in a 403 of another code',
    code: 'AuthorizationFailed',
    message: `The client 'c7' does not have authorization to perform action 'Microsoft.Web/sites/join/action' over scope '${rg}/x(1)' or the scope is invalid.`,
    what: `perform Microsoft.Web/sites/join/action at ${rg}/x(1)`,
    fix: [line('<a role that has Microsoft.Web/sites/join/action>', `'${rg}/x(1)'`)],
  },
  {
    name: 'our own event subscription',
    code: 'AuthorizationFailed',
    message: `The client 'c7' does not have authorization to perform action 'Microsoft.EventGrid/eventSubscriptions/write' over scope '${rg.toUpperCase()}/providers/Microsoft.EventGrid/eventSubscriptions/e' or the scope is invalid.`,
    what: `the client may not create event subscriptions at ${rg} `,
    fix: [line('EventGrid EventSubscription Contributor', rg)],
  },
  {
    name: 'nothing that we can read',
    ...{ code: 'LinkedAuthorizationFailed', message: 'no' },
    what: `the client may not create event subscriptions at ${rg} `,
    fix: [line('EventGrid EventSubscription Contributor', rg)],
  },
  {
    name: 'a deny assignment',
    code: 'DenyAssignmentAuthorizationFailed',
    message: `${our}; however, the access is denied because of the deny assignment with name 'Managed app' and Id '5' at scope '${rg}'.`,
    what: 'the deny assignment Managed app forbids it',
    fix: ['have the client excluded'],
  },
  {
    name: 'a linked resource of another tenant',
    code: 'LinkedAuthorizationFailed',
    message: `${our}, however the current tenant 't1' is not authorized to access linked subscription 's2'.`,
    what: 'in subscription s2',
    fix: ['of the same tenant'],
  },
])('gives the remedy for what a 403 names: $name', ({ code, message, what, fix }) => {
  const explained = explain({ status: 403, code, message })
  expect(explained).toMatchObject({ code: 'PERMISSION_DENIED', what: expect.stringContaining(what) })
  const [first = '', ...more] = fix
  expect(explained.fix).toContain(first)
  for (const one of more) expect(explained.fix).toContain(one)
  expect(explained.fix?.match(/^az /gm)?.length ?? 0).toBe(fix.filter((one) => one.startsWith('az ')).length)
})

it.each([
  {
    name: 'a rule of Azure',
    failure: { status: 403, code: 'RequestDisallowedByAzure' },
    expected: { code: 'SUBSCRIPTION_REJECTED', fix: 'change what Azure names' },
  },
  {
    name: 'a page of a proxy',
    failure: { status: 403 },
    expected: { code: 'TIMEOUT', fix: expect.stringContaining('a proxy') },
  },
  {
    name: 'a managed identity without a role',
    failure: { kind: 'operation', code: 'Managed Identity Authorization Error' } as const,
    expected: { code: 'SUBSCRIPTION_REJECTED', fix: expect.stringContaining('Storage Blob Data Contributor') },
  },
])('names no role of the client where $name refuses', ({ failure, expected }) => {
  expect({ fix: undefined, ...explain(failure) }).toMatchObject(expected)
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
  ['passing', { status: 500 }],
  ['passing', { status: 404 }],
  ...(['answerUnread', 'missing', 'lost', 'deadline'] as const).map((kind): [string, Partial<ArmFailure>] => [
    'passing',
    { kind, status: undefined, code: 'UrlValidation' },
  ]),
  ...['internal', 'Conflict', 'ServiceUnavailable', 'ServerBusy', 'ServerTimeout', 'PublisherNotificationError'].map(
    (code): [string, Partial<ArmFailure>] => ['passing', operation(code.replace(/(?<=r)N|(?<=n)E/g, ' $&'))],
  ),
  ...['XInternal', 'AConflict', 'MyServiceBusy', 'ServiceBroken'].map((code): [string, Partial<ArmFailure>] => [
    'rejected',
    operation(code),
  ]),
  ['passing', network()],
  ['passing', token()],
  ['passing', { kind: 'canceled', status: undefined }],
  ['passing', operation('Internal error', 'The operation failed due to an internal server error.')],
  ['passing', operation('Publisher Provider Error', 'status code: Conflict')],
  ['passing', operation(undefined, 'failed without saying why')],
  ['passing', { status: 400, code: 'MessagingGatewayBadRequest' }],
  ['passing', operation('MessagingGatewayBadRequest')],
  ['passing', { status: 403 }],
  ['permission', { status: 403, code: 'Forbidden' }],
  ['permission', { status: 403, code: 'DenyAssignmentAuthorizationFailed' }],
  ['rejected', { status: 403, code: 'AccountIsDisabled' }],
  ['rejected', operation('Managed Identity Authorization Error', 'no role')],
  ...[
    ...['ScopeLocked', 'ReadOnlyDisabledSubscription', 'SubscriptionNotRegistered', 'RequestDisallowedByPolicy'],
    ...['QuotaExceeded', 'QuotaLimitReached', 'LimitExceeded'],
  ].map((code): [string, Partial<ArmFailure>] => ['rejected', { status: 409, code }]),
  ['rejected', { status: 400, code: 'X' }],
  ['rejected', { status: undefined, code: 'X' }],
  ['rejected', { status: 403, code: 'DisallowedX' }],
  ['permission', { status: 403, code: 'XDisallowed' }],
  ['permission', { status: 400, code: 'LinkedAuthorizationFailed' }],
  ['rejected', { status: 400, code: 'AuthorizationFailedX' }],
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
  ['provider', { status: 400, code: 'MissingSubscriptionRegistration' }],
  ['provider', { status: 400, message: 'Please register it', targets: ['x', 'Microsoft.EventGrid'] }],
  ['rejected', { status: 400, message: 'Please register it', targets: ['Microsoft.Storage'] }],
  ['rejected', { status: 400, message: 'x', targets: ['Microsoft.EventGrid'] }],
  ['permission', operation('AuthorizationFailed')],
  ['scope', { status: 404, code: 'SubscriptionNotFound' }],
  ...[
    ...['InvalidSubscriptionId', 'ParentResourceNotFound', 'ResourceGroupNotFound', 'InvalidResourceType'],
    ...['InvalidResourceNamespace', 'NoRegisteredProviderFound', 'MissingApiVersionParameter'],
  ].map((code): [string, Partial<ArmFailure>] => ['scope', { status: 400, code }]),
  ['scope', { status: 404, code: 'Other' }],
  ['credentials', { status: 401 }],
  ['passing', { status: 401, code: 'ExpiredAuthenticationToken' }],
  ['rejected', { status: 400, code: 'ExpiredAuthenticationToken' }],
  ['handshake', { status: 400, code: 'Url validation' }],
  ['handshake', { status: 400, code: 'UrlValidation' }],
  ['rejected', { status: 400, code: 'Bad url validation' }],
  ['handshake', { kind: 'manual', status: undefined }],
  ['handshake', { kind: 'noConsent', status: undefined }],
  ['handshake', operation('X', 'The attempt to validate the provided endpoint https://x failed.')],
])('judges as %s: %j', (verdict, failure) => expect(verdictOf(failed(failure))).toBe(verdict))

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

const webHookSays = 'the event subscription events1 is not provisioned'

it.each<[name: string, failure: Partial<ArmFailure>, over: Partial<FailureContext>, isTold: boolean]>([
  ['an operation that failed', operation('X'), {}, true],
  ['a hand that is awaited', { kind: 'manual' }, {}, true],
  ['a refusal', { code: 'X' }, {}, false],
  ['a refusal of what was Failed', { code: 'X' }, { isFailed: true }, true],
  ['an operation of pull, which has no endpoint', operation('X'), { subscriberEndpoint: '' }, false],
])('tells that nothing is delivered: %s', (_name, failure, over, isTold) => {
  expect(explain(failure, over).what.includes(webHookSays)).toBe(isTold)
})

it('keeps status, code and request id, without secrets', () => {
  const given = { status: 400, code: 'a secret/marked', requestId: 'r query-marked' }
  expect(explain(given).details).toEqual({ status: 400, azureCode: 'a (redacted)', requestId: 'r (redacted)' })
  expect(explain({ kind: 'unexpected', status: undefined }).details).toEqual({})
})

it.each<[name: string, over: Partial<FailureContext>, what: string, fix: RegExp]>([
  ['extension', {}, 'may not create event subscriptions at', /"EventGrid EventSubscription Contributor"/],
  ['system topic', { pathKind: 'systemTopic' }, 'may not create', /"EventGrid Contributor"/],
  ['extension that is read', { isReadOnly: true }, 'may not read event subs', /"EventGrid EventSubscription Reader"/],
  ['topic that is read', { isReadOnly: true, pathKind: 'partnerTopic' }, 'may not read event subs', /"Reader"/],
  ['namespace', { isHostRead: true }, 'may not read the host name of', /^set namespaceEndpoint, or assign/],
])('names the smallest role: %s', (_name, over, what, fix) => {
  expect(explain({ status: 403, code: 'X' }, over)).toMatchObject({
    ...{ code: 'PERMISSION_DENIED', what: expect.stringContaining(what), fix: expect.stringMatching(fix) },
  })
})

const denied = (action: string, scope: string) =>
  `The client 'c7' does not have authorization to perform action '${action}' over scope '${scope}'`

it.each([
  {
    name: 'at a scope that begins alike',
    action: 'Microsoft.EventGrid/eventSubscriptions/read',
    at: `${rg}0`,
    isOwn: false,
  },
  { name: 'at the scope, of something else', action: 'Microsoft.EventGrid/topics/read', at: rg, isOwn: false },
  { name: 'at the scope', action: 'Microsoft.EventGrid/eventSubscriptions/read', at: rg, isOwn: true },
  { name: 'below it', action: 'Microsoft.EventGrid/eventSubscriptions/read', at: `${rg}/x`, isOwn: true },
  { name: 'of a namespace', action: 'Microsoft.EventGrid/namespaces/read', at: rg, isHostRead: true, isOwn: true },
])('takes a right for that of our event subscription or not: $name', ({ action, at, isHostRead = false, isOwn }) => {
  for (const scopeId of [rg, `${rg}//`]) {
    const { what } = explain({ status: 403, code: 'X', message: denied(action, at) }, { scopeId, isHostRead })
    expect(what.includes(`may not perform ${action} at ${at}`)).toBe(!isOwn)
  }
})

it.each<[name: string, failure: Partial<ArmFailure>, expected: object]>([
  [
    'a provider that is not registered',
    { code: 'MissingSubscriptionRegistration' },
    { code: 'PROVIDER_NOT_REGISTERED', fix: expect.stringContaining('az provider register') },
  ],
  ['a token', { status: 401 }, { code: 'CREDENTIALS_REJECTED', fix: expect.stringContaining('tenant') }],
  ['a scope', { status: 404, code: 'X' }, { code: 'SCOPE_NOT_FOUND', fix: expect.stringContaining('scope and') }],
  ['a result that is not known', { kind: 'lost', message: 'x' }, { what: expect.stringMatching(/not known \(x\)$/) }],
  ['a limit', { kind: 'deadline', message: 'too late' }, { code: 'TIMEOUT', what: 'too late', fix: undefined }],
  ['a cancellation', { kind: 'canceled', message: 'cancelled' }, { code: 'TIMEOUT', what: 'cancelled' }],
  ['a failed operation', operation('Conflict'), { what: expect.stringMatching(/^the change .* failed \(Conflict\);/) }],
  ['what is missing', { kind: 'missing', message: 'none', fix: 'create it' }, { what: 'none', fix: 'create it' }],
  ['no token', { kind: 'token', message: 'none' }, { what: 'none', fix: expect.stringContaining('HTTPS_PROXY') }],
  ['an answer that is none', { kind: 'answerUnread' }, { what: expect.stringContaining('cannot be read') }],
  [
    'an answer of a gateway',
    { status: 502, message: 'x' },
    { what: 'Azure Resource Manager answered 502 (x)', fix: expect.stringContaining('HTTPS_PROXY') },
  ],
  [
    'an answer that passes',
    { status: 503, code: 'Busy', message: 'x' },
    { what: 'Azure Resource Manager answered 503 (Busy: x)', fix: undefined },
  ],
  [
    'no answer',
    { kind: 'network', status: undefined, code: 'X' },
    { what: 'no answer from https://management.azure.com (X)' },
  ],
  [
    'no consent',
    { kind: 'noConsent', message: 'no', answer: '200', fix: 'route it' },
    {
      ...{ code: 'HANDSHAKE_FAILED', what: 'no', fix: 'route it' },
      details: { status: 400, endpoint: 'https://app.example.com/api/events?(redacted)', answer: '200' },
    },
  ],
  [
    'no answer to a handshake',
    { kind: 'noConsent', message: 'no' },
    { details: { status: 400, endpoint: 'https://app.example.com/api/events?(redacted)' } },
  ],
  [
    'a hand that is awaited',
    { kind: 'manual' },
    { code: 'HANDSHAKE_FAILED', fix: expect.stringContaining('route /api/events to handshakePort') },
  ],
])('explains %s', (_name, failure, expected) => {
  expect({ fix: undefined, ...explain(failure) }).toMatchObject(expected)
})

it('names the field of a namespace topic that is not there', () => {
  const over = { scopeId: `${rg}/providers/Microsoft.EventGrid/namespaces/n/topics/t` }
  expect(explain({ status: 404, code: 'X' }, over).fix).toContain('check namespaceTopic')
})

it.each([
  { said: answered('OPTIONS', 'Unknown'), details: { answer: 'Unknown' } },
  { said: answered('post', 'NotFound'), details: { answer: 'NotFound' } },
])('keeps what an endpoint answered to a handshake: $details.answer', ({ said, details }) => {
  expect(explainFailure(handshake(said), context).details).toMatchObject(details)
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
