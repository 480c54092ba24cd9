import { z } from 'zod'
import { type ArmAnswer, type ArmCall, jsonContent, requireAction, resolveScope } from './arm-call.ts'
import { armErrors } from './arm-errors.ts'
import type { ArmTarget } from './arm-path.ts'
import type { EmulatorContext } from './context.ts'
import type { AzureSubscription } from './directory.ts'
import { findRole, type RoleAssignment } from './roles.ts'

const passing = new Map<string | undefined, string>([
  ['register', 'Registering'],
  ['unregister', 'Unregistering'],
])

/** The resource provider Microsoft.EventGrid of an Azure subscription: its registration, and register or unregister. */
export function answerProvider(
  context: EmulatorContext,
  call: ArmCall,
  target: Extract<ArmTarget, { kind: 'provider' }>,
): ArmAnswer {
  const action = target.action
    ? `${target.namespace}/${target.action}/action`
    : 'Microsoft.Resources/subscriptions/providers/read'
  const { azure } = resolveScope(context, call, target.scope, action)
  requireAction(context, call, action, target.scope)
  if (target.namespace.toLowerCase() !== 'microsoft.eventgrid') {
    const message = `The resource namespace '${target.namespace}' is invalid.`
    throw armErrors.invalidNamespace(message)
  }
  const wanted = target.action ? 'POST' : 'GET'
  if (call.method !== wanted) throw armErrors.methodNotAllowed(call.method, wanted)
  if (target.action) azure.registration = target.action === 'register' ? 'Registered' : 'Unregistered'
  return {
    status: 200,
    body: {
      id: `/subscriptions/${azure.id}/providers/Microsoft.EventGrid`,
      namespace: 'Microsoft.EventGrid',
      registrationPolicy: 'RegistrationRequired',
      // The answer of `register` is always behind: it says where the provider was on its way to.
      registrationState: passing.get(target.action) ?? azure.registration,
      resourceTypes: [
        { resourceType: 'topics', locations: ['West Europe'], apiVersions: ['2025-02-15', '2022-06-15'] },
        { resourceType: 'eventSubscriptions', locations: ['global'], apiVersions: ['2025-02-15', '2022-06-15'] },
      ],
    },
  }
}

const assignmentBody = z.object({
  properties: z.object({ roleDefinitionId: z.string().min(1), principalId: z.string().min(1) }),
})

const verbs = new Map([
  ['GET', 'read'],
  ['PUT', 'write'],
  ['DELETE', 'delete'],
])

/** Role assignments: list, get, put and delete. */
export function answerRoleAssignments(
  context: EmulatorContext,
  call: ArmCall,
  target: Extract<ArmTarget, { kind: 'roleAssignment' | 'roleAssignments' }>,
): ArmAnswer {
  const verb = verbs.get(call.method)
  if (!verb) throw armErrors.methodNotAllowed(call.method, 'GET, PUT, DELETE')
  const action = `Microsoft.Authorization/roleAssignments/${verb}`
  const { azure } = resolveScope(context, call, target.scope, action)
  requireAction(context, call, action, target.scope)
  const { directory } = context
  if (target.kind === 'roleAssignments') {
    if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
    const principal = /(?:principalId eq|assignedTo\()\s*'([^']+)'/i.exec(call.query.get('$filter') ?? '')?.[1]
    const scope = target.scope.toLowerCase()
    const visible = directory.roleAssignments().filter((assignment) => {
      const at = assignment.scope.toLowerCase()
      const related = at === '/' || scope === at || scope.startsWith(`${at}/`) || at.startsWith(`${scope}/`)
      return related && (principal === undefined || assignment.principalId === principal)
    })
    return { status: 200, body: { value: visible.map((assignment) => viewAssignment(assignment, azure)) } }
  }
  const id = `${target.scope}/providers/Microsoft.Authorization/roleAssignments/${target.name}`
  const existing = directory.roleAssignments().find((one) => one.id.toLowerCase() === id.toLowerCase())
  if (call.method === 'DELETE') {
    const removed = directory.removeAssignment(id)
    return removed ? { status: 200, body: viewAssignment(removed, azure) } : { status: 204 }
  }
  if (call.method === 'GET') {
    if (!existing) throw armErrors.roleAssignmentNotFound(target.name)
    return { status: 200, body: viewAssignment(existing, azure) }
  }
  const parsed = assignmentBody.safeParse(jsonContent(call))
  if (!parsed.success) throw armErrors.invalidContent('Required property missing in the role assignment')
  const { roleDefinitionId, principalId } = parsed.data.properties
  const role = findRole(roleDefinitionId)
  if (!role) throw armErrors.roleDefinitionNotFound(roleDefinitionId)
  const made = directory.assignRole({ principalId, role: role.id, scope: target.scope, id })
  if (made.id.toLowerCase() !== id.toLowerCase()) throw armErrors.roleAssignmentExists()
  return { status: 201, body: viewAssignment(made, azure) }
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

/** Azure subscriptions and resource groups: enough to look and to make a group. */
export function answerContainer(
  context: EmulatorContext,
  call: ArmCall,
  target: Extract<ArmTarget, { kind: 'container' }>,
): ArmAnswer {
  const [subscriptions, id, groups, name, ...more] = target.scope.slice(1).split('/')
  if (subscriptions?.toLowerCase() !== 'subscriptions' || more.length > 0)
    throw armErrors.pathNotFound(call.method, call.url)
  if (id === undefined) {
    if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
    const own = context.directory.azureSubscriptions().filter(({ tenantId }) => tenantId === call.caller.tenantId)
    return { status: 200, body: { value: own.map(viewSubscription), count: { type: 'Total', value: own.length } } }
  }
  const scope = name === undefined ? `/subscriptions/${id}` : target.scope
  const type = groups === undefined ? 'subscriptions' : 'subscriptions/resourceGroups'
  if (groups !== undefined && groups.toLowerCase() !== 'resourcegroups')
    throw armErrors.pathNotFound(call.method, call.url)
  const action = `Microsoft.Resources/${type}/${call.method === 'PUT' ? 'write' : 'read'}`
  const { azure } = resolveScope(context, call, scope, action)
  requireAction(context, call, action, scope)
  if (call.method === 'GET' && groups === undefined) return { status: 200, body: viewSubscription(azure) }
  if (call.method === 'GET' && name === undefined) {
    return { status: 200, body: { value: [...azure.resourceGroups.values()].map((group) => viewGroup(azure, group)) } }
  }
  if (name === undefined) throw armErrors.methodNotAllowed(call.method, 'GET')
  const existing = azure.resourceGroups.get(name.toLowerCase())
  if (call.method === 'PUT') {
    if (!/^[-\w.()]{1,90}$/.test(name))
      throw armErrors.invalidRequest(`Resource group name '${name.slice(0, 100)}' is invalid.`)
    jsonContent(call)
    azure.resourceGroups.set(name.toLowerCase(), existing ?? name)
    return { status: existing ? 200 : 201, body: viewGroup(azure, existing ?? name) }
  }
  if (call.method !== 'GET' && call.method !== 'HEAD') throw armErrors.methodNotAllowed(call.method, 'GET, HEAD, PUT')
  if (existing === undefined) throw armErrors.resourceGroupNotFound(name)
  return call.method === 'HEAD' ? { status: 204 } : { status: 200, body: viewGroup(azure, existing) }
}

const viewSubscription = ({ id, tenantId }: AzureSubscription) => ({
  id: `/subscriptions/${id}`,
  subscriptionId: id,
  tenantId,
  displayName: 'Event Grid emulator',
  state: 'Enabled',
})

const viewGroup = ({ id }: AzureSubscription, name: string) => ({
  id: `/subscriptions/${id}/resourceGroups/${name}`,
  name,
  type: 'Microsoft.Resources/resourceGroups',
  location: 'westeurope',
  properties: { provisioningState: 'Succeeded' },
})
