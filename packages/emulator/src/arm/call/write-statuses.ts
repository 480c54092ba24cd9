// Which status answers a PUT, a PATCH and a DELETE of each type.

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
