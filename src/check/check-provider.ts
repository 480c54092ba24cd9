import { ArmFailureError } from '../subscription/arm-failure.ts'
import { isRecord } from '../support/is-record.ts'
import { oneLine } from '../support/text.ts'
import { armFinding, readFinding } from './arm-finding.ts'
import type { AzurePlace } from './azure-place.ts'
import { ok, warning } from './finding.ts'
import type { Check } from './run-checks.ts'

/** The version of Microsoft.Resources that is asked (Azure: resource provider operations). */
const apiVersion = '2021-04-01'
const id = 'azure/provider'

/** @param place where the event subscription is kept that Azure refuses without the provider */
export function providerCheck(place: AzurePlace): Check {
  const { subscriptionId } = place.scope
  return {
    id,
    needs: ['azure/credential'],
    async run(signal) {
      const context = place.explainedBy()
      const path = `/subscriptions/${subscriptionId}/providers/Microsoft.EventGrid`
      let answer: unknown
      try {
        answer = await place.readArm(path, apiVersion, signal)
      } catch (error) {
        return readFinding(error, id, context, 'the registration of Microsoft.EventGrid')
      }
      const state = isRecord(answer) ? answer.registrationState : undefined
      if (state === 'Registered') return ok('Microsoft.EventGrid is registered')
      if (typeof state !== 'string')
        return warning('ARM tells no registrationState; a proxy may have answered in its place')
      const shown = `registrationState is ${oneLine(state, 40)}`
      if (state === 'Registering') {
        return warning(`Microsoft.EventGrid is being registered: ${shown}`, {
          remedy: 'az provider show --namespace Microsoft.EventGrid --query registrationState',
        })
      }
      return armFinding(
        new ArmFailureError({ kind: 'answer', status: 409, code: 'MissingSubscriptionRegistration', message: shown }),
        id,
        context,
      )
    },
  }
}
