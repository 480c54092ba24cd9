/** Which built-in roles there are, and what each allows. */
import { covers, type RoleAssignment, sameName } from '../model/resources/resource.ts'

/** A role: its names and the actions that it allows, as Azure's list of built-in roles has them. */
export interface Role {
  readonly id: string
  readonly name: string
  readonly actions: readonly string[]
  readonly notActions?: readonly string[]
  readonly dataActions?: readonly string[]
}

const readRoles = 'Microsoft.Authorization/*/read'
const readGroups = 'Microsoft.Resources/subscriptions/resourceGroups/read'
const readElsewhere = [
  'Microsoft.EventGrid/topicTypes/eventSubscriptions/read',
  'Microsoft.EventGrid/locations/eventSubscriptions/read',
  'Microsoft.EventGrid/locations/topicTypes/eventSubscriptions/read',
]

/** The built-in roles that matter to Event Grid (Azure RBAC: built-in-roles). */
export const builtInRoles: readonly Role[] = [
  {
    id: '428e0ff0-5e57-4d9c-a221-2c70d0e0a443',
    name: 'EventGrid EventSubscription Contributor',
    actions: [readRoles, 'Microsoft.EventGrid/eventSubscriptions/*', ...readElsewhere, readGroups],
  },
  {
    id: '2414bbcf-6497-4faf-8c65-045460748405',
    name: 'EventGrid EventSubscription Reader',
    actions: [readRoles, 'Microsoft.EventGrid/eventSubscriptions/read', ...readElsewhere, readGroups],
  },
  {
    id: '1e241071-0855-49ea-94dc-649edcd759de',
    name: 'EventGrid Contributor',
    actions: [readRoles, 'Microsoft.EventGrid/*', readGroups],
  },
  {
    id: 'd5a91429-5739-47e2-a06b-3470a27159e7',
    name: 'EventGrid Data Sender',
    actions: [readRoles, 'Microsoft.EventGrid/topics/read', 'Microsoft.EventGrid/domains/read', readGroups],
    dataActions: ['Microsoft.EventGrid/events/send/action'],
  },
  {
    id: '78cbd9e7-9798-4e2e-9b5a-547d9ebb31fb',
    name: 'EventGrid Data Receiver',
    actions: ['Microsoft.EventGrid/namespaces/read', readGroups],
    dataActions: ['Microsoft.EventGrid/events/receive/action'],
  },
  {
    id: '1d8c3fe3-8864-474b-8749-01e3783e8157',
    name: 'EventGrid Data Contributor',
    actions: ['Microsoft.EventGrid/namespaces/read', readGroups],
    dataActions: ['Microsoft.EventGrid/events/receive/action', 'Microsoft.EventGrid/events/send/action'],
  },
  { id: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635', name: 'Owner', actions: ['*'] },
  {
    id: 'b24988ac-6180-42a0-ab88-20f7382dd24c',
    name: 'Contributor',
    actions: ['*'],
    notActions: ['Microsoft.Authorization/*/Delete', 'Microsoft.Authorization/*/Write'],
  },
  { id: 'acdd72a7-3385-48ef-bd42-f606fba81ae7', name: 'Reader', actions: ['*/read'] },
  {
    id: '18d7d88d-d35e-4fb5-a5c3-7773c20a72d9',
    name: 'User Access Administrator',
    actions: ['*/read', 'Microsoft.Authorization/*'],
  },
]

/** Finds a role by name, id or resource id, in any letter case. */
export function findRole(nameOrId: string): Role | undefined {
  const wanted = nameOrId.toLowerCase()
  return builtInRoles.find(({ id, name }) => name.toLowerCase() === wanted || wanted.split('/').at(-1) === id)
}

/** The first built-in role that allows this: for reading too it is one that may write, which a caller wants next. */
export function roleThatAllows(asked: Pick<ActionRequest, 'action' | 'data'>): string {
  return builtInRoles.find((role) => allowsAction(role, asked))?.name ?? 'Owner'
}

export interface ActionRequest {
  readonly principalId: string
  readonly action: string
  readonly scope: string
  /** Whether it is an action on data, such as publishing. */
  readonly data?: boolean
}

/**
 * Whether the assignments allow a principal this action at a scope. Control-plane and data actions are separate, as in
 * Azure.
 */
export function allows(assignments: readonly RoleAssignment[], asked: ActionRequest): boolean {
  return rolesAt(assignments, asked.principalId, asked.scope).some((role) => allowsAction(role, asked))
}

function allowsAction(
  { actions, dataActions = [], notActions = [] }: Role,
  { action, data }: Pick<ActionRequest, 'action' | 'data'>,
): boolean {
  return matchesAny(data ? dataActions : actions, action) && !matchesAny(notActions, action)
}

/** The roles that a principal holds at a scope, or above it. */
export function rolesAt(assignments: readonly RoleAssignment[], principalId: string, scope: string): readonly Role[] {
  return assignments.flatMap((one) => {
    const isHeld = sameName(one.principalId, principalId) && covers(one.scope, scope)
    return (isHeld && findRole(one.roleId)) || []
  })
}

function matchesAny(patterns: readonly string[], action: string): boolean {
  return patterns.some((pattern) => {
    // Built-in roles have at most one star.
    const [head = '', tail] = pattern.toLowerCase().split('*')
    const text = action.toLowerCase()
    if (tail === undefined) return text === head
    return text.length >= head.length + tail.length && text.startsWith(head) && text.endsWith(tail)
  })
}
