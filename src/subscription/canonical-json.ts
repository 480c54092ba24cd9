import { isRecord } from '../support/is-record.ts'

/**
 * A JSON value for comparing with what ARM answers: without nulls, empty texts, empty lists and empty objects, and resource
 * ids in lower case.
 */
export function canonicalJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalJson)
  if (typeof value === 'string') return value.startsWith('/subscriptions/') ? value.toLowerCase() : value
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, canonicalJson(member)] as const)
      .filter(([, member]) => !isNothing(member)),
  )
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) && Object.keys(value).length === 0
}
