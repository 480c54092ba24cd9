// Azure RBAC permission list: paging, `*` wildcards, `notActions`.
import { isRecord } from '../../../support/text/is-record.ts'

/** What one role allows at a scope (Azure RBAC: Microsoft.Authorization/permissions). */
export interface Permission {
  readonly actions: readonly string[]
  readonly notActions: readonly string[]
}

const maxPages = 20

/** Reads all pages of ARM's answer. `get` asks for a path; pages of another host are not asked for. */
export async function readAllPermissions(
  get: (path: string) => Promise<unknown>,
  path: string,
): Promise<readonly Permission[]> {
  const all: Permission[] = []
  let next: string | undefined = path
  for (let page = 0; next !== undefined && page < maxPages; page++) {
    const answer: unknown = await get(next)
    all.push(...readPermissions(answer))
    const link = isRecord(answer) && typeof answer.nextLink === 'string' ? URL.parse(answer.nextLink) : null
    next = link === null ? undefined : `${link.pathname}${link.search}`
  }
  return all
}

/** Reads ARM's answer. Invalid entries are left out. */
export function readPermissions(answer: unknown): readonly Permission[] {
  const list = isRecord(answer) && Array.isArray(answer.value) ? answer.value : []
  return list.filter(isRecord).map((one) => ({ actions: texts(one.actions), notActions: texts(one.notActions) }))
}

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
