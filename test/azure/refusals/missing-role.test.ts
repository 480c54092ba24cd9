import { expect, it } from 'vitest'
import { readDenial, rightsRemedy, roleWith } from '../../../src/azure/refusals/remedies.ts'

const sentence = (actions: string, scopes: string) =>
  `The client 'c-7' with object id '9' does not have authorization to perform action '${actions}' over scope '${scopes}' or the scope is invalid.`

const right = (action: string, scope: string) => ({ action, scope })
const client = 'c-7'
const deny = "because of the deny assignment with name 'Managed app' and Id '5'"
const foreign = "the current tenant 't1' is not authorized to access linked subscription 's2'."

it.each<[name: string, message: string, denial: object]>([
  ['nothing', 'no', { rights: [] }],
  ['one right', sentence('A.B/c/read', '/s/1'), { client, rights: [right('A.B/c/read', '/s/1')] }],
  [
    'rights that belong together by their order',
    sentence('A/b; A/c', '/s/1,/s/2'),
    { client, rights: [right('A/b', '/s/1'), right('A/c', '/s/2')] },
  ],
  [
    'each right at each scope, where their numbers differ',
    sentence('A/b,A/c', '/s/1'),
    { client, rights: [right('A/b', '/s/1'), right('A/c', '/s/1')] },
  ],
  ['no right in what is no action', sentence('A b/c,/A/b,A/b!,word', '/s/1'), { client, rights: [] }],
  ['no right at what is no scope', sentence('A/b', 's/1,/s 2,/s"3,x/s/4,/'), { client, rights: [] }],
  ['a deny assignment', deny, { rights: [], deniedBy: 'Managed app' }],
  ['a subscription of another tenant', foreign, { rights: [], foreignSubscription: 's2' }],
])('a refusal names %s', (_name, message, denial) => {
  expect(readDenial(message)).toStrictEqual(denial)
})

it.each([
  { action: 'Microsoft.EventGrid/eventSubscriptions/write', role: 'EventGrid EventSubscription Contributor' },
  { action: 'Microsoft.EventGrid/topics/write', role: 'EventGrid Contributor' },
  { action: 'Microsoft.ManagedIdentity/userAssignedIdentities/read', role: 'Managed Identity Operator' },
  { action: 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action', role: 'Managed Identity Operator' },
  { action: 'Microsoft.Storage/storageAccounts/write', role: 'Storage Account Contributor' },
  ...[
    'Microsoft.ManagedIdentity/userAssignedIdentities/write',
    'Microsoft.ManagedIdentity/userAssignedIdentities/readMore',
    'X/Microsoft.Storage/storageAccounts/write',
    'X/Microsoft.EventGrid/topics/write',
    'X/Microsoft.EventGrid/eventSubscriptions/write',
    'X/Microsoft.ManagedIdentity/userAssignedIdentities/read',
  ].map((action) => ({ action, role: `<a role that has ${action}>` })),
])('the smallest role with $action is $role', ({ action, role }) => {
  expect(roleWith(action)).toBe(role)
})

it('gives one line for rights of one role at one scope, and says whom where nobody is known', () => {
  const rights = ['write', 'delete'].map((verb) => ({ action: `Microsoft.EventGrid/topics/${verb}`, scope: '/s(1)' }))
  expect(rightsRemedy(rights, undefined).split('\n').slice(1)).toEqual([
    `az role assignment create --assignee <clientId> --role "EventGrid Contributor" --scope '/s(1)'`,
  ])
})
