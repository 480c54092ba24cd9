/** What Resource Manager says of roles: what a caller may do at a scope, which roles there are, and who has them. */
import { z } from 'zod'
import type { AzureSubscription } from '../../entra/directory.ts'
import { builtInRoles, findRole, type Role, rolesAt } from '../../entra/roles.ts'
import { covers, type RoleAssignment, sameName } from '../../model/resources/resource.ts'
import { type ArmAnswer, type ArmCall, type ArmResources, jsonContent, requireAccess } from './call.ts'
import { armErrors } from './errors.ts'
import type { TargetOf } from './path.ts'
import { answerResource, writeStatus } from './resource-answers.ts'

const assignmentBody = z.object({
  properties: z.object({ roleDefinitionId: z.string().min(1), principalId: z.string().min(1) }),
})

const verbs = new Map(Object.entries({ GET: 'read', PUT: 'write', DELETE: 'delete' }))

/** What the caller may do at a scope: an entry for each role that it holds there (Azure: permissions, list). */
export function answerPermissions(
  resources: ArmResources,
  call: ArmCall,
  { scope }: TargetOf<'permissions'>,
): ArmAnswer {
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  requireAccess(resources, call, 'Microsoft.Authorization/permissions/read', scope)
  const roles = rolesAt(resources.directory.roleAssignments(), call.caller.objectId, scope)
  return { status: 200, body: { value: roles.map(permissionsOf) } }
}

/** The built-in roles: all, the one of `$filter=roleName eq '...'`, or the one with an id. */
export function answerRoleDefinitions(
  resources: ArmResources,
  call: ArmCall,
  { scope, name }: TargetOf<'roleDefinitions'>,
): ArmAnswer {
  // Built-in roles belong to no scope, so everybody may read them there.
  if (scope !== '/') requireAccess(resources, call, 'Microsoft.Authorization/roleDefinitions/read', scope)
  if (call.method === 'PUT' || call.method === 'DELETE') throw armErrors.notSupported('role definitions of your own')
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  if (name !== undefined) {
    const role = builtInRoles.find(({ id }) => id === name.toLowerCase())
    if (!role) throw armErrors.roleDefinitionNotFound(name)
    return { status: 200, body: viewRole(role, scope) }
  }
  const wanted = /roleName\s+eq\s+'([^']*)'/i.exec(call.query.get('$filter') ?? '')?.[1]?.toLowerCase()
  const found = builtInRoles.filter((role) => wanted === undefined || role.name.toLowerCase() === wanted)
  return { status: 200, body: { value: found.map((role) => viewRole(role, scope)) } }
}

const permissionsOf = ({ actions, notActions = [], dataActions = [] }: Role) => ({
  ...{ actions, notActions, dataActions, notDataActions: [] },
})

function viewRole(role: Role, scope: string) {
  const { id, name } = role
  const subscription = /^\/subscriptions\/[^/]+/i.exec(scope)?.[0] ?? ''
  return {
    properties: {
      roleName: name,
      type: 'BuiltInRole',
      description: '',
      assignableScopes: ['/'],
      permissions: [permissionsOf(role)],
    },
    id: `${subscription}/providers/Microsoft.Authorization/roleDefinitions/${id}`,
    type: 'Microsoft.Authorization/roleDefinitions',
    name: id,
  }
}

/** Reads, makes and removes role assignments. */
export function answerRoleAssignments(
  resources: ArmResources,
  call: ArmCall,
  target: TargetOf<'roleAssignment' | 'roleAssignments'>,
): ArmAnswer {
  const verb = verbs.get(call.method)
  if (!verb) throw armErrors.methodNotAllowed(call.method, 'GET, PUT, DELETE')
  const action = `Microsoft.Authorization/roleAssignments/${verb}`
  const { azure } = requireAccess(resources, call, action, target.scope)
  const { directory } = resources
  if (target.kind === 'roleAssignments') {
    if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
    const principal = /(?:principalId eq|assignedTo\()\s*'([^']+)'/i.exec(call.query.get('$filter') ?? '')?.[1]
    const visible = directory.roleAssignments().filter(({ scope, principalId }) => {
      const isRelated = covers(scope, target.scope) || covers(target.scope, scope)
      return isRelated && (principal === undefined || principalId === principal)
    })
    return { status: 200, body: { value: visible.map((assignment) => viewAssignment(assignment, azure)) } }
  }
  const id = `${target.scope}/providers/Microsoft.Authorization/roleAssignments/${target.name}`
  const existing = directory.roleAssignments().find((one) => sameName(one.id, id))
  return answerResource(call, {
    existing,
    notFound: () => armErrors.roleAssignmentNotFound(target.name),
    view: (assignment) => viewAssignment(assignment, azure),
    write() {
      const parsed = assignmentBody.safeParse(jsonContent(call))
      if (!parsed.success) throw armErrors.invalidContent('Required property missing in the role assignment')
      const { roleDefinitionId, principalId } = parsed.data.properties
      const role = findRole(roleDefinitionId)
      if (!role) throw armErrors.roleDefinitionNotFound(roleDefinitionId)
      if (existing && !(sameName(existing.principalId, principalId) && existing.roleId === role.id)) {
        throw armErrors.roleAssignmentFixed()
      }
      const made = directory.assignRole({ principalId, role: role.id, scope: target.scope, id })
      if (!sameName(made.id, id)) throw armErrors.roleAssignmentExists()
      const status = writeStatus('roleAssignments', 'PUT', existing !== undefined)
      return { status, body: viewAssignment(made, azure) }
    },
    remove(assignment) {
      directory.removeAssignment(id)
      return { status: writeStatus('roleAssignments', 'DELETE', true), body: viewAssignment(assignment, azure) }
    },
  })
}

function viewAssignment({ id, principalId, roleId, scope }: RoleAssignment, azure: AzureSubscription) {
  return {
    properties: {
      roleDefinitionId: `/subscriptions/${azure.id}/providers/Microsoft.Authorization/roleDefinitions/${roleId}`,
      principalId,
      principalType: 'ServicePrincipal',
      scope,
    },
    id,
    type: 'Microsoft.Authorization/roleAssignments',
    name: id.split('/').at(-1),
  }
}
