/** How Azure subscriptions, resource groups and the provider Microsoft.EventGrid are answered, with the resources in them. */

import { z } from 'zod'
import type { AzureSubscription } from '../../entra/directory.ts'
import { isBelow, type ResourceGroup, regionName, resourceGroupId, sameName } from '../../model/resources/resource.ts'
import { type ArmAnswer, type ArmCall, type ArmResources, requireAccess } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import type { TargetOf } from '../call/path.ts'
import { answerListAs, parseBody, writeStatus } from '../call/resource-answers.ts'
import type { ArmContext } from '../context.ts'
import { deleteNamespace } from './namespace-contents.ts'
import { removeResource } from './resources.ts'

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
  return answerListAs(
    resourcesList,
    call,
    all.filter((one) => isBelow(scope, one.id)),
    ({ id, name, type, location, tags }) => ({ id, name, type, location, ...(tags && { tags }) }),
  )
}

/** A list of Microsoft.Resources. */
interface Listed {
  readonly name: string
  readonly location?: string
  readonly type?: string
}
const resourcesList = {
  ...{ page: 1000, maxPage: 1000, fields: ['name', 'location', 'resourcetype'] },
  texts: ({ name, location = '', type: resourcetype = '' }: Listed) => ({ name, location, resourcetype }),
}

const viewSubscription = ({ id, tenantId }: AzureSubscription) => ({
  id: `/subscriptions/${id}`,
  subscriptionId: id,
  tenantId,
  displayName: 'Event Grid emulator',
  state: 'Enabled',
})

const changeBody = z.object({ tags: z.record(z.string(), z.string()).nullish() })
const putBody = changeBody.extend({ location: z.string().min(1) })

const type = 'Microsoft.Resources/subscriptions/resourceGroups'

/** Lists the resource groups of an Azure subscription. */
export function answerResourceGroups(options: ArmContext, call: ArmCall, scope: string): ArmAnswer {
  const { azure } = requireAccess(options, call, `${type}/read`, scope)
  return answerListAs(resourcesList, call, options.directory.groups.of(azure.id), (group) => viewGroup(options, group))
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
    { change: { id: group.id, state: 'Deleting' } },
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

const readAction = 'Microsoft.Resources/subscriptions/providers/read'
const resourceTypes = ['domains', 'systemTopics', 'topics', 'namespaces', 'eventSubscriptions']

/** The resource provider Microsoft.EventGrid of an Azure subscription: its registration, and register or unregister. */
export function answerProvider(resources: ArmResources, call: ArmCall, target: TargetOf<'provider'>): ArmAnswer {
  const action = target.action ? `${target.namespace}/${target.action}/action` : readAction
  const { azure } = requireAccess(resources, call, action, target.scope)
  if (target.namespace.toLowerCase() !== 'microsoft.eventgrid') throw armErrors.notSupported(target.namespace)
  const wanted = target.action ? 'POST' : 'GET'
  if (call.method !== wanted) throw armErrors.methodNotAllowed(call.method, wanted)
  const registers = target.action === 'register'
  if (target.action) azure.registration = registers ? 'Registered' : 'Unregistered'
  // The answer always shows the state during the change.
  const during = registers ? 'Registering' : 'Unregistering'
  return { status: 200, body: viewEventGrid(azure, target.action ? during : azure.registration) }
}

/** The resource providers of an Azure subscription that the emulator has. */
export function answerProviders(resources: ArmResources, call: ArmCall, { scope }: TargetOf<'providers'>): ArmAnswer {
  const { azure } = requireAccess(resources, call, readAction, scope)
  const always = ['Microsoft.Resources', 'Microsoft.Authorization'].map((namespace) => ({
    id: `/subscriptions/${azure.id}/providers/${namespace}`,
    namespace,
    registrationPolicy: 'RegistrationFree',
    registrationState: 'Registered',
    resourceTypes: [],
  }))
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  return { status: 200, body: { value: [viewEventGrid(azure, azure.registration), ...always] } }
}

function viewEventGrid({ id }: AzureSubscription, registrationState: string) {
  return {
    id: `/subscriptions/${id}/providers/Microsoft.EventGrid`,
    namespace: 'Microsoft.EventGrid',
    registrationPolicy: 'RegistrationRequired',
    registrationState,
    resourceTypes: resourceTypes.map((resourceType) => ({
      resourceType,
      locations: [resourceType === 'eventSubscriptions' ? 'global' : 'West Europe'],
      apiVersions: ['2025-02-15', '2022-06-15'],
    })),
  }
}
