import { expect, it } from 'vitest'
import { type ArmFailure, readFailure } from '../../../src/azure/read-failure.ts'
import { readDenial } from '../../../src/azure/refusals/missing-role.ts'
import { explainFailure, type FailureContext, verdictOf } from '../../../src/azure/refusals/resource-manager-refusal.ts'

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
  expect(explain(failure)).toMatchObject(expected)
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
  ['passing', { status: 400, code: 'MessagingGatewayBadRequest' }],
  ['passing', operation('MessagingGatewayBadRequest')],
  ['passing', { status: 403 }],
  ['permission', { status: 403, code: 'Forbidden' }],
  ['permission', { status: 403, code: 'DenyAssignmentAuthorizationFailed' }],
  ['rejected', { status: 403, code: 'AccountIsDisabled' }],
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
