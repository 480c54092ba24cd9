/** Check `azure/permission`: do the roles of the client allow what the binding does at the scope? */
import { ArmFailureError } from '../../../../azure/read-failure.ts'
import { resourceApiVersions } from '../../../../core/api-versions.ts'
import { readWholeList } from '../../../../provision/arm.ts'
import { isRecord } from '../../../../support/text/is-record.ts'
import type { AzureResource } from '../../context/azure-resource.ts'
import { armFinding, isForbidden, readFinding } from '../../report/arm-finding.ts'
import { type Finding, ok, warning } from '../../report/finding.ts'

export async function checkRoles(resource: AzureResource, signal: AbortSignal): Promise<Finding> {
  const { scope, actions } = resource
  try {
    const path = `${scope.id}/providers/Microsoft.Authorization/permissions`
    const get = (page: string) => resource.readArm(page, resourceApiVersions.permissions, signal)
    const permissions = readPermissions(await readWholeList(get, path, 'permissions'))
    const lacking = actions.filter((action) => !isAllowed(permissions, action))
    if (lacking.length === 0)
      return ok(`the client may ${resource.writes ? 'read and write' : 'read'} event subscriptions at ${scope.id}`)
    const message = `its roles do not allow ${lacking.join(', ')}`
    const code = 'AuthorizationFailed'
    return lackingFinding(resource, new ArmFailureError({ kind: 'answer', status: 403, code, message }))
  } catch (error) {
    return isForbidden(error) ? tryIt(resource) : readFinding(error, resource.explainedBy(), 'the list of permissions')
  }
}

/** Without the list, reading the event subscription shows at least part of the answer. */
async function tryIt(resource: AzureResource): Promise<Finding> {
  try {
    await resource.existing()
    const rest = 'the event subscription may, whether it may be written is not known'
    return warning(`the list of permissions may not be read; ${rest}`)
  } catch (error) {
    return isForbidden(error) ? lackingFinding(resource, error) : armFinding(error, resource.explainedBy())
  }
}

function lackingFinding({ worksWithout, explainedBy }: AzureResource, error: unknown): Finding {
  const finding = armFinding(error, explainedBy())
  if (!worksWithout) return finding
  return warning(`${finding.detail}; events are received if the event subscription exists`, { remedy: finding.remedy })
}

/** What each role allows at a scope (Azure RBAC: Microsoft.Authorization/permissions). Invalid entries are left out. */
export const readPermissions = (list: readonly unknown[]) =>
  list.filter(isRecord).map((one) => ({ actions: texts(one.actions), notActions: texts(one.notActions) }))

/** Whether a role allows an action. `*` matches any text; letter case does not matter. */
export function isAllowed(permissions: ReturnType<typeof readPermissions>, action: string): boolean {
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
