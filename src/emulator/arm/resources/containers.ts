// Azure subscriptions and resource groups in ARM: lists, creation, group name rule.
import type { AzureSubscription } from '../../entra/directory.ts'
import { type ArmAnswer, type ArmCall, type ArmResources, jsonContent, requireAccess } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import type { TargetOf } from '../call/path.ts'

/** Azure subscriptions and resource groups: reads both, and creates groups. */
export function answerContainer(resources: ArmResources, call: ArmCall, target: TargetOf<'container'>): ArmAnswer {
  const [subscriptions, id, groups, name, ...more] = target.scope.slice(1).split('/')
  if (subscriptions?.toLowerCase() !== 'subscriptions' || more.length > 0)
    throw armErrors.pathNotFound(call.method, call.url)
  if (id === undefined) {
    if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
    const own = resources.directory.azureSubscriptions().filter(({ tenantId }) => tenantId === call.caller.tenantId)
    return { status: 200, body: { value: own.map(viewSubscription), count: { type: 'Total', value: own.length } } }
  }
  const scope = name === undefined ? `/subscriptions/${id}` : target.scope
  const type = groups === undefined ? 'subscriptions' : 'subscriptions/resourceGroups'
  if (groups !== undefined && groups.toLowerCase() !== 'resourcegroups')
    throw armErrors.pathNotFound(call.method, call.url)
  const action = `Microsoft.Resources/${type}/${call.method === 'PUT' ? 'write' : 'read'}`
  const { azure } = requireAccess(resources, call, action, scope)
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
