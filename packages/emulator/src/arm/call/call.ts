/** What each call of Resource Manager brings and needs, and what must hold before the call is answered. */
import { isRecord, readJson } from '../../../../../src/support/text/json-text.ts'
import type { AzureSubscription, Directory } from '../../entra/directory.ts'
import type { VerifiedToken } from '../../entra/token-issuer.ts'
import { fieldAt, nestsTooDeeply, spelledPath, tooDeep } from '../../model/events/event-text.ts'
import type { NamespaceStore } from '../../model/resources/namespace.ts'
import { resourceGroupId, resourceId, sameName, trackedTypes } from '../../model/resources/resource.ts'
import type { Store } from '../../model/resources/store.ts'
import type { Clock } from '../../model/time/clock.ts'
import { type ArmError, armErrors } from './errors.ts'
import { type ArmScope, parseArmScope } from './path.ts'

export interface ArmResources {
  readonly clock: Clock
  readonly store: Store
  readonly namespaces: NamespaceStore
  readonly directory: Directory
}

export interface ArmCall {
  readonly method: string
  readonly apiVersion: string
  readonly query: URLSearchParams
  /** Path and query as sent. */
  readonly url: string
  /** The body's text; undefined without a body. */
  readonly content: string | undefined
  readonly caller: VerifiedToken
  /** `https://{host}` as in the caller's request, with the port unless it is 443. */
  readonly baseUrl: string
}

export interface ArmAnswer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A scope that the caller may see, and its Azure subscription. */
export interface ResolvedScope {
  readonly azure: AzureSubscription
  readonly parts: ArmScope
}

/** Finds the Azure subscription of a scope and checks that the token is of its tenant. Throws an ArmError. */
export function resolveScope({ directory }: ArmResources, call: ArmCall, scope: string, action: string): ResolvedScope {
  const parts = parseArmScope(scope)
  // Azure words a malformed scope as a lack of permission.
  if (!parts) throw forbidden(call, action, scope)
  const azure = directory.azureSubscription(parts.subscriptionId)
  if (!azure) {
    throw /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(parts.subscriptionId)
      ? armErrors.subscriptionNotFound(parts.subscriptionId)
      : armErrors.invalidSubscriptionId(parts.subscriptionId)
  }
  if (!sameName(azure.tenantId, call.caller.tenantId)) {
    throw armErrors.wrongTenant(`https://sts.windows.net/${call.caller.tenantId}/`, azure.tenantId)
  }
  return { azure, parts }
}

/** Checks that the caller may do this at a scope. Throws an ArmError. */
export function requireAction({ directory }: ArmResources, call: ArmCall, action: string, scope: string): void {
  const allowed = directory.allows({ principalId: call.caller.objectId, action, scope })
  if (!allowed) throw forbidden(call, action, scope)
}

/** Finds the Azure subscription of a scope, and checks that the caller may do this there. Throws an ArmError. */
export function requireAccess(resources: ArmResources, call: ArmCall, action: string, scope: string): ResolvedScope {
  const resolved = resolveScope(resources, call, scope, action)
  requireAction(resources, call, action, scope)
  return resolved
}

function forbidden(call: ArmCall, action: string, scope: string): ArmError {
  return armErrors.forbidden(call.caller.clientId, call.caller.objectId, action, scope)
}

/**
 * Checks that the resource group and the topic, domain, system topic or namespace of a scope exist. Throws an ArmError.
 * @param nestedType the type of what the call is about, where that is a part of the resource
 */
export function requireExistence(
  { store, namespaces, directory }: ArmResources,
  { azure, parts }: ResolvedScope,
  nestedType?: string,
): void {
  const { resourceGroup, resource } = parts
  if (resourceGroup === undefined) return
  if (!directory.groups.get(resourceGroupId(azure.id, resourceGroup))) {
    throw armErrors.resourceGroupNotFound(resourceGroup)
  }
  const [type = ''] = resource?.types ?? []
  const [name] = resource?.names ?? []
  const known = ([...trackedTypes, 'namespaces'] as const).find((one) => sameName(one, type))
  // The emulator does not know other providers' resources, nor partner topics, and takes them as existing.
  if (!resource || !sameName(resource.namespace, 'Microsoft.EventGrid') || !known || !name) return
  const id = resourceId(known, { subscriptionId: azure.id, resourceGroup, name })
  if (store.resource(id) ?? namespaces.namespaces.get(id)) return
  const below = nestedType ?? (resource.types.length > 1 ? [known, ...resource.types.slice(1)].join('/') : undefined)
  throw below === undefined
    ? armErrors.resourceNotFound(`Microsoft.EventGrid/${known}`, name, resourceGroup)
    : armErrors.parentNotFound(`Microsoft.EventGrid/${below}`, id)
}

export function requireRegistration({ azure }: ResolvedScope): void {
  if (azure.registration !== 'Registered' && azure.registration !== 'Registering')
    throw armErrors.notRegistered(azure.registration, azure.id)
}

/** The body as JSON. Throws an ArmError if it is missing or malformed. */
export function jsonContent(call: ArmCall): unknown {
  if (call.content === undefined || call.content.trim() === '') {
    throw armErrors.invalidContent('The request body is empty')
  }
  if (nestsTooDeeply(Buffer.from(call.content))) throw armErrors.invalidContent(`The request content ${tooDeep}`)
  const json = readJson(call.content)
  if (json === undefined) throw armErrors.invalidContent('Error parsing the request content as JSON')
  return json
}

/** What a body has at a path, whose names may be in any letter case; undefined where there is no body. Throws an ArmError. */
export function bodyField(call: ArmCall, path: readonly string[]): unknown {
  if (call.content === undefined || call.content.trim() === '') return undefined
  const body = jsonContent(call)
  return fieldAt(body, spelledPath(body, path))
}

const maxDepth = 64

/** Null means that a field is left out: a body without the members that are null, at any depth. Throws an ArmError. */
export function withoutNulls(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) throw armErrors.invalidContent(`The reader's MaxDepth of ${maxDepth} has been exceeded`)
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth + 1))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, withoutNulls(member, depth + 1)]),
  )
}

/** The settings of an event subscription without an expiration time that is empty: Terraform sends that for none. */
export function withoutEmptyExpiry(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { expirationTimeUtc, ...others } = settings
  return expirationTimeUtc === '' ? others : settings
}
