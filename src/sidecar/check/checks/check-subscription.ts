// Check `azure/subscription` for push: state, endpoint URL, credential, dead-letter warning.
import { splitDeliveryCredentials } from '../../../core/delivery-credential.ts'
import { showUrl } from '../../../metadata/fields/redact.ts'
import { ArmFailureError } from '../../../provision/arm/arm-failure.ts'
import { isWebHook } from '../../../provision/decide/canonical-subscription.ts'
import { decideUpsert, type ExistingSubscription } from '../../../provision/decide/decide-upsert.ts'
import { desiredSubscription } from '../../../provision/decide/desired-subscription.ts'
import { credentialsOf } from '../../../provision/decide/merge-subscription.ts'
import { explainFailure } from '../../../provision/explain/explain-failure.ts'
import { shellWord } from '../../../support/text/text.ts'
import { readFinding } from '../judge/arm-finding.ts'
import { type Finding, failed, joined, ok, warning } from '../report/finding.ts'
import type { Check } from '../run-checks.ts'
import type { InputWorld } from '../world/world.ts'

export function subscriptionCheck(world: InputWorld): Check {
  return {
    id: 'azure/subscription',
    needs: ['azure/provider', 'azure/scope', 'azure/permission'],
    async run() {
      try {
        return judgeExisting(await world.existing(), world)
      } catch (error) {
        return readFinding(error, world.explainedBy(), 'the event subscription')
      }
    },
  }
}

function judgeExisting(existing: ExistingSubscription | undefined, world: InputWorld): Finding {
  const { input, deliveryCredential } = world
  const name = input.eventSubscriptionName
  if (!existing) return missing(name)
  const { provisioningState: state = 'Succeeded' } = existing.subscription
  const again = `start the binding again: init writes ${name} anew, which starts another handshake`
  if (state === 'AwaitingManualAction') {
    const { failure } = new ArmFailureError({ kind: 'manual', message: state })
    const { what, fix = '' } = explainFailure(failure, world.explainedBy())
    return failed(`${name} is ${state}: ${what}`, { remedy: `${fix}\n${again}` })
  }
  const upsert = decideUpsert(existing, desiredSubscription(input, deliveryCredential))
  if (upsert.action === 'wait') return changing(name, upsert.state)
  if (state !== 'Succeeded') {
    const what = `${name} is ${state}: Event Grid delivers nothing and does not try again by itself`
    return failed(what, { remedy: again })
  }
  if (upsert.action === 'refuse') return failed(`${name}: ${upsert.because}`, { remedy: upsert.fix })
  const failures = [endpointFinding(existing, world), credentialFinding(existing, world)].filter(
    (one) => one !== undefined,
  )
  if (failures.length > 0) return joined(failures)
  const { deadLetterDestination, deadLetterWithResourceIdentity } = existing.subscription
  const hasDeadLetter = deadLetterDestination ?? deadLetterWithResourceIdentity
  return joined([
    ok(`${name} is as the metadata wants it`),
    ...(upsert.action === 'patch' || upsert.action === 'replace' ? [differing(name, upsert.because)] : []),
    ...(hasDeadLetter ? [] : [withoutDeadLetter(name, "an event that can't be delivered is lost")]),
  ])
}

/** A finding if it delivers to another URL. */
function endpointFinding(
  { subscription: { destination } }: ExistingSubscription,
  { input }: InputWorld,
): Finding | undefined {
  const { eventSubscriptionName: name, subscriberEndpoint, scope } = input
  const url = isWebHook(destination) ? (destination.endpointUrl ?? destination.endpointBaseUrl) : undefined
  if (url === undefined || !URL.canParse(url) || new URL(url).href === subscriberEndpoint) return undefined
  const remedy = [
    `start the binding, and init moves it here; or leave it to whom it belongs, and set another eventSubscriptionName. To see it:`,
    `az eventgrid event-subscription show --name ${shellWord(name)} --source-resource-id ${shellWord(scope.id)} --query destination`,
  ].join('\n')
  return failed(`${name} delivers to ${showUrl(url)}, not to ${showUrl(subscriberEndpoint)}`, { remedy })
}

/** A finding if its deliveries would carry no credential of ours. */
function credentialFinding(
  { subscription: { destination } }: ExistingSubscription,
  { input, deliveryCredential }: InputWorld,
): Finding | undefined {
  const { eventSubscriptionName: name, deliveryAuthentication: delivery } = input
  if (!isWebHook(destination)) return undefined
  const sources = 'clientSecret or deliveryToken'
  const remedy = `start the binding again: init writes it; replicas with another ${sources} must end first`
  if (delivery.kind === 'secret') {
    const carried = splitDeliveryCredentials(credentialsOf(destination) ?? '')
    if (deliveryCredential && carried.includes(deliveryCredential.reveal())) return undefined
    const what = carried.length === 0 ? 'no credential of this binding' : `the credential of another ${sources}`
    return failed(`${name} carries ${what}: its deliveries are answered 503`, { remedy })
  }
  if (delivery.kind === 'none') return undefined
  const tenant = destination.azureActiveDirectoryTenantId?.toLowerCase()
  const application = destination.azureActiveDirectoryApplicationIdOrUri?.toLowerCase()
  if (tenant === delivery.tenantId.toLowerCase() && application === delivery.clientId.toLowerCase()) return undefined
  const wanted = `client ${delivery.clientId} of tenant ${delivery.tenantId}`
  return failed(`${name} does not deliver with Entra tokens for ${wanted}`, { remedy })
}

export const missing = (name: string) => ok(`${name} does not exist yet: init will create it`)

export function changing(name: string, state: string): Finding {
  const remedy = 'run check again when the change is done'
  return warning(`${name} is ${state}: another change is under way`, { remedy })
}

export function differing(name: string, because: string): Finding {
  const remedy = 'start the binding again: init brings it to what the metadata says'
  return warning(`${name} differs from the metadata: ${because}`, { remedy })
}

export function withoutDeadLetter(name: string, loss: string): Finding {
  const remedy = 'set deadLetterStorageAccountId and deadLetterContainer'
  return warning(`${name} has no dead-letter destination: ${loss}`, { remedy })
}
