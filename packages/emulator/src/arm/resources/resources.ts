/** How topics, domains, system topics and namespaces are read, written, listed and deleted, in one way for all of them. */
import { z } from 'zod'
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import type { EventSubscription } from '../../model/resources/event-subscription.ts'
import {
  isBelow,
  isOfType,
  type Resource,
  type ResourceOf,
  regionName,
  sameName,
  stableGuid,
} from '../../model/resources/resource.ts'
import { locationOf } from '../../model/resources/store.ts'
import { enumeration } from '../../model/schemas.ts'
import { visibleIn } from '../call/api-versions.ts'
import { type ArmAnswer, type ArmCall, bodyField } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import type { Change } from '../call/operations.ts'
import type { ResourceType, TargetOf } from '../call/path.ts'
import {
  answerKeys,
  answerList,
  answerResource,
  authorizeCall,
  resourceAction,
  writeAnswer,
} from '../call/resource-answers.ts'
import type { ArmContext } from '../context.ts'

/** A PUT or PATCH of a resource, which may not exist. */
export interface ResourceWrite extends ArmContext {
  readonly call: ArmCall
  readonly id: string
  readonly name: string
  readonly subscriptionId: string
  readonly resourceGroup: string
}

/** The states of a resource: its changes can't fail. */
export type ViewedState = 'Succeeded' | Change['state']

/** What ARM shows of a resource, without what all have: id, name, type, and the provisioning state. */
export interface ResourceView {
  readonly identity?: unknown
  readonly properties?: object
  readonly [member: string]: unknown
}

/** What one type of resource has of its own. */
export interface ResourceKind<R extends { readonly id: string; readonly name: string }> {
  readonly type: ResourceType
  /** All resources of the type. */
  all(context: ArmContext): readonly R[]
  find(context: ArmContext, id: string): R | undefined
  /** Stores the resource as the body of a PUT or PATCH wants it. Throws an ArmError. */
  write(write: ResourceWrite, existing: R | undefined): R
  /** Deletes it with all that it contains. */
  remove(context: ArmContext, existing: R): void
  /** Whether a write is done at once, without a long-running operation. @default never */
  isImmediate?(resource: R): boolean
  /** The region of its operations. */
  locationOf(context: ArmContext, resource: R): string | undefined
  /** The answer to a PUT, and what is being made, lack what comes with provisioning. */
  view(context: ArmContext, call: ArmCall, resource: R, state: ViewedState): ResourceView
  /** Answers a POST of an action. Throws an ArmError. */
  act(context: ArmContext, call: ArmCall, action: string, existing: R): ArmAnswer
}

/** Answers a call about a resource, or a list of them. Throws an ArmError. */
export type AnswerResource = (context: ArmContext, call: ArmCall, target: TargetOf<'resource'>) => ArmAnswer

/** Makes the answers for the resources of one type (ARM 2025-02-15). */
export function resourcesOf<R extends { readonly id: string; readonly name: string }>(
  kind: ResourceKind<R>,
): AnswerResource {
  return (context, call, { scope, names, isList, action }) => {
    const { operations } = context
    const type = `Microsoft.EventGrid/${kind.type}`
    const ids = idsOf(scope, kind.type, names)
    const id = ids.at(-1) ?? scope
    const { azure, parts } = authorizeCall(context, call, {
      scope,
      type: kind.type,
      action: resourceAction(type, call.method, action),
      at: id,
    })
    const { resourceGroup = '' } = parts
    const stateOf = (resource: R): ViewedState => operations.stateOf(resource.id) ?? 'Succeeded'
    const shown = (resource: R, state = stateOf(resource)) => {
      const { identity, properties, ...rest } = kind.view(context, call, resource, state)
      return {
        ...{ id: resource.id, name: resource.name, type },
        ...visibleIn(call.apiVersion, { systemData: null }),
        ...rest,
        ...(identity !== undefined && {
          identity: viewIdentity(identity, {
            id: resource.id,
            tenantId: azure.tenantId,
            isMade: state === 'Succeeded',
          }),
        }),
        properties: { ...properties, provisioningState: state },
      }
    }
    const missing = (isList ? ids : ids.slice(0, -1)).find((above) => !exists(context, above))
    if (missing !== undefined) throw armErrors.parentNotFound(type, missing)
    if (isList) {
      const listed = kind.all(context).filter((one) => isBelow(id, one.id))
      return answerList(call, listed, (one) => shown(one))
    }
    if (parts.resource || !parts.resourceGroup) throw armErrors.pathNotFound(call.method, call.url)
    const existing = kind.find(context, id)
    const notFound = () => armErrors.resourceNotFound(type, names.join('/'), resourceGroup)
    if (action !== undefined) {
      if (!existing) throw notFound()
      return kind.act(context, call, action, existing)
    }
    const begun = { type: kind.type, existed: existing !== undefined }
    const start = (state: Change['state'], resource: R, run?: () => void) => ({
      location: kind.locationOf(context, resource) ?? 'global',
      operation: operations.start(
        azure.id,
        async () => {
          run?.()
          return { status: 'Succeeded' }
        },
        { change: { id, state } },
      ),
    })
    return answerResource(call, {
      existing,
      notFound,
      view: (resource) => shown(resource),
      write(former) {
        const name = names.at(-1) ?? ''
        requireIdentitySubscriptions(context, call, id)
        const stored = kind.write({ ...context, call, id, name, subscriptionId: azure.id, resourceGroup }, former)
        if (kind.isImmediate?.(stored)) return { status: 200, body: shown(stored, 'Succeeded') }
        // What is still being made stays so until its last operation ends.
        const state = former && stateOf(former) !== 'Creating' ? 'Updating' : 'Creating'
        return writeAnswer(call, { ...begun, ...start(state, stored), body: shown(stored, state) })
      },
      remove(former) {
        // A PUT may have replaced it meanwhile.
        const run = () => {
          if (kind.find(context, id) === former) kind.remove(context, former)
        }
        return writeAnswer(call, { ...begun, ...start('Deleting', former, run) })
      },
    })
  }
}

/** The ids of a resource and of what contains it, outermost first, as far as there are names. */
function idsOf(scope: string, type: ResourceType, names: readonly string[]): string[] {
  const types = type.split('/')
  const ids: string[] = []
  for (const [index, name] of names.entries()) {
    ids.push(`${ids.at(-1) ?? `${scope}/providers/Microsoft.EventGrid`}/${types[index]}/${name}`)
  }
  return ids
}

const exists = ({ store, namespaces }: ArmContext, id: string) =>
  store.resource(id) ?? namespaces.namespaces.get(id) ?? namespaces.topics.get(id)

/**
 * Of a type that is not supported there are no resources: its list is empty, and every other call is refused by name. Throws an ArmError.
 */
export function answerUnsupported(context: ArmContext, call: ArmCall, target: TargetOf<'unsupported'>): ArmAnswer {
  const { scope, type, listedIn } = target
  if (call.method !== 'GET' || listedIn === undefined) throw armErrors.notSupported(type)
  const ownType = type.slice('Microsoft.EventGrid/'.length)
  authorizeCall(context, call, { scope, type: ownType, action: `${type}/read`, at: listedIn })
  if (listedIn !== scope && !exists(context, listedIn)) throw armErrors.parentNotFound(type, listedIn)
  return answerList(call, [], (none) => none)
}

interface StoredKind<T extends Resource['type']> {
  readonly type: T
  /** The resource as the body of a PUT wants it. Throws an ArmError. */
  put(write: ResourceWrite, existing: ResourceOf<T> | undefined): ResourceOf<T>
  /** The resource as the body of a PATCH changes it. Throws an ArmError. */
  patch(write: ResourceWrite, existing: ResourceOf<T>): ResourceOf<T>
  readonly view: ResourceKind<ResourceOf<T>>['view']
  readonly isImmediate?: NonNullable<ResourceKind<ResourceOf<T>>['isImmediate']>
}

/** Makes the answers for a type of the store: custom topics, domains and their topics, system topics. */
export function storedResourcesOf<T extends Resource['type']>({ put, patch, ...kind }: StoredKind<T>) {
  const { type } = kind
  return resourcesOf<ResourceOf<T>>({
    ...kind,
    all: ({ store }) => store.resources(type),
    find({ store }, id) {
      const found = store.resource(id)
      return isOfType(found, type) ? found : undefined
    },
    write(write, existing) {
      const changed = write.call.method === 'PATCH' && existing ? patch(write, existing) : put(write, existing)
      write.store.putResource(changed)
      return changed
    },
    remove: removeResource,
    locationOf: ({ store }, { id }) => locationOf(store, id),
    act({ store }, call, action, existing) {
      if (!('keys' in existing)) throw armErrors.pathNotFound(call.method, call.url)
      return answerKeys(call, action, existing.keys, (keys) => store.putResource({ ...existing, keys }))
    },
  })
}

/** Deletes a resource, what it contains, and the event subscriptions of both. */
export function removeResource(
  {
    store,
    provisioning,
  }: Pick<ArmContext, 'store'> & { readonly provisioning: { remove(subscription: EventSubscription): unknown } },
  resource: Resource,
): void {
  const children = store.resources('domains/topics').filter(({ domainId }) => sameName(domainId, resource.id))
  for (const one of [resource, ...children]) {
    for (const subscription of store.subscriptions.of(one.id)) provisioning.remove(subscription)
    store.deleteResource(one)
  }
}

/** Throws an ArmError for a name that a resource of Event Grid can't have (Event Grid: troubleshoot-errors). */
export function requireName(name: string, what: string): void {
  if (name.length < 3 || name.length > 50) {
    const noun = what.charAt(0).toUpperCase() + what.slice(1)
    throw armErrors.invalidRequest(`${noun} name must be between 3 and 50 characters in length.`)
  }
  if (!/^[A-Za-z0-9-]+$/.test(name)) throw armErrors.invalidRequest(`Invalid ${what} name.`)
}

/** Throws an ArmError for a region that is not that of the existing resource. */
export function keepLocation(
  existing: { readonly name: string; readonly location: string; readonly resourceGroup: string } | undefined,
  location: string,
): void {
  if (!existing || regionName(existing.location) === regionName(location)) return
  throw armErrors.locationFixed(existing.name, existing.location, existing.resourceGroup, location)
}

/** The identity of a topic, domain, system topic or namespace, as requested. */
export const resourceIdentity = z.looseObject({
  type: enumeration('None', 'SystemAssigned', 'UserAssigned', 'SystemAssigned, UserAssigned'),
  userAssignedIdentities: z
    .record(z.string().regex(/\/providers\/Microsoft\.ManagedIdentity\/userAssignedIdentities\/[^/]+$/i), z.unknown())
    .nullish(),
})

/** The members that an identity of a topic, domain or system topic always has (recorded, CLI 2021 and 2022). */
export const identityMembers = { principalId: null, tenantId: null, userAssignedIdentities: null } as const

/**
 * Adds `principalId` and `tenantId` to a system-assigned identity, and `principalId` and `clientId` to each user-assigned one: null until
 * the write ends (recorded, CLI 2022). They stay the same as long as the resource has its id.
 */
function viewIdentity(
  identity: unknown,
  { id, tenantId, isMade }: { readonly id: string; readonly tenantId: string; readonly isMade: boolean },
) {
  if (!isRecord(identity)) return identity
  const { type, userAssignedIdentities } = identity
  const isSystemAssigned = typeof type === 'string' && type.includes('SystemAssigned')
  const assignedGuid = (assigned: string, what: string) => (isMade ? guidOf(assigned, what) : null)
  return {
    ...identity,
    ...(isSystemAssigned && { principalId: guidOf(id, 'principal'), tenantId }),
    ...(isRecord(userAssignedIdentities) && {
      userAssignedIdentities: Object.fromEntries(
        Object.keys(userAssignedIdentities).map((assigned) => [
          assigned,
          { principalId: assignedGuid(assigned, 'principal'), clientId: assignedGuid(assigned, 'client') },
        ]),
      ),
    }),
  }
}

/** Throws an ArmError for a user-assigned identity of an Azure subscription that does not exist (recorded, JavaScript 2026). */
function requireIdentitySubscriptions({ directory }: ArmContext, call: ArmCall, id: string): void {
  const wanted = bodyField(call, ['identity', 'userAssignedIdentities'])
  for (const assigned of Object.keys(isRecord(wanted) ? wanted : {})) {
    const [, subscriptionId] = /^\/subscriptions\/([^/]+)/i.exec(assigned) ?? []
    if (subscriptionId !== undefined && !directory.azureSubscription(subscriptionId))
      throw armErrors.linkedSubscriptionNotFound(id, subscriptionId)
  }
}

const guidOf = (id: string, what: string) => stableGuid(`${what} of ${id.toLowerCase()}`)
