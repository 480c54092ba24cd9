import { splitDeliveryCredentials } from '../core/delivery-credential.ts'
import { showUrl } from '../metadata/redact.ts'
import { ArmFailureError } from '../subscription/arm-failure.ts'
import { isWebHook } from '../subscription/canonical-subscription.ts'
import { decideUpsert, type ExistingSubscription } from '../subscription/decide-upsert.ts'
import { desiredSubscription } from '../subscription/desired-subscription.ts'
import { explainFailure } from '../subscription/explain-failure.ts'
import { credentialsOf } from '../subscription/merge-subscription.ts'
import { shellWord } from '../support/text.ts'
import { readFinding } from './arm-finding.ts'
import { type Finding, failed, joined, ok, warning } from './finding.ts'
import type { Check } from './run-checks.ts'
import type { InputWorld } from './world.ts'

const id = 'azure/subscription'

export function subscriptionCheck(world: InputWorld): Check {
  return {
    id,
    needs: ['azure/provider', 'azure/scope', 'azure/permission'],
    async run() {
      try {
        return judgeExisting(await world.existing(), world)
      } catch (error) {
        return readFinding(error, id, world.explainedBy(), 'the event subscription')
      }
    },
  }
}

function judgeExisting(existing: ExistingSubscription | undefined, world: InputWorld): Finding {
  const { input, deliveryCredential } = world
  const name = input.eventSubscriptionName
  if (!existing) return ok(`${name} does not exist yet: init will create it`)
  const { provisioningState: state = 'Succeeded' } = existing.subscription
  const again = `start the binding again: init writes ${name} anew, which starts another handshake`
  if (state === 'Creating' || state === 'Updating' || state === 'Deleting') {
    return warning(`${name} is ${state}: another change is under way`, {
      remedy: 'run check again when the change is done',
    })
  }
  if (state === 'AwaitingManualAction') {
    const { failure } = new ArmFailureError({ kind: 'manual', message: state })
    const { what, fix = '' } = explainFailure(failure, world.explainedBy())
    return failed(`${name} is ${state}: ${what}`, { remedy: `${fix}\n${again}` })
  }
  if (state !== 'Succeeded')
    return failed(`${name} is ${state}: Event Grid delivers nothing and does not try again by itself`, {
      remedy: again,
    })
  const desired = desiredSubscription(input, deliveryCredential)
  const upsert = decideUpsert(existing, desired)
  if (upsert.action === 'refuse') return failed(`${name}: ${upsert.because}`, { remedy: upsert.fix })
  const findings = [endpointFinding(existing, world), credentialFinding(existing, world)].filter(
    (one) => one !== undefined,
  )
  if (findings.length > 0) return joined(findings)
  const { deadLetterDestination, deadLetterWithResourceIdentity } = existing.subscription
  const warnings: Finding[] = []
  if (upsert.action === 'patch' || upsert.action === 'replace') {
    const remedy = 'start the binding again: init brings it to what the metadata says'
    warnings.push(warning(`${name} differs from the metadata: ${upsert.because}`, { remedy }))
  }
  if (!deadLetterDestination && !deadLetterWithResourceIdentity) {
    const remedy = 'set deadLetterStorageAccountId and deadLetterContainer'
    warnings.push(
      warning(`${name} has no dead-letter destination: an event that can't be delivered is lost`, { remedy }),
    )
  }
  return warnings.length > 0 ? joined(warnings) : ok(`${name} is as the metadata wants it`)
}

/** A finding if it delivers to another URL. */
function endpointFinding(
  { subscription: { destination } }: ExistingSubscription,
  { input }: InputWorld,
): Finding | undefined {
  const { eventSubscriptionName: name, subscriberEndpoint, scope } = input
  const url = isWebHook(destination) ? (destination.endpointUrl ?? destination.endpointBaseUrl) : undefined
  if (url === undefined || !URL.canParse(url) || new URL(url).href === subscriberEndpoint) return undefined
  return failed(`${name} delivers to ${showUrl(url)}, not to ${showUrl(subscriberEndpoint)}`, {
    remedy: [
      `start the binding, and init moves it here; or leave it to whom it belongs, and set another eventSubscriptionName. To see it:`,
      `az eventgrid event-subscription show --name ${shellWord(name)} --source-resource-id ${shellWord(scope.id)} --query destination`,
    ].join('\n'),
  })
}

/** A finding if its deliveries would carry no credential of ours. */
function credentialFinding(
  { subscription: { destination } }: ExistingSubscription,
  { input, deliveryCredential }: InputWorld,
): Finding | undefined {
  const { eventSubscriptionName: name, deliveryAuthentication: delivery } = input
  if (!isWebHook(destination)) return undefined
  const remedy =
    'start the binding again: init writes it; replicas with another clientSecret or deliveryToken must end first'
  if (delivery.kind === 'secret') {
    const carried = splitDeliveryCredentials(credentialsOf(destination) ?? '')
    if (deliveryCredential && carried.includes(deliveryCredential.reveal())) return undefined
    const what =
      carried.length === 0
        ? 'carries no credential of this binding'
        : 'carries the credential of another clientSecret or deliveryToken'
    return failed(`${name} ${what}: its deliveries are answered 503`, { remedy })
  }
  if (delivery.kind === 'none') return undefined
  const tenant = destination.azureActiveDirectoryTenantId?.toLowerCase()
  const application = destination.azureActiveDirectoryApplicationIdOrUri?.toLowerCase()
  if (tenant === delivery.tenantId.toLowerCase() && application === delivery.clientId.toLowerCase()) return undefined
  return failed(
    `${name} does not deliver with Entra tokens for client ${delivery.clientId} of tenant ${delivery.tenantId}`,
    { remedy },
  )
}
