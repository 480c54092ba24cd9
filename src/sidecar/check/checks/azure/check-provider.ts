// Check `azure/provider`: is Microsoft.EventGrid registered in the Azure subscription.
import { ArmFailureError } from '../../../../azure/read-failure.ts'
import { isRecord } from '../../../../support/text/is-record.ts'
import { oneLine } from '../../../../support/text/text.ts'
import { armFinding, readFinding } from '../../judge/arm-finding.ts'
import { ok, warning } from '../../report/finding.ts'
import type { Check } from '../../run-checks.ts'
import type { AzurePlace } from '../../world/azure-place.ts'

/** The version of Microsoft.Resources that is asked (Azure: resource provider operations). */
const apiVersion = '2021-04-01'

/** @param place where the event subscription is kept that Azure refuses without the provider */
export function providerCheck(place: AzurePlace): Check {
  const { subscriptionId } = place.scope
  return {
    id: 'azure/provider',
    needs: ['azure/credential'],
    async run(signal) {
      const path = `/subscriptions/${subscriptionId}/providers/Microsoft.EventGrid`
      let answer: unknown
      try {
        answer = await place.readArm(path, apiVersion, signal)
      } catch (error) {
        return readFinding(error, place.explainedBy(), 'the registration of Microsoft.EventGrid')
      }
      const state = isRecord(answer) ? answer.registrationState : undefined
      if (state === 'Registered') return ok('Microsoft.EventGrid is registered')
      if (typeof state !== 'string')
        return warning('ARM tells no registrationState; a proxy may have answered in its place')
      const message = `registrationState is ${oneLine(state, 40)}`
      if (state === 'Registering') {
        const remedy = 'az provider show --namespace Microsoft.EventGrid --query registrationState'
        return warning(`Microsoft.EventGrid is being registered: ${message}`, { remedy })
      }
      const code = 'MissingSubscriptionRegistration'
      return armFinding(new ArmFailureError({ kind: 'answer', status: 409, code, message }), place.explainedBy())
    },
  }
}
