// Check `azure/permission`: role actions that the client lacks at the scope.
import { ArmFailureError } from '../../../../azure/read-failure.ts'
import { armFinding, isForbidden, readFinding } from '../../judge/arm-finding.ts'
import { isAllowed, readPermissions } from '../../judge/permissions.ts'
import { type Finding, ok, warning } from '../../report/finding.ts'
import { type AzurePlace, readPages } from '../../world/azure-place.ts'

/** The version of Microsoft.Authorization that is asked (Azure: permissions, list for resource). */
const apiVersion = '2022-04-01'

export async function judgeRoles(place: AzurePlace, signal: AbortSignal): Promise<Finding> {
  const { scope, actions } = place
  try {
    const path = `${scope.id}/providers/Microsoft.Authorization/permissions`
    const permissions = readPermissions(await readPages((page) => place.readArm(page, apiVersion, signal), path))
    const lacking = actions.filter((action) => !isAllowed(permissions, action))
    if (lacking.length === 0)
      return ok(`the client may ${place.writes ? 'read and write' : 'read'} event subscriptions at ${scope.id}`)
    const message = `its roles do not allow ${lacking.join(', ')}`
    const code = 'AuthorizationFailed'
    return lackingFinding(place, new ArmFailureError({ kind: 'answer', status: 403, code, message }))
  } catch (error) {
    return isForbidden(error) ? tryIt(place) : readFinding(error, place.explainedBy(), 'the list of permissions')
  }
}

/** Without the list, reading the event subscription shows at least part of the answer. */
async function tryIt(place: AzurePlace): Promise<Finding> {
  try {
    await place.existing()
    return warning(
      'the list of permissions may not be read; the event subscription may, whether it may be written is not known',
    )
  } catch (error) {
    return isForbidden(error) ? lackingFinding(place, error) : armFinding(error, place.explainedBy())
  }
}

function lackingFinding({ worksWithout, explainedBy }: AzurePlace, error: unknown): Finding {
  const finding = armFinding(error, explainedBy())
  if (!worksWithout) return finding
  return warning(`${finding.detail}; events are received if the event subscription exists`, { remedy: finding.remedy })
}
