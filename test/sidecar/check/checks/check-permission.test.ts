import { expect, it } from 'vitest'
import { isAllowed, readPermissions } from '../../../../src/sidecar/check/checks/check-azure.ts'

const write = 'Microsoft.EventGrid/eventSubscriptions/write'

it.each<[name: string, is: boolean, ...roles: unknown[]]>([
  ['the action itself, in any letter case', true, { actions: ['microsoft.eventgrid/EVENTSUBSCRIPTIONS/write'] }],
  ['a star at the end', true, { actions: ['Microsoft.EventGrid/*'] }],
  ['a star alone', true, { actions: ['*'] }],
  ['stars in the middle', true, { actions: ['Microsoft.*/*/write'] }],
  ['reading', false, { actions: ['*/read'] }],
  ['a role that excepts it', false, { actions: ['*'], notActions: ['Microsoft.EventGrid/*/Write'] }],
  ['another role that does not', true, { actions: ['*'], notActions: ['*/write'] }, { actions: [write] }],
  ['actions on data', false, { dataActions: [write] }],
  ['nonsense', false, null, 7, { actions: 'x' }],
])('counts as permission to write or not: %s', (_name, is, ...roles) => {
  expect(isAllowed(readPermissions(roles), write)).toBe(is)
})
