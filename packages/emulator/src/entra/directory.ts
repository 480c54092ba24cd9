/** Which tenants, applications, Azure subscriptions and roles there are, and what a new configuration changes in them. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { suggestName } from '../../../../src/support/text/nearest-name.ts'
import { type Client, type DeclaredSubscription, type RoleAssignment, sameName } from '../model/resources/resource.ts'
import type { Store } from '../model/resources/store.ts'
import { type ActionRequest, allows, builtInRoles, findRole, type Role } from './roles.ts'

export type RegistrationState = 'NotRegistered' | 'Unregistered' | 'Registering' | 'Registered' | 'Unregistering'

export interface AzureSubscription {
  readonly id: string
  readonly tenantId: string
  registration: RegistrationState
}

export interface DeclaredDirectory {
  readonly clients: readonly Client[]
  readonly subscriptions: readonly DeclaredSubscription[]
}

export interface RoleRequest {
  readonly principalId: string
  readonly role: string
  readonly scope: string
  /** The resource id of the assignment. @default a new one */
  readonly id?: string
}

export type Directory = ReturnType<typeof createDirectory>

/** Tenants, applications, Azure subscriptions with their resource groups, and role assignments. */
export function createDirectory(options: DeclaredDirectory, store: Pick<Store, 'groups' | 'roleAssignments'>) {
  const { groups } = store
  const subscriptions = new Map<string, AzureSubscription>()
  let declared: DeclaredDirectory = { clients: [], subscriptions: [] }
  let assignments: RoleAssignment[] = [...store.roleAssignments.all()]

  function declareSubscriptions(wanted: readonly DeclaredSubscription[]): void {
    for (const { id } of declared.subscriptions) {
      if (wanted.some((one) => sameName(one.id, id))) continue
      subscriptions.delete(id.toLowerCase())
    }
    for (const { id, tenantId, registered } of wanted) {
      const former = declared.subscriptions.find((one) => sameName(one.id, id))
      const existing = subscriptions.get(id.toLowerCase())
      const registration = registered ? 'Registered' : 'NotRegistered'
      subscriptions.set(id.toLowerCase(), {
        id,
        tenantId,
        registration: former?.registered === registered ? (existing?.registration ?? registration) : registration,
      })
    }
  }

  function declareRoles(wanted: readonly Client[]): void {
    const grants = grantsOf(wanted)
    const former = grantsOf(declared.clients)
    const isLeft = (grant: RoleRequest) => !grants.some((one) => isDeepStrictEqual(one, grant))
    // What was assigned through Resource Manager stays.
    for (const grant of former.filter(isLeft)) remove((one) => isOf(one, grant) && !store.roleAssignments.get(one.id))
    for (const grant of grants) if (!former.some((one) => isDeepStrictEqual(one, grant))) directory.assignRole(grant)
  }

  function remove(isMeant: (assignment: RoleAssignment) => boolean): readonly RoleAssignment[] {
    const removed = assignments.filter(isMeant)
    for (const { id } of removed) {
      const stored = store.roleAssignments.get(id)
      if (stored) store.roleAssignments.delete(stored)
    }
    assignments = assignments.filter((assignment) => !removed.includes(assignment))
    return removed
  }

  const directory = {
    /** Forgets Azure subscriptions and roles, those too that were made at runtime: what is declared next is all. */
    forget(): void {
      subscriptions.clear()
      remove(() => true)
      declared = { clients: [], subscriptions: [] }
    },
    /** The Azure subscriptions of the options. */
    get declaredSubscriptions(): readonly DeclaredSubscription[] {
      return declared.subscriptions
    },
    get clients(): readonly Client[] {
      return declared.clients
    },
    /**
     * Applies the clients, their roles and the Azure subscriptions of the options. Changes at runtime stay where the
     * options did not change.
     */
    declare(wanted: DeclaredDirectory): void {
      declareSubscriptions(wanted.subscriptions)
      declareRoles(wanted.clients)
      declared = wanted
    },
    hasTenant: (tenantId: string): boolean =>
      [...declared.clients, ...subscriptions.values()].some((one) => sameName(one.tenantId, tenantId)),
    client: (tenantId: string, clientId: string): Client | undefined =>
      declared.clients.find((client) => sameName(client.tenantId, tenantId) && sameName(client.clientId, clientId)),
    azureSubscription: (id: string): AzureSubscription | undefined => subscriptions.get(id.toLowerCase()),
    azureSubscriptions: (): readonly AzureSubscription[] => [...subscriptions.values()],
    groups,
    roleAssignments: (): readonly RoleAssignment[] => assignments,
    /** Assigns a role, unless it is assigned already. Throws a RangeError for an unknown role. */
    assignRole({ principalId, role, scope, id }: RoleRequest): RoleAssignment {
      const roleId = knownRole(role).id
      const held = assignments.find(
        (one) => sameName(one.principalId, principalId) && one.roleId === roleId && sameName(one.scope, scope),
      )
      if (held) return held
      const newId = `${scope === '/' ? '' : scope}/providers/Microsoft.Authorization/roleAssignments/${randomUUID()}`
      const made = { id: id ?? newId, principalId, roleId, scope }
      // Those of options and of code come again by themselves.
      if (id !== undefined) store.roleAssignments.put(made)
      assignments = [...assignments, made]
      return made
    },
    /** Removes a role; without `role` every role; without `scope` at every scope. Throws a RangeError for an unknown role. */
    removeRole({ principalId, role, scope }: Partial<RoleRequest> & Pick<RoleRequest, 'principalId'>): void {
      remove((assignment) => isOf(assignment, { principalId, role, scope }))
    },
    /** Removes an assignment by its resource id. */
    removeAssignment(id: string): RoleAssignment | undefined {
      return remove((assignment) => sameName(assignment.id, id))[0]
    },
    allows: (asked: ActionRequest): boolean => allows(assignments, asked),
  }
  directory.declare(options)
  return directory
}

type RoleFilter = { readonly [Part in 'principalId' | 'role' | 'scope']?: RoleRequest[Part] | undefined }

/** Whether an assignment is of this principal; of this role, and at this scope, where these are given. */
function isOf(assignment: RoleAssignment, { principalId, role, scope }: RoleFilter): boolean {
  return (
    sameName(assignment.principalId, principalId) &&
    (scope === undefined || sameName(assignment.scope, scope)) &&
    (role === undefined || assignment.roleId === knownRole(role).id)
  )
}

function knownRole(role: string): Role {
  const found = findRole(role)
  if (found) return found
  const names = builtInRoles.map(({ name }) => name)
  throw new RangeError(`the emulator does not know the role '${role.slice(0, 200)}'; ${suggestName(role, names)}`)
}

function grantsOf(clients: readonly Client[]) {
  return clients.flatMap(({ objectId, roles }) =>
    roles.map(({ role, scope }) => ({ principalId: objectId, role, scope })),
  )
}
