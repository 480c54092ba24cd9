// Azure subscriptions in ARM, and lists of the resources in them.
import type { AzureSubscription } from '../../entra/directory.ts'
import { isBelow, resourceGroupId, sameName } from '../../model/resources/resource-ids.ts'
import { type ArmAnswer, type ArmCall, requireAccess } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import type { TargetOf } from '../call/path.ts'
import { answerList } from '../call/resource-answers.ts'
import type { ArmContext } from '../context.ts'
import { answerResourceGroup, answerResourceGroups } from './resource-groups.ts'

/** Azure subscriptions, resource groups, and the resources in both. */
export function answerContainer(options: ArmContext, call: ArmCall, target: TargetOf<'container'>): ArmAnswer {
  const [subscriptions, id, ...rest] = target.scope.slice(1).split('/')
  if (!sameName(subscriptions, 'subscriptions')) throw armErrors.pathNotFound(call.method, call.url)
  if (id === undefined) return answerSubscriptions(options, call)
  const [first, name, third, ...more] = rest
  if (first === undefined) return answerSubscription(options, call, target.scope)
  if (sameName(first, 'resources') && name === undefined) return answerContents(options, call, `/subscriptions/${id}`)
  if (!sameName(first, 'resourceGroups')) throw armErrors.notSupported(`subscriptions/${rest.join('/')}`)
  if (name === undefined) return answerResourceGroups(options, call, `/subscriptions/${id}`)
  if (third === undefined) return answerResourceGroup(options, call, target.scope)
  if (sameName(third, 'resources') && more.length === 0) {
    return answerContents(options, call, target.scope.replace(/\/[^/]+$/, ''))
  }
  throw armErrors.notSupported(`resourceGroups/${[third, ...more].join('/')}`)
}

function answerSubscriptions({ directory }: ArmContext, call: ArmCall): ArmAnswer {
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  const own = directory.azureSubscriptions().filter(({ tenantId }) => tenantId === call.caller.tenantId)
  return { status: 200, body: { value: own.map(viewSubscription), count: { type: 'Total', value: own.length } } }
}

function answerSubscription(options: ArmContext, call: ArmCall, scope: string): ArmAnswer {
  const { azure } = requireAccess(options, call, 'Microsoft.Resources/subscriptions/read', scope)
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  return { status: 200, body: viewSubscription(azure) }
}

/** The resources that have a region: all of the emulator that are in a subscription or a group. */
function answerContents(options: ArmContext, call: ArmCall, scope: string): ArmAnswer {
  const { azure, parts } = requireAccess(options, call, 'Microsoft.Resources/subscriptions/resources/read', scope)
  const { resourceGroup } = parts
  if (resourceGroup !== undefined && !options.directory.groups.get(resourceGroupId(azure.id, resourceGroup))) {
    throw armErrors.resourceGroupNotFound(resourceGroup)
  }
  const { store, namespaces } = options
  const all = [
    ...store.tracked().map((one) => ({ ...one, type: `Microsoft.EventGrid/${one.type}` })),
    ...namespaces.namespaces.all().map((one) => ({ ...one, type: 'Microsoft.EventGrid/namespaces' })),
  ]
  return answerList(
    call,
    all.filter((one) => isBelow(scope, one.id)),
    ({ id, name, type, location, tags }) => ({ id, name, type, location, ...(tags && { tags }) }),
  )
}

const viewSubscription = ({ id, tenantId }: AzureSubscription) => ({
  id: `/subscriptions/${id}`,
  subscriptionId: id,
  tenantId,
  displayName: 'Event Grid emulator',
  state: 'Enabled',
})
