import { isRecord } from '../support/is-record.ts'

/** What a client may do at a scope, as ARM lists it (Azure RBAC: Microsoft.Authorization/permissions): a list for each role. */
export interface Permission {
  readonly actions: readonly string[]
  readonly notActions: readonly string[]
  readonly dataActions: readonly string[]
  readonly notDataActions: readonly string[]
}

/** Reads ARM's answer; what is no permission is left out. */
export function readPermissions(answer: unknown): readonly Permission[] {
  const list = isRecord(answer) && Array.isArray(answer.value) ? answer.value : []
  return list.filter(isRecord).map((one) => ({
    actions: texts(one.actions),
    notActions: texts(one.notActions),
    dataActions: texts(one.dataActions),
    notDataActions: texts(one.notDataActions),
  }))
}

/** Does any role allow an action and not except it? `*` stands for any part of a name, and letter case means nothing. */
export function isAllowed(
  permissions: readonly Permission[],
  action: string,
  kind: 'control' | 'data' = 'control',
): boolean {
  return permissions.some((one) => {
    const [granted, excepted] = kind === 'data' ? [one.dataActions, one.notDataActions] : [one.actions, one.notActions]
    return granted.some((pattern) => matches(pattern, action)) && !excepted.some((pattern) => matches(pattern, action))
  })
}

/** By parts between the stars, from left to right: a pattern made of many stars costs no more than one. */
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
