// Azure RBAC permission list: `*` wildcards, `notActions`.
import { isRecord } from '../../../support/text/is-record.ts'

/** What one role allows at a scope (Azure RBAC: Microsoft.Authorization/permissions). */
export interface Permission {
  readonly actions: readonly string[]
  readonly notActions: readonly string[]
}

/** Reads the entries of ARM's list. Invalid ones are left out. */
export const readPermissions = (list: readonly unknown[]): readonly Permission[] =>
  list.filter(isRecord).map((one) => ({ actions: texts(one.actions), notActions: texts(one.notActions) }))

/** Whether a role allows an action. `*` matches any text; letter case does not matter. */
export function isAllowed(permissions: readonly Permission[], action: string): boolean {
  const isIn = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, action))
  return permissions.some(({ actions, notActions }) => isIn(actions) && !isIn(notActions))
}

/** Compares the parts between the stars from left to right, in linear time. */
function matches(pattern: string, action: string): boolean {
  const [head = '', ...rest] = pattern.toLowerCase().split('*')
  const text = action.toLowerCase()
  const tail = rest.pop()
  if (tail === undefined) return text === head
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) return false
  let at = head.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > text.length - tail.length) return false
    at = found + part.length
  }
  return true
}

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
