import { randomUUID } from 'node:crypto'
import type { Client, ResolvedOptions } from './options.ts'
import { allows, findRole, type RoleAssignment } from './roles.ts'

/** Registration of the provider Microsoft.EventGrid in an Azure subscription. */
export type RegistrationState = 'NotRegistered' | 'Unregistered' | 'Registering' | 'Registered' | 'Unregistering'

/** An Azure subscription with its resource groups. */
export interface AzureSubscription {
  readonly id: string
  readonly tenantId: string
  registration: RegistrationState
  /** By lower-case name, the name as it was given. */
  readonly resourceGroups: Map<string, string>
}

/** Who there is, what they may do, and where: tenants, applications, Azure subscriptions and role assignments. */
export interface Directory {
  readonly clients: readonly Client[]
  hasTenant(tenantId: string): boolean
  client(tenantId: string, clientId: string): Client | undefined
  azureSubscription(id: string): AzureSubscription | undefined
  azureSubscriptions(): readonly AzureSubscription[]
  roleAssignments(): readonly RoleAssignment[]
  /** Gives a role, or keeps it where it is held already. Throws a RangeError for an unknown role. */
  assignRole(grant: {
    readonly principalId: string
    readonly role: string
    readonly scope: string
    readonly id?: string
  }): RoleAssignment
  /** Takes a role away; with no role, every role; with no scope, at every scope. */
  removeRole(grant: { readonly principalId: string; readonly role?: string; readonly scope?: string }): void
  /** Takes an assignment away by its resource id. */
  removeAssignment(id: string): RoleAssignment | undefined
  /** Whether a principal may do this. `data`: an action on data, such as publishing. */
  allows(asked: {
    readonly principalId: string
    readonly action: string
    readonly scope: string
    readonly data?: boolean
  }): boolean
}

/** The directory as the options describe it. */
export function createDirectory(options: ResolvedOptions): Directory {
  const subscriptions = new Map<string, AzureSubscription>()
  for (const { id, tenantId, registered, resourceGroups } of options.subscriptions) {
    const groups = new Map(resourceGroups.map((name) => [name.toLowerCase(), name]))
    const registration = registered ? 'Registered' : 'NotRegistered'
    subscriptions.set(id.toLowerCase(), { id, tenantId, registration, resourceGroups: groups })
  }
  const tenants = new Set([...options.clients, ...options.subscriptions].map(({ tenantId }) => tenantId.toLowerCase()))
  let assignments: RoleAssignment[] = []

  const directory: Directory = {
    clients: options.clients,
    hasTenant: (tenantId) => tenants.has(tenantId.toLowerCase()),
    client: (tenantId, clientId) =>
      options.clients.find(
        (client) =>
          client.tenantId.toLowerCase() === tenantId.toLowerCase() &&
          client.clientId.toLowerCase() === clientId.toLowerCase(),
      ),
    azureSubscription: (id) => subscriptions.get(id.toLowerCase()),
    azureSubscriptions: () => [...subscriptions.values()],
    roleAssignments: () => assignments,
    assignRole({ principalId, role, scope, id }) {
      const found = findRole(role)
      if (!found) throw new RangeError(`'${role}' is no role that the emulator knows`)
      const held = assignments.find(
        (assignment) =>
          same(assignment.principalId, principalId) && assignment.roleId === found.id && same(assignment.scope, scope),
      )
      if (held) return held
      const base = scope === '/' ? '' : scope
      const made = {
        id: id ?? `${base}/providers/Microsoft.Authorization/roleAssignments/${randomUUID()}`,
        principalId,
        roleId: found.id,
        scope,
      }
      assignments = [...assignments, made]
      return made
    },
    removeRole({ principalId, role, scope }) {
      const roleId = role === undefined ? undefined : findRole(role)?.id
      assignments = assignments.filter(
        (assignment) =>
          !same(assignment.principalId, principalId) ||
          (scope !== undefined && !same(assignment.scope, scope)) ||
          (role !== undefined && assignment.roleId !== roleId),
      )
    },
    removeAssignment(id) {
      const found = assignments.find((assignment) => same(assignment.id, id))
      assignments = assignments.filter((assignment) => assignment !== found)
      return found
    },
    allows: (asked) => allows(assignments, asked),
  }
  for (const client of options.clients) {
    for (const { role, scope } of client.roles) directory.assignRole({ principalId: client.objectId, role, scope })
  }
  return directory
}

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
