import { ArmFailureError } from '../subscription/arm-failure.ts'
import { chooseSubscriptionPath, type SubscriptionPath } from '../subscription/subscription-path.ts'
import { armFinding, isForbidden, readFinding } from './arm-finding.ts'
import { type Finding, ok, warning } from './finding.ts'
import { isAllowed, readAllPermissions } from './permissions.ts'
import type { Check } from './run-checks.ts'
import type { InputWorld } from './world.ts'

const id = 'azure/permission'

/** The version of Microsoft.Authorization that is asked (Azure: permissions, list for resource). */
const apiVersion = '2022-04-01'

const verbs = ['read', 'write', 'getFullUrl/action', 'getDeliveryAttributes/action'] as const

/** The resource type in an action, by the path of the event subscription. */
const types = {
  extension: 'eventSubscriptions',
  systemTopic: 'systemTopics/eventSubscriptions',
  partnerTopic: 'partnerTopics/eventSubscriptions',
} as const satisfies Record<SubscriptionPath['kind'], string>

export function permissionCheck(world: InputWorld): Check {
  const { scope } = world.input
  return {
    id,
    needs: ['azure/credential'],
    async run(signal) {
      const context = world.explainedBy()
      try {
        const path = `${scope.id}/providers/Microsoft.Authorization/permissions`
        const permissions = await readAllPermissions((page) => world.readArm(page, apiVersion, signal), path)
        const type = types[chooseSubscriptionPath(scope).kind]
        const needed = verbs.map((verb) => `Microsoft.EventGrid/${type}/${verb}`)
        const lacking = needed.filter((action) => !isAllowed(permissions, action))
        if (lacking.length === 0) return ok(`the client may read and write event subscriptions at ${scope.id}`)
        const message = `its roles do not allow ${lacking.join(', ')}`
        return armFinding(
          new ArmFailureError({ kind: 'answer', status: 403, code: 'AuthorizationFailed', message }),
          id,
          context,
        )
      } catch (error) {
        return isForbidden(error) ? tryIt(world) : readFinding(error, id, context, 'the list of permissions')
      }
    },
  }
}

/** Without the list, reading the event subscription shows at least part of the answer. */
async function tryIt(world: InputWorld): Promise<Finding> {
  try {
    await world.existing()
    return warning(
      'the list of permissions may not be read; the event subscription may, whether it may be written is not known',
    )
  } catch (error) {
    return armFinding(error, id, world.explainedBy())
  }
}
