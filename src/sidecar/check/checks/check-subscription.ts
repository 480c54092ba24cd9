/** The check `azure/subscription`: is the event subscription what the component wants, and are there others that deliver here? */
import { explainFailure } from '../../../azure/refusals/resource-manager-refusal.ts'
import { ownDeliveryCredential, splitDeliveryCredentials } from '../../../core/delivery-credential.ts'
import { eventGridApiVersion } from '../../../core/versions.ts'
import { showUrl } from '../../../metadata/fields/addresses.ts'
import { readList } from '../../../provision/arm.ts'
import { decideUpsert, placeAt, type WantedSubscription } from '../../../provision/decide.ts'
import { credentialsOf } from '../../../provision/needs-webhook.ts'
import { isActive, propertiesIn, type SubscriptionProperties, webHookOf } from '../../../provision/values.ts'
import { isRecord } from '../../../support/text/json-text.ts'
import { oneLine, shellWord } from '../../../support/text/text.ts'
import type { AzureResource } from '../context/azure-resource.ts'
import { isOwnAnswer } from '../context/own-listener.ts'
import type { InputContext } from '../context/side-context.ts'
import { type Finding, failed, joined, ok, readFinding, warning } from '../finding.ts'

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
  const name = context.input.eventSubscriptionName
  if (!existing) return missing(name, context)
  if (existing.provisioningState === 'AwaitingManualAction') {
    const { what, fix = '' } = explainFailure({ kind: 'manual', message: '' }, context.explainedBy())
    const remedy = `${fix}\n${writtenAnew(name, context)}`
    return failed(`${name} is AwaitingManualAction: ${what}`, { remedy })
  }
  const hasDeadLetter = existing.deadLetterDestination ?? existing.deadLetterWithResourceIdentity
  return settingsFinding(name, existing, context, {
    wanted: context.wanted,
    faults: [endpointFinding(existing, context) ?? [], credentialFinding(existing, context) ?? []].flat(),
    loss: hasDeadLetter ? undefined : "an event that can't be delivered is lost",
  })
}

export async function checkPullSubscription(resource: AzureResource): Promise<Finding> {
  const { wanted } = resource
  const name = `${resource.eventSubscriptionName} of ${resource.scope.id}`
  try {
    const existing = await resource.existing()
    if (!existing) return missing(name, resource)
    const { deliveryConfiguration: delivery } = existing
    // An event subscription that forwards needs no dead letters: its events wait in the namespace topic.
    const hasDeadLetter = !delivery || delivery.queue?.deadLetterDestinationWithResourceIdentity !== undefined
    const loss = hasDeadLetter ? undefined : 'an event that is rejected, or delivered too often, is lost'
    return settingsFinding(name, existing, resource, { wanted, faults: [], loss })
  } catch (error) {
    return readFinding(error, resource.explainedBy(), `the event subscription ${name}`)
  }
}

interface Judged {
  readonly wanted: WantedSubscription
  /** Why its events do not come here, or not with our credential. */
  readonly faults: readonly Finding[]
  /** What becomes of events without a dead-letter destination; absent where there is one. */
  readonly loss: string | undefined
}

/** The state, the settings and the dead letters of an event subscription, by push and by pull alike. */
function settingsFinding(
  name: string,
  existing: SubscriptionProperties,
  resource: Writer,
  { wanted, faults, loss }: Judged,
): Finding {
  const { provisioningState: state = 'Succeeded' } = existing
  const upsert = decideUpsert(existing, wanted)
  if (upsert.action === 'wait') {
    const remedy = 'run check again when the change is done'
    return warning(`${name} is ${upsert.state}: another change is under way`, { remedy })
  }
  if (upsert.action === 'refuse') return different(resource)(`${name}: ${upsert.because}`, { remedy: upsert.fix })
  if (state !== 'Succeeded') {
    const what = `${name} is ${state}: Event Grid delivers nothing and does not try again by itself`
    return failed(what, { remedy: writtenAnew(name, resource) })
  }
  if (faults.length > 0) return joined(faults)
  const findings = [ok(`${name} is as the metadata wants it`)]
  if (upsert.action !== 'keep')
    findings.push(warning(`${name} differs from the metadata: ${upsert.because}`, { remedy: mend(resource) }))
  if (loss !== undefined) {
    const remedy = 'set deadLetterStorageAccountId and deadLetterContainer'
    findings.push(warning(`${name} has no dead-letter destination: ${loss}`, { remedy }))
  }
  return joined(findings)
}

const writtenAnew = (name: string, resource: Writer) =>
  `${mend(resource)}: that writes ${name} anew, which starts another handshake; an init under way does so by itself`

/** A finding if the event subscription delivers to another URL. */
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

/** Makes the finding for a difference: a failure; a warning with `provisioning: check`, because the binding still works then. */
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

/** A warning; `undefined` where a binding runs, where nothing is delivered here, and where that is not known. Never rejects. */
async function idleSubscription(context: InputContext): Promise<Finding | undefined> {
  const { input, surroundings } = context
  try {
    // Without an answer of the endpoint nobody knows whether the binding runs on another machine.
    if (!surroundings.selected.has('endpoint/handshake')) return undefined
    const [holder, existing] = await Promise.all([context.portHolder(), context.existing()])
    if (holder.kind !== 'check' || !existing || !isActive(existing)) return undefined
    if (context.wanted.awayFrom(existing) !== undefined) return undefined
    const { health } = await context.endpointAnswers()
    if (!isOwnAnswer(holder, health)) return undefined
  } catch {
    // Other checks report why.
    return undefined
  }
  const { eventSubscriptionName: name, scope, handshakePort } = input
  const remedy = [
    'start the binding: its events wait for eventTimeToLive at most. Or delete the event subscription, if nobody uses it:',
    `az eventgrid event-subscription delete --name ${shellWord(name)} --source-resource-id ${shellWord(scope.id)}`,
  ].join('\n')
  const what = `the event subscription ${name} delivers here, and no binding runs: nothing listens on ${handshakePort}`
  return warning(what, { remedy })
}

/** A warning for each. Where the list can't be read there are none: the event subscription itself may be readable all the same. */
async function leftOvers({ input, readArm }: InputContext, signal: AbortSignal): Promise<readonly Finding[]> {
  const { scope, eventSubscriptionName, subscriberEndpoint } = input
  const { listPath: path } = placeAt(scope, eventSubscriptionName)
  const get = (page: string) => readArm(page, eventGridApiVersion, signal)
  const list = await readList(get, path, 'event subscriptions').catch(() => [])
  const endpoint = showUrl(subscriberEndpoint.replace(/\?.*$/s, ''))
  return list.flatMap((entry) => {
    const { name } = isRecord(entry) ? entry : {}
    if (typeof name !== 'string' || name.toLowerCase() === eventSubscriptionName.toLowerCase()) return []
    const { destination } = propertiesIn(entry)
    if (propertiesIn(destination).endpointBaseUrl !== endpoint) return []
    const shown = oneLine(name, 64)
    const remedy = [
      `set eventSubscriptionName to ${shown} if it is this binding's; or delete it:`,
      `az eventgrid event-subscription delete --name ${shellWord(shown)} --source-resource-id ${shellWord(scope.id)}`,
    ].join('\n')
    const what = `the event subscription ${shown} delivers to ${endpoint} too: the binding refuses its events`
    return [warning(what, { remedy })]
  })
}
