/** Check `azure/provider`: is Microsoft.EventGrid registered in the Azure subscription? */
import { ArmFailureError } from '../../../../azure/read-failure.ts'
import { resourceApiVersions } from '../../../../core/api-versions.ts'
import { isRecord } from '../../../../support/text/is-record.ts'
import { oneLine } from '../../../../support/text/text.ts'
import type { AzureResource } from '../../context/azure-resource.ts'
import { armFinding, isForbidden, readFinding } from '../../report/arm-finding.ts'
import { type Finding, ok, warning } from '../../report/finding.ts'

const look = 'az provider show --namespace Microsoft.EventGrid --query registrationState'

/**
 * @param resource where the event subscription is kept that Azure refuses without the provider
 * @param options.byEmulator an emulator answers in the place of Azure: what may not be read there says nothing of Azure
 */
export async function checkProvider(
  resource: AzureResource,
  { byEmulator }: { readonly byEmulator: boolean },
  signal: AbortSignal,
): Promise<Finding> {
  const path = `/subscriptions/${resource.scope.subscriptionId}/providers/Microsoft.EventGrid`
  let answer: unknown
  try {
    answer = await resource.readArm(path, resourceApiVersions.resources, signal)
  } catch (error) {
    if (byEmulator && isForbidden(error)) return ok('not judged on the emulator: this client may not read it')
    const remedy = `give the client the role Reader on the subscription, or look as somebody who may:\n${look}`
    return readFinding(error, resource.explainedBy(), 'the registration of Microsoft.EventGrid', remedy)
  }
  const state = isRecord(answer) ? answer.registrationState : undefined
  if (state === 'Registered') return ok('Microsoft.EventGrid is registered')
  if (typeof state !== 'string')
    return warning('ARM tells no registrationState; a proxy may have answered in its place')
  const message = `registrationState is ${oneLine(state, 40)}`
  if (state === 'Registering') {
    return warning(`Microsoft.EventGrid is being registered: ${message}`, { remedy: look })
  }
  const code = 'MissingSubscriptionRegistration'
  return armFinding(new ArmFailureError({ kind: 'answer', status: 409, code, message }), resource.explainedBy())
}
