import { rolesAt } from '../entra/roles.ts'
import { type ArmAnswer, type ArmCall, type ArmResources, requireAction, resolveScope } from './call.ts'
import { armErrors } from './errors.ts'
import type { ArmTarget } from './path.ts'

/** What the caller may do at a scope: an entry for each role that it holds there (Azure: permissions, list for resource). */
export function answerPermissions(
  resources: ArmResources,
  call: ArmCall,
  target: Extract<ArmTarget, { kind: 'permissions' }>,
): ArmAnswer {
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  const action = 'Microsoft.Authorization/permissions/read'
  resolveScope(resources, call, target.scope, action)
  requireAction(resources, call, action, target.scope)
  const roles = rolesAt(resources.directory.roleAssignments(), call.caller.objectId, target.scope)
  return {
    status: 200,
    body: {
      value: roles.map(({ actions, notActions = [], dataActions = [] }) => ({
        ...{ actions, notActions, dataActions, notDataActions: [] },
      })),
    },
  }
}
