import { expect, it } from 'vitest'
import { readDenial, rightsRemedy, roleWith } from '../../../src/azure/refusals/missing-role.ts'

const sentence = (actions: string, scopes: string) =>
  `The client 'c-7' with object id '9' does not have authorization to perform action '${actions}' over scope '${scopes}' or the scope is invalid.`

it.each<{ name: string; message: string; denial: object }>([
  { name: 'nothing', message: 'no', denial: { rights: [] } },
  {
    name: 'one right',
    message: sentence('A.B/c/read', '/s/1'),
    denial: { client: 'c-7', rights: [{ action: 'A.B/c/read', scope: '/s/1' }] },
  },
  {
    name: 'rights that belong together by their order',
    message: sentence('A/b; A/c', '/s/1,/s/2'),
    denial: {
      client: 'c-7',
      rights: [
        { action: 'A/b', scope: '/s/1' },
        { action: 'A/c', scope: '/s/2' },
      ],
    },
  },
  {
    name: 'each right at each scope, where their numbers differ',
    message: sentence('A/b,A/c', '/s/1'),
    denial: {
      client: 'c-7',
      rights: [
        { action: 'A/b', scope: '/s/1' },
        { action: 'A/c', scope: '/s/1' },
      ],
    },
  },
  {
    name: 'no right in what is no action',
    message: sentence('A b/c,/A/b,A/b!,word', '/s/1'),
    denial: { client: 'c-7', rights: [] },
  },
  {
    name: 'no right at what is no scope',
    message: sentence('A/b', 's/1,/s 2,/s"3,x/s/4,/'),
    denial: { client: 'c-7', rights: [] },
  },
  {
    name: 'a deny assignment',
    message: "because of the deny assignment with name 'Managed app' and Id '5'",
    denial: { rights: [], deniedBy: 'Managed app' },
  },
  {
    name: 'a subscription of another tenant',
    message: "the current tenant 't1' is not authorized to access linked subscription 's2'.",
    denial: { rights: [], foreignSubscription: 's2' },
  },
])('a refusal names $name', ({ message, denial }) => {
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
