/** How calls about one resource or a list are answered: statuses, operation URLs, pages and keys. */
import { z } from 'zod'
import { type AccessKeys, randomKey, regionName } from '../../model/resources/resource.ts'
import { spelledMembers } from '../../model/schemas.ts'
import { requireEventGridVersion } from './api-versions.ts'
import {
  type ArmAnswer,
  type ArmCall,
  type ArmResources,
  jsonContent,
  type ResolvedScope,
  requireAction,
  requireExistence,
  requireRegistration,
  resolveScope,
} from './call.ts'
import { type ArmError, armErrors } from './errors.ts'
import { parseListFilter } from './list-filter.ts'
import type { Operation } from './operations.ts'

/** What a call of Event Grid does, and where. */
export interface ResourceAccess {
  /** The scope of the path: its resource group and resource must exist. */
  readonly scope: string
  /** The resource type for the check of the api-version, without its namespace: `topics`. */
  readonly type: string
  /** The action that the caller needs, such as `Microsoft.EventGrid/topics/read`. */
  readonly action: string
  /** Where the caller needs it. */
  readonly at: string
  /** The type of what the call is about, where that is a part of the scope's resource. */
  readonly nestedType?: string
}

/** Checks that Event Grid answers this call of this caller. Throws an ArmError. */
export function authorizeCall(resources: ArmResources, call: ArmCall, access: ResourceAccess): ResolvedScope {
  const resolved = resolveScope(resources, call, access.scope, access.action)
  requireEventGridVersion(call, access.type)
  requireAction(resources, call, access.action, access.at)
  requireExistence(resources, resolved, access.nestedType)
  requireRegistration(resolved)
  return resolved
}

/** The action of a call about resources of a type: by its method, or a POST action such as `listKeys`. */
export function resourceAction(type: string, method: string, action: string | undefined): string {
  if (action !== undefined) return `${type}/${action}/action`
  if (method === 'GET') return `${type}/read`
  return `${type}/${method === 'DELETE' ? 'delete' : 'write'}`
}

/** How one resource is read, written and deleted. */
export interface ResourceHandler<Resource> {
  readonly existing: Resource | undefined
  readonly notFound: () => ArmError
  readonly view: (existing: Resource) => unknown
  readonly write: (existing: Resource | undefined) => ArmAnswer
  readonly remove: (existing: Resource) => ArmAnswer
}

/** Answers GET, PUT, PATCH and DELETE of one resource. Throws an ArmError. */
export function answerResource<Resource>(call: ArmCall, handler: ResourceHandler<Resource>): ArmAnswer {
  const { existing } = handler
  if (call.method === 'PUT') return handler.write(existing)
  if (call.method === 'DELETE') return existing === undefined ? { status: 204 } : handler.remove(existing)
  if (call.method !== 'GET' && call.method !== 'PATCH') {
    throw armErrors.methodNotAllowed(call.method, 'GET, PUT, PATCH, DELETE')
  }
  if (existing === undefined) throw handler.notFound()
  return call.method === 'GET' ? { status: 200, body: handler.view(existing) } : handler.write(existing)
}

function operationHeaders(call: ArmCall, operation: Operation, location: string) {
  // What has no region has none in its URL either (recorded, PowerShell 2024, CLI 2025).
  const at = location === 'global' ? '' : `/locations/${regionName(location)}`
  const path = (form: string) =>
    `/subscriptions/${operation.subscriptionId}/providers/Microsoft.EventGrid${at}/${form}/${operation.id}` +
    `?api-version=${call.apiVersion}`
  return {
    status: { 'azure-asyncoperation': `${call.baseUrl}${path('operationsStatus')}` },
    result: { location: `${call.baseUrl}${path('operationResults')}` },
  }
}

/** A write whose operation has begun. */
export interface BegunWrite {
  readonly type: WrittenType
  /** Whether the resource was there before. */
  readonly existed: boolean
  readonly operation: Operation
  readonly location: string
  readonly body?: unknown
}

/** The answer to a write: 201 with the URL of the operation's status, or 202 with that of its result too. */
export function writeAnswer(call: ArmCall, { type, existed, operation, location, body }: BegunWrite): ArmAnswer {
  const { status: statusUrl, result } = operationHeaders(call, operation, location)
  const status = writeStatus(type, call.method, existed)
  return { status, headers: { ...statusUrl, ...(status === 202 && result) }, body }
}

/** Answers `listKeys`, and `regenerateKey` after `store` has stored the new keys. Throws an ArmError. */
export function answerKeys(
  call: ArmCall,
  action: string,
  keys: AccessKeys,
  store: (changed: AccessKeys) => void,
): ArmAnswer {
  const view = ([key1, key2]: AccessKeys): ArmAnswer => ({ status: 200, body: { key1, key2 } })
  if (call.method !== 'POST') throw armErrors.methodNotAllowed(call.method, 'POST')
  if (action.toLowerCase() === 'listkeys') return view(keys)
  if (action.toLowerCase() !== 'regeneratekey') throw armErrors.pathNotFound(call.method, call.url)
  const body = z.object({ keyName: z.enum(['key1', 'key2']) }).safeParse(jsonContent(call))
  if (!body.success) throw armErrors.invalidRequest('Invalid key name. It must be key1 or key2.')
  const changed: AccessKeys = body.data.keyName === 'key1' ? [randomKey(), keys[1]] : [keys[0], randomKey()]
  store(changed)
  return view(changed)
}

/** How a list is cut into pages, and what its `$filter` may compare. */
interface ListForm<Item> {
  /** Items of a page without `$top`. */
  readonly page: number
  /** The greatest `$top`. */
  readonly maxPage: number
  readonly texts: (item: Item) => Readonly<Record<string, string>>
  readonly fields: readonly string[]
}

/** Lists of Event Grid (Event Grid: REST reference, `$filter` and `$top`). */
const eventGridList: ListForm<{ readonly name: string }> = {
  ...{ page: 20, maxPage: 100, fields: ['name'] },
  texts: ({ name }) => ({ name }),
}

/** Answers GET of a list of Event Grid, by `$filter`, `$top` and the link to the next page. Throws an ArmError. */
export const answerList = <Item extends { readonly name: string }>(
  call: ArmCall,
  items: readonly Item[],
  view: (item: Item) => unknown,
): ArmAnswer => answerListAs(eventGridList, call, items, view)

/** Answers GET of a list by its form, with a `$skiptoken` in the link to the next page. Throws an ArmError. */
export function answerListAs<Item>(
  { page, maxPage, texts, fields }: ListForm<Item>,
  call: ArmCall,
  items: readonly Item[],
  view: (item: Item) => unknown,
): ArmAnswer {
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  const top = call.query.get('$top') ?? String(page)
  const size = /^\d{1,4}$/.test(top) ? Number(top) : 0
  if (size < 1 || size > maxPage) {
    throw armErrors.invalidRequest(`Invalid $top value: '${top.slice(0, 50)}'. It must be between 1 and ${maxPage}.`)
  }
  const token = call.query.get('$skiptoken') ?? '0'
  if (!/^\d{1,9}$/.test(token)) throw armErrors.invalidRequest(`Invalid $skiptoken value: '${token.slice(0, 50)}'.`)
  const skip = Number(token)
  const filter = call.query.get('$filter') ?? ''
  const keeps = filter.trim() === '' ? () => true : parseListFilter(filter, fields)
  const kept = items.filter((item) => keeps(texts(item)))
  const end = skip + size
  const value = kept.slice(skip, end).map(view)
  if (end >= kept.length) return { status: 200, body: { value } }
  const next = new URL(`${call.baseUrl}${call.url}`)
  next.searchParams.set('$skiptoken', String(end))
  return { status: 200, body: { value, nextLink: next.href } }
}

/** The body of a write. Throws an ArmError that names the first wrong property. @param what for the error: `topic` */
export function parseBody<Body>(schema: z.ZodType<Body>, call: ArmCall, what: string): Body {
  const parsed = schema.safeParse(spelledMembers(schema, jsonContent(call)))
  if (parsed.success) return parsed.data
  const path = parsed.error.issues[0]?.path.join('.')
  if (path === 'location') throw armErrors.invalidRequest('The location property is required for this definition.')
  throw armErrors.invalidRequest(`Invalid ${what} request: property '${path}' is invalid.`)
}

interface WriteStatuses {
  /** PUT of what does not exist. */
  readonly create: number
  /** PUT of what exists. */
  readonly replace: number
  readonly PATCH: number
  /** DELETE of what exists. */
  readonly DELETE: number
}

/**
 * Of several statuses that Azure's REST specification allows, those that recorded answers have. Clients generated from it
 * refuse all others. DELETE of what does not exist is answered 204.
 */
export const writeStatuses = {
  topics: { create: 201, replace: 201, PATCH: 201, DELETE: 202 },
  domains: { create: 201, replace: 201, PATCH: 201, DELETE: 202 },
  'domains/topics': { create: 201, replace: 201, PATCH: 405, DELETE: 202 },
  // Without an identity they are made at once (recorded, CLI 2021, PowerShell 2024, .NET 2025); with one, 201 is assumed.
  systemTopics: { create: 201, replace: 201, PATCH: 201, DELETE: 202 },
  eventSubscriptions: { create: 201, replace: 201, PATCH: 201, DELETE: 202 },
  namespaces: { create: 201, replace: 201, PATCH: 202, DELETE: 202 },
  'namespaces/topics': { create: 201, replace: 201, PATCH: 202, DELETE: 202 },
  'namespaces/topics/eventSubscriptions': { create: 201, replace: 201, PATCH: 202, DELETE: 202 },
  resourceGroups: { create: 201, replace: 200, PATCH: 200, DELETE: 202 },
  roleAssignments: { create: 201, replace: 201, PATCH: 405, DELETE: 200 },
} as const satisfies Readonly<Record<string, WriteStatuses>>

/** A type whose resources are written. */
export type WrittenType = keyof typeof writeStatuses

/** The status of a write's answer. @param existed whether the resource was there before a PUT */
export function writeStatus(type: WrittenType, method: string, existed: boolean): number {
  const { create, replace, PATCH, DELETE } = writeStatuses[type]
  if (method === 'PATCH') return PATCH
  if (method === 'DELETE') return DELETE
  return existed ? replace : create
}
