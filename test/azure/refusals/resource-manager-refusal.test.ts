import { expect, it } from 'vitest'
import { type ArmFailure, readFailure } from '../../../src/azure/read-failure.ts'
import { readDenial } from '../../../src/azure/refusals/remedies.ts'
import {
  explainFailure,
  explainHandshakeAnswer,
  type FailureContext,
  meaningOf,
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
const hiddenEndpoint = 'https://app.example.com/api/events?(redacted)'

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

it.each<{ name: string; code?: string; message: string; what: string; fix: readonly string[] }>([
  {
    name: 'the storage account of dead letters',
    message: linked(storageWrite, account),
    what: `perform ${storageWrite} at ${account}`,
    fix: [line('Storage Account Contributor', account)],
  },
  {
    name: 'a user assigned identity, in the older form of the sentence',
    message: linked(assign, user, '.').replace('action(s)', 'action').replace("scope(s) '", "scope(s)'"),
    what: `perform ${assign} at ${user}`,
    fix: [line('Managed Identity Operator', user)],
  },
  {
    name: 'two linked resources, each with its action',
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
    message: linked(assign, `${user}, ${user}2`),
    what: `perform ${assign} at ${user}2`,
    fix: [line('Managed Identity Operator', user), line('Managed Identity Operator', `${user}2`)],
  },
  {
    name: 'the namespace topic that events are forwarded to',
    message: linked('Microsoft.EventGrid/namespaces/topics/write', topic),
    what: topic,
    fix: [line('EventGrid Contributor', topic)],
  },
  {
    name: 'event subscriptions of another resource',
    message: linked('Microsoft.EventGrid/EventSubscriptions/Write', `${rg}2`),
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
    name: 'a linked resource, in a sentence that we cannot read',
    message: `${our}; however, it lacks "${storageWrite}" on the linked scope "${account}".`,
    what: `the client lacks a right at a linked resource (LinkedAuthorizationFailed: ${our}; however, it lacks "${storageWrite}"`,
    fix: ['a role with the action that Azure names at the resource that Azure names'],
  },
  {
    name: 'event subscriptions at our own scope, as a linked resource',
    message: linked('Microsoft.EventGrid/eventSubscriptions/write', `${rg}/providers/Microsoft.EventGrid/topics/t`),
    what: `perform Microsoft.EventGrid/eventSubscriptions/write at ${rg}/providers/Microsoft.EventGrid/topics/t`,
    fix: [line('EventGrid EventSubscription Contributor', `${rg}/providers/Microsoft.EventGrid/topics/t`)],
  },
  {
    name: 'a linked resource of a subscription that is not there',
    message: `${our}; however, the linked subscription 's2' was not found. `,
    what: 'in subscription s2',
    fix: ['of the same tenant'],
  },
  {
    name: 'nothing that we can read',
    code: 'AuthorizationFailed',
    message: 'no',
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
    message: `${our}, however the current tenant 't1' is not authorized to access linked subscription 's2'.`,
    what: 'in subscription s2',
    fix: ['of the same tenant'],
  },
])('gives the remedy for what a 403 names: $name', ({ code = 'LinkedAuthorizationFailed', message, what, fix }) => {
  const explained = explain({ status: 403, code, message })
  expect(explained).toMatchObject({ code: 'PERMISSION_DENIED', what: expect.stringContaining(what) })
  for (const one of fix) expect(explained.fix).toContain(one)
  expect(explained.fix?.match(/^az /gm)?.length ?? 0).toBe(fix.filter((one) => one.startsWith('az ')).length)
})

const answered = (method: string, code: string) => `Http ${method} request failed with response code ${code}.`
const restart = 'delete its pod so that it restarts; afterwards the same request returns 200'

it.each<[said: string, what: string, fix: string, answer: string | undefined]>([
  [answered('OPTIONS', 'ServiceUnavailable'), 'OPTIONS was answered Serv', restart, 'ServiceUnavailable'],
  [answered('OPTIONS', 'Unknown'), 'OPTIONS got no HTTP answer', 'not self-signed', 'Unknown'],
  [answered('post', 'NotFound'), 'POST was answered NotFound', 'route /api/events', 'NotFound'],
  ['Something new.', 'Something new.', 'reachable from the internet', undefined],
])('says of a failed handshake which URL, what it answered and what to do: %s', (said, what, fix, answer) => {
  const message = `Webhook validation handshake failed for https://app.example.com/api/events. ${said}`
  const explained = explain({ kind: 'operation', status: undefined, code: 'Url validation', message })
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
const operation = (code?: string, message = '') => ({ kind: 'operation', code, message }) as const

type Judged = [code: string, failure: Partial<ArmFailure>]
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
  ...each('TIMEOUT', ['answerUnread', 'missing', 'lost', 'deadline'] as const, (kind) => ({
    kind,
    code: 'UrlValidation',
  })),
  ...each('TIMEOUT', ['internal', 'Conflict', 'ServiceUnavailable', 'ServerBusy', 'ServerTimeout'], operation),
  ['TIMEOUT', operation('Publisher Notification Error')],
  ...each('SUBSCRIPTION_REJECTED', ['XInternal', 'AConflict', 'MyServiceBusy', 'ServiceBroken'], operation),
  ['TIMEOUT', network()],
  ['TIMEOUT', token()],
  ['TIMEOUT', { kind: 'canceled', status: undefined }],
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
  ['SUBSCRIPTION_REJECTED', { status: undefined, code: 'X' }],
  ['SUBSCRIPTION_REJECTED', { status: 403, code: 'DisallowedX' }],
  ['PERMISSION_DENIED', { status: 403, code: 'XDisallowed' }],
  ['PERMISSION_DENIED', { status: 400, code: 'LinkedAuthorizationFailed' }],
  ['SUBSCRIPTION_REJECTED', { status: 400, code: 'AuthorizationFailedX' }],
  ['SUBSCRIPTION_REJECTED', { status: 409, message: 'Quota limit reached' }],
  ['SUBSCRIPTION_REJECTED', { status: 403, code: 'RequestDisallowedByPolicy' }],
  ['SUBSCRIPTION_REJECTED', { kind: 'unexpected', status: undefined, message: 'a bug' }],
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
  ['PROVIDER_NOT_REGISTERED', { status: 400, message: 'Please register it', targets: ['x', 'Microsoft.EventGrid'] }],
  ['SUBSCRIPTION_REJECTED', { status: 400, message: 'Please register it', targets: ['Microsoft.Storage'] }],
  ['SUBSCRIPTION_REJECTED', { status: 400, message: 'x', targets: ['Microsoft.EventGrid'] }],
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
  ['HANDSHAKE_FAILED', { kind: 'manual', status: undefined }],
  ['HANDSHAKE_FAILED', { kind: 'noConsent', status: undefined }],
  ['HANDSHAKE_FAILED', operation('X', 'The attempt to validate the provided endpoint https://x failed.')],
])('judges as %s: %j', (code, failure) => expect(meaningOf(failed(failure))).toBe(code))

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
  const given = { status: 400, code: 'a secret/marked', requestId: 'an-id' }
  expect(explain(given).details).toEqual({ status: 400, azureCode: 'a (redacted)', requestId: 'an-id' })
  expect(explain({ kind: 'unexpected', status: undefined }).details).toEqual({})
})

it.each<[name: string, over: Partial<FailureContext>, what: string, fix: RegExp]>([
  ['extension', {}, 'may not create event subscriptions at', /--assignee c1 --role "EventGrid EventSubscription Contr/],
  ['system topic', { pathKind: 'systemTopic' }, 'may not create', /"EventGrid Contributor"/],
  ['extension that is read', { isReadOnly: true }, 'may not read event subs', /"EventGrid EventSubscription Reader"/],
  ['topic that is read', { isReadOnly: true, pathKind: 'partnerTopic' }, 'may not read event subs', /"Reader"/],
  ['namespace', { isHostRead: true }, 'may not read the host name of', /^set namespaceEndpoint, or assign/],
  ['the client that ARM names where metadata names none', { clientId: undefined }, '', /--assignee 4b-x --role/],
  ['a scope that a shell would not take', { scopeId: '/rg(1)' }, 'may not create', /--scope '\/rg\(1\)'/],
])('names the smallest role, in a line to paste: %s', (_name, over, what, fix) => {
  const explained = explain({ status: 403, code: 'X', message: "The client '4b-x' may not" }, over)
  expect(explained).toMatchObject({ code: 'PERMISSION_DENIED', what: expect.stringContaining(what) })
  expect(explained.fix).toMatch(fix)
  expect(explained.fix?.split('\n')[1]).toMatch(/^az role assignment create /)
})

const denied = (action: string, scope: string) =>
  `The client 'c7' does not have authorization to perform action '${action}' over scope '${scope}'`

it.each([
  { name: 'at a scope that begins alike', action: 'eventSubscriptions/read', at: `${rg}0`, isOwn: false },
  { name: 'at the scope, of something else', action: 'topics/read', at: rg, isOwn: false },
  { name: 'at the scope', action: 'eventSubscriptions/read', at: rg, isOwn: true },
  { name: 'below it', action: 'eventSubscriptions/read', at: `${rg}/x`, isOwn: true },
  { name: 'of a namespace', action: 'namespaces/read', at: rg, isHostRead: true, isOwn: true },
])('takes a right for that of our event subscription or not: $name', ({ action, at, isHostRead = false, isOwn }) => {
  const message = denied(`Microsoft.EventGrid/${action}`, at)
  for (const scopeId of [rg, `${rg}//`]) {
    const { what } = explain({ status: 403, code: 'X', message }, { scopeId, isHostRead })
    expect(what.includes(`may not perform Microsoft.EventGrid/${action} at ${at}`)).toBe(!isOwn)
  }
})

const has = (text: string) => expect.stringContaining(text)
const consent = { kind: 'noConsent', message: 'no' } as const

it.each<[name: string, failure: Partial<ArmFailure>, expected: object, over?: Partial<FailureContext>]>([
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
    { kind: 'operation', code: 'Managed Identity Authorization Error' },
    { code: 'SUBSCRIPTION_REJECTED', fix: has('Storage Blob Data Contributor') },
  ],
  ['a result that is not known', { kind: 'lost', message: 'x' }, { what: expect.stringMatching(/not known \(x\)$/) }],
  ['a limit', { kind: 'deadline', message: 'too late' }, { code: 'TIMEOUT', what: 'too late', fix: undefined }],
  ['a cancellation', { kind: 'canceled', message: 'cancelled' }, { code: 'TIMEOUT', what: 'cancelled' }],
  ['a failed operation', operation('Conflict'), { what: expect.stringMatching(/^the change .* failed \(Conflict\);/) }],
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
