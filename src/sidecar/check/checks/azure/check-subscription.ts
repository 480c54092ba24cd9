/** Check `azure/subscription`: is the event subscription, for push or for pull, as the metadata wants it? */
import { explainFailure } from '../../../../azure/refusals/resource-manager-refusal.ts'
import { ownDeliveryCredential, splitDeliveryCredentials } from '../../../../core/delivery-credential.ts'
import { showUrl } from '../../../../metadata/fields/redact.ts'
import { credentialsOf } from '../../../../provision/credential.ts'
import { decideUpsert, settingsThatStay, stayingFilters } from '../../../../provision/decide.ts'
import type { WantedSubscription } from '../../../../provision/needs.ts'
import { type SubscriptionProperties, webHookOf } from '../../../../provision/values.ts'
import { shellWord } from '../../../../support/text/text.ts'
import type { AzureResource } from '../../context/azure-resource.ts'
import type { PullResource } from '../../context/pull-context.ts'
import type { InputContext } from '../../context/side-context.ts'
import { idleSubscription } from '../../findings/idle-subscription.ts'
import { leftOvers } from '../../findings/left-over.ts'
import { readFinding } from '../../report/arm-finding.ts'
import { type Finding, failed, joined, ok, warning } from '../../report/finding.ts'

export async function checkEventSubscription(context: InputContext, signal: AbortSignal): Promise<Finding> {
  try {
    const existing = await context.existing()
    const [idle, others] = await Promise.all([idleSubscription(context), leftOvers(context, signal)])
    return joined([pushFinding(existing, context), ...(idle ? [idle] : []), ...others])
  } catch (error) {
    return readFinding(error, context.explainedBy(), 'the event subscription')
  }
}

function pushFinding(existing: SubscriptionProperties | undefined, context: InputContext): Finding {
  const { input, wanted } = context
  const name = input.eventSubscriptionName
  if (!existing) return missing(name, context)
  const { provisioningState: state = 'Succeeded' } = existing
  const again = `${mend(context)}: that writes ${name} anew, which starts another handshake; an init under way does so by itself`
  if (state === 'AwaitingManualAction') {
    const { what, fix = '' } = explainFailure({ kind: 'manual', message: state }, context.explainedBy())
    return failed(`${name} is ${state}: ${what}`, { remedy: `${fix}\n${again}` })
  }
  const upsert = decideUpsert(existing, wanted())
  if (upsert.action === 'wait') return changing(name, upsert.state)
  if (state !== 'Succeeded') {
    const what = `${name} is ${state}: Event Grid delivers nothing and does not try again by itself`
    return failed(what, { remedy: again })
  }
  if (upsert.action === 'refuse') return different(context)(`${name}: ${upsert.because}`, { remedy: upsert.fix })
  const faults = [endpointFinding(existing, context) ?? [], credentialFinding(existing, context) ?? []].flat()
  if (faults.length > 0) return joined(faults)
  const { deadLetterDestination, deadLetterWithResourceIdentity } = existing
  const hasDeadLetter = deadLetterDestination ?? deadLetterWithResourceIdentity
  const finding = joined([
    ok(`${name} is as the metadata wants it`),
    ...(upsert.action === 'patch' || upsert.action === 'replace' ? [differing(name, upsert.because, context)] : []),
    ...(hasDeadLetter ? [] : [warnOfNoDeadLetter(name, "an event that can't be delivered is lost")]),
  ])
  return withStaying(finding, existing, wanted())
}

/** Names what stays in Azure without a field, such as a filter that was removed from the YAML. */
function withStaying(finding: Finding, existing: SubscriptionProperties, wanted: WantedSubscription): Finding {
  const staying = stayingFilters(settingsThatStay(existing, wanted))
  return staying === undefined ? finding : { ...finding, detail: `${finding.detail}\n${staying}` }
}

export async function checkPullSubscription(resource: PullResource): Promise<Finding> {
  const name = `${resource.eventSubscriptionName} of ${resource.scope.id}`
  try {
    const existing = await resource.existing()
    return existing ? pullFinding(name, existing, resource) : missing(name, resource)
  } catch (error) {
    return readFinding(error, resource.explainedBy(), `the event subscription ${name}`)
  }
}

function pullFinding(name: string, existing: SubscriptionProperties, resource: PullResource): Finding {
  const decision = decideUpsert(existing, resource.wanted)
  if (decision.action === 'refuse') return different(resource)(`${name}: ${decision.because}`, { remedy: decision.fix })
  if (decision.action === 'wait') return changing(name, decision.state)
  const { provisioningState: state = 'Succeeded', deliveryConfiguration: delivery } = existing
  if (state !== 'Succeeded') {
    const remedy = `${mend(resource)}: that writes ${name} anew`
    return failed(`${name} is ${state}: Event Grid does not try again by itself`, { remedy })
  }
  if (decision.action !== 'keep') return differing(name, decision.because, resource)
  // What forwards needs no dead letters: its events wait in the namespace topic.
  const hasDeadLetter = !delivery || delivery.queue?.deadLetterDestinationWithResourceIdentity !== undefined
  const finding = hasDeadLetter
    ? ok(`${name} is as the metadata wants it`)
    : warnOfNoDeadLetter(name, 'an event that is rejected, or delivered too often, is lost')
  return withStaying(finding, existing, resource.wanted)
}

/** A finding if it delivers to another URL. */
function endpointFinding(existing: SubscriptionProperties, context: InputContext): Finding | undefined {
  const { input } = context
  const { eventSubscriptionName: name, subscriberEndpoint, scope } = input
  const webHook = webHookOf(existing)
  const url = webHook?.endpointUrl ?? webHook?.endpointBaseUrl
  if (url === undefined || !URL.canParse(url) || new URL(url).href === subscriberEndpoint) return undefined
  const remedy = [
    `${mend(context)}: that moves it here; or leave it to whom it belongs, and set another eventSubscriptionName. To see it:`,
    `az eventgrid event-subscription show --name ${shellWord(name)} --source-resource-id ${shellWord(scope.id)} --query destination`,
  ].join('\n')
  return different(context)(`${name} delivers to ${showUrl(url)}, not to ${showUrl(subscriberEndpoint)}`, { remedy })
}

/** A finding if its deliveries would carry no credential of ours. */
function credentialFinding(existing: SubscriptionProperties, context: InputContext): Finding | undefined {
  const { input } = context
  const { eventSubscriptionName: name, deliveryAuthentication: delivery } = input
  const webHook = webHookOf(existing)
  if (!webHook) return undefined
  const sources = 'clientSecret or deliveryToken'
  const remedy = `${mend(context)}; replicas with another ${sources} must end first`
  if (delivery.kind === 'secret') {
    const carried = splitDeliveryCredentials(credentialsOf(webHook) ?? '')
    if (carried.includes(ownDeliveryCredential(input)?.reveal() ?? '')) return undefined
    const what = carried.length === 0 ? 'no credential of this binding' : `the credential of another ${sources}`
    return different(context)(`${name} carries ${what}: its deliveries are answered 503`, { remedy })
  }
  if (delivery.kind === 'none') return undefined
  const tenant = webHook.azureActiveDirectoryTenantId?.toLowerCase()
  const application = webHook.azureActiveDirectoryApplicationIdOrUri?.toLowerCase()
  if (tenant === delivery.tenantId.toLowerCase() && application === delivery.clientId.toLowerCase()) return undefined
  const wanted = `client ${delivery.clientId} of tenant ${delivery.tenantId}`
  return different(context)(`${name} does not deliver with Entra tokens for ${wanted}`, { remedy })
}

type Writer = Pick<AzureResource, 'writes'>

/** With `provisioning: check` the binding lives with a difference. */
const different = ({ writes }: Writer) => (writes ? failed : warning)

/** Who brings the event subscription to what the metadata says. */
const mend = ({ writes }: Writer) =>
  writes ? 'start the binding again' : 'run eventgrid-binding provision, or change it where it is made'

const missing = (name: string, { writes }: Writer) =>
  writes
    ? ok(`${name} does not exist yet: init will create it`)
    : warning(`${name} does not exist, and with provisioning check the binding does not create it`, {
        remedy: 'make it, for instance by eventgrid-binding provision',
      })

function changing(name: string, state: string): Finding {
  const remedy = 'run check again when the change is done'
  return warning(`${name} is ${state}: another change is under way`, { remedy })
}

function differing(name: string, because: string, resource: Writer): Finding {
  return warning(`${name} differs from the metadata: ${because}`, { remedy: mend(resource) })
}

function warnOfNoDeadLetter(name: string, loss: string): Finding {
  const remedy = 'set deadLetterStorageAccountId and deadLetterContainer'
  return warning(`${name} has no dead-letter destination: ${loss}`, { remedy })
}
