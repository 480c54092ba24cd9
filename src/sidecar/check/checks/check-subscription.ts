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
import type { AzurePlace } from '../world/azure-place.ts'
import type { InputWorld } from '../world/world.ts'
import { idleSubscription } from './idle-subscription.ts'
import { leftOvers } from './left-over.ts'

export function subscriptionCheck(world: InputWorld): Check {
  return {
    id: 'azure/subscription',
    needs: ['azure/provider', 'azure/scope', 'azure/permission'],
    async run(signal) {
      try {
        const existing = await world.existing()
        const [idle, others] = await Promise.all([idleSubscription(world), leftOvers(world, signal)])
        return joined([judgeExisting(existing, world), ...(idle ? [idle] : []), ...others])
      } catch (error) {
        return readFinding(error, world.explainedBy(), 'the event subscription')
      }
    },
  }
}

function judgeExisting(existing: ExistingSubscription | undefined, world: InputWorld): Finding {
  const { input, deliveryCredential } = world
  const name = input.eventSubscriptionName
  if (!existing) return missing(name, world)
  const { provisioningState: state = 'Succeeded' } = existing.subscription
  const again = `${mend(world)}: that writes ${name} anew, which starts another handshake`
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
  if (upsert.action === 'refuse') return different(world)(`${name}: ${upsert.because}`, { remedy: upsert.fix })
  const faults = [endpointFinding(existing, world), credentialFinding(existing, world)].filter(
    (one) => one !== undefined,
  )
  if (faults.length > 0) return joined(faults)
  const { deadLetterDestination, deadLetterWithResourceIdentity } = existing.subscription
  const hasDeadLetter = deadLetterDestination ?? deadLetterWithResourceIdentity
  return joined([
    ok(`${name} is as the metadata wants it`),
    ...(upsert.action === 'patch' || upsert.action === 'replace' ? [differing(name, upsert.because, world)] : []),
    ...(hasDeadLetter ? [] : [withoutDeadLetter(name, "an event that can't be delivered is lost")]),
  ])
}

/** A finding if it delivers to another URL. */
function endpointFinding(
  { subscription: { destination } }: ExistingSubscription,
  world: InputWorld,
): Finding | undefined {
  const { input } = world
  const { eventSubscriptionName: name, subscriberEndpoint, scope } = input
  const url = isWebHook(destination) ? (destination.endpointUrl ?? destination.endpointBaseUrl) : undefined
  if (url === undefined || !URL.canParse(url) || new URL(url).href === subscriberEndpoint) return undefined
  const remedy = [
    `${mend(world)}: that moves it here; or leave it to whom it belongs, and set another eventSubscriptionName. To see it:`,
    `az eventgrid event-subscription show --name ${shellWord(name)} --source-resource-id ${shellWord(scope.id)} --query destination`,
  ].join('\n')
  return different(world)(`${name} delivers to ${showUrl(url)}, not to ${showUrl(subscriberEndpoint)}`, { remedy })
}

/** A finding if its deliveries would carry no credential of ours. */
function credentialFinding(
  { subscription: { destination } }: ExistingSubscription,
  world: InputWorld,
): Finding | undefined {
  const { input, deliveryCredential } = world
  const { eventSubscriptionName: name, deliveryAuthentication: delivery } = input
  if (!isWebHook(destination)) return undefined
  const sources = 'clientSecret or deliveryToken'
  const remedy = `${mend(world)}; replicas with another ${sources} must end first`
  if (delivery.kind === 'secret') {
    const carried = splitDeliveryCredentials(credentialsOf(destination) ?? '')
    if (deliveryCredential && carried.includes(deliveryCredential.reveal())) return undefined
    const what = carried.length === 0 ? 'no credential of this binding' : `the credential of another ${sources}`
    return different(world)(`${name} carries ${what}: its deliveries are answered 503`, { remedy })
  }
  if (delivery.kind === 'none') return undefined
  const tenant = destination.azureActiveDirectoryTenantId?.toLowerCase()
  const application = destination.azureActiveDirectoryApplicationIdOrUri?.toLowerCase()
  if (tenant === delivery.tenantId.toLowerCase() && application === delivery.clientId.toLowerCase()) return undefined
  const wanted = `client ${delivery.clientId} of tenant ${delivery.tenantId}`
  return different(world)(`${name} does not deliver with Entra tokens for ${wanted}`, { remedy })
}

type Writer = Pick<AzurePlace, 'writes'>

/** With `provisioning: check` the binding lives with a difference. */
export const different = ({ writes }: Writer) => (writes ? failed : warning)

/** Who brings the event subscription to what the metadata says. */
export const mend = ({ writes }: Writer) =>
  writes ? 'start the binding again' : 'run eventgrid-binding provision, or change it where it is made'

export const missing = (name: string, { writes }: Writer) =>
  writes
    ? ok(`${name} does not exist yet: init will create it`)
    : warning(`${name} does not exist, and with provisioning check the binding does not create it`, {
        remedy: 'make it, for instance by eventgrid-binding provision',
      })

export function changing(name: string, state: string): Finding {
  const remedy = 'run check again when the change is done'
  return warning(`${name} is ${state}: another change is under way`, { remedy })
}

export function differing(name: string, because: string, place: Writer): Finding {
  return warning(`${name} differs from the metadata: ${because}`, { remedy: mend(place) })
}

export function withoutDeadLetter(name: string, loss: string): Finding {
  const remedy = 'set deadLetterStorageAccountId and deadLetterContainer'
  return warning(`${name} has no dead-letter destination: ${loss}`, { remedy })
}
