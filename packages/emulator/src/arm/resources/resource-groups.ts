// Resource groups in ARM: region, tags, deletion with all that is in them.
import { z } from 'zod'
import type { AzureSubscription } from '../../entra/directory.ts'
import type { ResourceGroup } from '../../model/resources/resource.ts'
import { isBelow, regionName, resourceGroupId } from '../../model/resources/resource-ids.ts'
import { type ArmAnswer, type ArmCall, requireAccess } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import { answerList, parseBody } from '../call/resource-answers.ts'
import { writeStatus } from '../call/write-statuses.ts'
import type { ArmContext } from '../context.ts'
import { deleteNamespace } from './namespace-contents.ts'
import { removeResource } from './resources.ts'

const changeBody = z.object({ tags: z.record(z.string(), z.string()).nullish() })
const putBody = changeBody.extend({ location: z.string().min(1) })

const type = 'Microsoft.Resources/subscriptions/resourceGroups'

/** Lists the resource groups of an Azure subscription. */
export function answerResourceGroups(options: ArmContext, call: ArmCall, scope: string): ArmAnswer {
  const { azure } = requireAccess(options, call, `${type}/read`, scope)
  return answerList(call, options.directory.groups.of(azure.id), (group) => viewGroup(options, group))
}

/** Reads, makes, changes and deletes a resource group. */
export function answerResourceGroup(options: ArmContext, call: ArmCall, scope: string): ArmAnswer {
  const { directory } = options
  const { method } = call
  const verb = { PUT: 'write', PATCH: 'write', DELETE: 'delete' }[method] ?? 'read'
  const { azure, parts } = requireAccess(options, call, `${type}/${verb}`, scope)
  const name = parts.resourceGroup ?? ''
  const existing = directory.groups.get(resourceGroupId(azure.id, name))
  if (method === 'PUT') {
    if (!/^[-\w.()]{1,90}$/.test(name)) {
      throw armErrors.invalidRequest(`Resource group name '${name.slice(0, 100)}' is invalid.`)
    }
    const { location, tags } = parseBody(putBody, call, 'resource group')
    if (existing?.location !== undefined && regionName(existing.location) !== regionName(location)) {
      throw armErrors.groupLocationFixed(existing.location, location)
    }
    const made = { id: resourceGroupId(azure.id, name), subscriptionId: azure.id, name }
    return stored(options, call, { ...(existing ?? made), location, tags: tags ?? {} }, existing)
  }
  if (existing === undefined) throw armErrors.resourceGroupNotFound(name)
  switch (method) {
    case 'GET':
      return { status: 200, body: viewGroup(options, existing) }
    case 'HEAD':
      return { status: 204 }
    case 'PATCH': {
      const { tags } = parseBody(changeBody, call, 'resource group')
      return stored(options, call, { ...existing, ...(tags && { tags }) }, existing)
    }
    case 'DELETE':
      return deleteGroup(options, call, azure, existing)
    default:
      throw armErrors.methodNotAllowed(method, 'GET, HEAD, PUT, PATCH, DELETE')
  }
}

function stored(options: ArmContext, call: ArmCall, group: ResourceGroup, former: ResourceGroup | undefined) {
  options.directory.groups.put(group)
  return { status: writeStatus('resourceGroups', call.method, former !== undefined), body: viewGroup(options, group) }
}

/** Azure deletes a group with all that is in it, and answers before it has (recorded, 2026). */
function deleteGroup(options: ArmContext, call: ArmCall, azure: AzureSubscription, group: ResourceGroup): ArmAnswer {
  const operation = options.operations.start(
    azure.id,
    async () => {
      deleteContents(options, group.id)
      options.directory.groups.delete(group)
      return { status: 'Succeeded' }
    },
    { id: group.id, state: 'Deleting' },
  )
  const path = `/subscriptions/${azure.id}/operationresults/${operation.id}?api-version=${call.apiVersion}`
  return { status: writeStatus('resourceGroups', 'DELETE', true), headers: { location: `${call.baseUrl}${path}` } }
}

function deleteContents(options: ArmContext, groupId: string): void {
  const { store, namespaces, provisioning, directory } = options
  for (const one of store.tracked()) if (isBelow(groupId, one.id)) removeResource(options, one)
  for (const one of namespaces.namespaces.all()) if (isBelow(groupId, one.id)) deleteNamespace(options, one)
  // Those of the group itself, and of sources in it that the emulator does not know.
  for (const one of store.subscriptions.all()) if (isBelow(groupId, one.id)) provisioning.remove(one)
  for (const one of directory.roleAssignments()) if (isBelow(groupId, one.id)) directory.removeAssignment(one.id)
}

const viewGroup = ({ operations }: ArmContext, { id, name, location = 'westeurope', tags }: ResourceGroup) => ({
  id,
  name,
  type: 'Microsoft.Resources/resourceGroups',
  location,
  ...(tags && { tags }),
  properties: { provisioningState: operations.stateOf(id) ?? 'Succeeded' },
})
