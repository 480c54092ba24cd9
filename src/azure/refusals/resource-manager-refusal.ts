/** What a refusal of Resource Manager means, and what to do about it. */
import type { BindingErrorParts, ProvisioningErrorCode } from '../../core/errors.ts'
import { scrub } from '../../core/scrub.ts'
import { showUrl } from '../../metadata/fields/addresses.ts'
import type { PushMetadata } from '../../metadata/typed/metadata.ts'
import { shellWord } from '../../support/text/text.ts'
import type { ArmFailure, ArmFailureKind } from '../read-failure.ts'
import { certificateRemedy, type Right, rightsRemedy, roleRemedy, silenceRemedy } from './remedies.ts'

/**
 * The failures of provisioning, by the code that each ends in, and whether another attempt may succeed by itself. Where not, an operator
 * has to correct something. TIMEOUT is what a conflict, throttling, or a fault of service or network ends in.
 */
export const mayPass: Readonly<Record<ProvisioningErrorCode, boolean>> = {
  TIMEOUT: true,
  HANDSHAKE_FAILED: true,
  CREDENTIALS_REJECTED: false,
  PERMISSION_DENIED: false,
  PROVIDER_NOT_REGISTERED: false,
  SCOPE_NOT_FOUND: false,
  SUBSCRIPTION_REJECTED: false,
}

const scopeCodes: ReadonlySet<string> = new Set([
  'parentresourcenotfound',
  'resourcegroupnotfound',
  'subscriptionnotfound',
  'invalidsubscriptionid',
  'invalidresourcetype',
  'invalidresourcenamespace',
  'noregisteredproviderfound',
  'missingapiversionparameter',
])

const passingKinds: ReadonlySet<ArmFailureKind> = new Set([
  ...(['network', 'answerUnread', 'missing', 'token', 'canceled', 'lost', 'deadline'] as const),
])

/** Codes that look final and are not: the same request succeeds a little later (hashicorp/terraform-provider-azurerm#26256). */
const passingCodes: ReadonlySet<string> = new Set(['messaginggatewaybadrequest'])

/** A 403 of somebody's rule, which no role changes. */
const disallowed = /^requestdisallowed|^disallowed|disabled/

/** Codes of a 409 that does not pass. */
const lastingConflicts: ReadonlySet<string> = new Set([
  'scopelocked',
  'readonlydisabledsubscription',
  'subscriptionnotregistered',
  'requestdisallowedbypolicy',
  'quotaexceeded',
  'quotalimitreached',
  'limitexceeded',
])

/** Codes and messages of an operation's failure that may pass: a fault of the service, or a source that is being changed. */
const passingOperations = [
  /^internal/i,
  /internal server error/i,
  /^conflict/i,
  /publisher (notification|provider) error/i,
  /^(service|server)(unavailable|busy|timeout)/i,
]

/** What a failure means: the code that it ends in. Not every 409 is a conflict: an unregistered provider is answered 409 as well. */
export function meaningOf(failure: ArmFailure): ProvisioningErrorCode {
  const { kind, status, message, targets = [] } = failure
  const code = failure.code?.toLowerCase() ?? ''
  if (kind === 'manual' || kind === 'noConsent') return 'HANDSHAKE_FAILED'
  if (passingKinds.has(kind)) return 'TIMEOUT'
  if (kind === 'unexpected') return 'SUBSCRIPTION_REJECTED'
  if (
    /^url\s*validation/.test(code) ||
    /validation handshake failed|attempt to validate the provided endpoint/i.test(message)
  ) {
    return 'HANDSHAKE_FAILED'
  }
  if (code === 'missingsubscriptionregistration' || isUnregistered(message, targets)) return 'PROVIDER_NOT_REGISTERED'
  if (passingCodes.has(code)) return 'TIMEOUT'
  if (/authorizationfailed$/.test(code)) return 'PERMISSION_DENIED'
  if (scopeCodes.has(code)) return 'SCOPE_NOT_FOUND'
  if (kind === 'operation') {
    const passes = passingOperations.some((pattern) => pattern.test(code) || pattern.test(message))
    return code === '' || passes ? 'TIMEOUT' : 'SUBSCRIPTION_REJECTED'
  }
  if (isExpiredToken(failure)) return 'TIMEOUT'
  if (status === 401) return 'CREDENTIALS_REJECTED'
  // Without a code it is not ARM that says so, but a gateway or a proxy.
  if ((status === 403 || status === 404) && code === '') return 'TIMEOUT'
  if (status === 403) return disallowed.test(code) ? 'SUBSCRIPTION_REJECTED' : 'PERMISSION_DENIED'
  if (status === 404) return 'SCOPE_NOT_FOUND'
  if (status === 409) return lastingConflicts.has(code) || /quota/i.test(message) ? 'SUBSCRIPTION_REJECTED' : 'TIMEOUT'
  if (status === 408 || status === 412 || status === 429 || (status !== undefined && status >= 500)) return 'TIMEOUT'
  return 'SUBSCRIPTION_REJECTED'
}

/** The token expired on its way, or by ARM's clock. A new one helps. */
function isExpiredToken({ status, code }: ArmFailure): boolean {
  return status === 401 && code?.toLowerCase() === 'expiredauthenticationtoken'
}

function isUnregistered(message: string, targets: readonly string[]): boolean {
  return (
    /registration is in '(un|not)registered' state|is not registered (to use namespace|in subscription)/i.test(
      message,
    ) ||
    (targets.some((target) => target.toLowerCase() === 'microsoft.eventgrid') && /regist/i.test(message))
  )
}

type Named = 'subscriptionId' | 'eventSubscriptionName' | 'clientId' | 'subscriberEndpoint'

/** What an explanation names, and must not show. */
export interface FailureContext extends Pick<PushMetadata, Named> {
  readonly scopeId: string
  /** Where ARM keeps the event subscription: it decides which role allows to write it. */
  readonly pathKind: 'extension' | 'systemTopic' | 'partnerTopic' | 'namespaceTopic'
  /** The scope is a namespace, of which only the host name is read. @default false */
  readonly isHostRead?: boolean
  /** Nothing is written: `provisioning` is `check`. @default false */
  readonly isReadOnly?: boolean
  readonly resourceManager: string
  /** The event subscription was `Failed` when it was read last. @default false */
  readonly isFailed?: boolean
  /** Texts that must not be shown, should Azure repeat them. */
  readonly secrets: readonly string[]
}

/** The parts of the `BindingError` for a failure. Holds no secret. */
export interface Explanation extends BindingErrorParts<ProvisioningErrorCode> {
  readonly code: ProvisioningErrorCode
}

/**
 * The smallest built-in role that may write event subscriptions, or read them. That of the extension path has no rights below a system
 * topic.
 */
function roleOf({ pathKind, isReadOnly }: FailureContext): string {
  if (isReadOnly) return pathKind === 'extension' ? 'EventGrid EventSubscription Reader' : 'Reader'
  return pathKind === 'extension' ? 'EventGrid EventSubscription Contributor' : 'EventGrid Contributor'
}

/** Explains a failed ARM call. A retryable failure has the code TIMEOUT, because that is what it ends in. */
export function explainFailure(failure: ArmFailure, context: FailureContext): Explanation {
  const { status, code, requestId } = failure
  const explained = explain(failure, context)
  const what = deliversNothing(failure, context) ? `${explained.what}; ${failedSubscription(context)}` : explained.what
  return {
    ...explained,
    what,
    details: {
      ...(status !== undefined && { status }),
      ...(code !== undefined && { azureCode: scrub(code, context.secrets) }),
      ...(requestId !== undefined && { requestId }),
      ...explained.details,
    },
  }
}

/**
 * Whether Event Grid delivers nothing by the web hook now: an operation that failed has left it `Failed`. What a failed update does to
 * deliveries in Azure is not known; this is the worst case.
 */
function deliversNothing({ kind }: ArmFailure, { subscriberEndpoint, isFailed }: FailureContext): boolean {
  return subscriberEndpoint !== '' && (isFailed === true || kind === 'operation' || kind === 'manual')
}

/** What a web hook event subscription that is `Failed` means for its events. */
export const untilHandshake = 'Event Grid delivers nothing by it until a handshake succeeds'

const failedSubscription = ({ eventSubscriptionName: name }: FailureContext) =>
  `the event subscription ${name} is not provisioned: ${untilHandshake}`

function explain(failure: ArmFailure, context: FailureContext): Explanation {
  const { scopeId, subscriptionId } = context
  const said = quote(failure, context)
  switch (meaningOf(failure)) {
    case 'HANDSHAKE_FAILED':
      return explainHandshake(failure, context)
    case 'CREDENTIALS_REJECTED':
      return {
        code: 'CREDENTIALS_REJECTED',
        what: `Azure Resource Manager rejected the token ${said}`,
        fix: `check that the client belongs to the tenant of subscription ${subscriptionId}, and that azureEnvironment is right`,
      }
    case 'PERMISSION_DENIED':
      return { code: 'PERMISSION_DENIED', ...explainPermission(failure, context, said) }
    case 'PROVIDER_NOT_REGISTERED':
      return {
        code: 'PROVIDER_NOT_REGISTERED',
        what: `the resource provider Microsoft.EventGrid is not registered in subscription ${subscriptionId} ${said}`,
        fix: [
          'register it, and wait until it shows Registered:',
          'az provider register --namespace Microsoft.EventGrid',
          'az provider show --namespace Microsoft.EventGrid --query registrationState',
        ].join('\n'),
      }
    case 'SCOPE_NOT_FOUND': {
      const fields = scopeId.includes('/namespaces/') ? 'namespaceTopic' : 'scope and subscriptionId'
      return {
        code: 'SCOPE_NOT_FOUND',
        what: `there is no ${scopeId} ${said}`,
        fix: `check ${fields}, and that the resource exists`,
      }
    }
    case 'SUBSCRIPTION_REJECTED':
      return {
        code: 'SUBSCRIPTION_REJECTED',
        what: `the event subscription ${context.eventSubscriptionName} was refused ${said}`,
        fix: /^managed identity/i.test(failure.code ?? '') ? identityRemedy : 'change what Azure names',
      }
    case 'TIMEOUT':
      return { code: 'TIMEOUT', ...explainPassing(failure, context, said) }
  }
}

const identityRemedy =
  'assign the managed identity that the event subscription uses a role at its destination: Storage Blob Data Contributor ' +
  'for a container of dead letters, EventGrid Data Sender for a namespace topic'

function explainPermission(
  { denied, code }: ArmFailure,
  context: FailureContext,
  said: string,
): Pick<BindingErrorParts, 'what' | 'fix'> {
  const { scopeId, secrets, isHostRead } = context
  const client = context.clientId ?? denied?.client
  if (denied?.foreignSubscription !== undefined) {
    const what = `a linked resource is in subscription ${denied.foreignSubscription}, which does not exist or which the tenant of the client may not use ${said}`
    return { what, fix: 'name a resource of the same tenant, or use a client of the tenant of that resource' }
  }
  if (denied?.deniedBy !== undefined) {
    const name = scrub(denied.deniedBy, secrets)
    const what = `the deny assignment ${name} forbids it to the client ${said}`
    return { what, fix: 'have the client excluded from the deny assignment; no role helps' }
  }
  const isLinked = code?.toLowerCase() === 'linkedauthorizationfailed'
  const elsewhere = (denied?.rights ?? [])
    .filter((right) => isLinked || !isOwn(right, context))
    .map(({ action, scope }) => ({ action: scrub(action, secrets), scope: scrub(scope, secrets) }))
  if (elsewhere.length > 0) {
    const named = elsewhere.map(({ action, scope }) => `perform ${action} at ${scope}`).join(' and ')
    return { what: `the client may not ${named} ${said}`, fix: rightsRemedy(elsewhere, client) }
  }
  if (isLinked) {
    return { what: `the client lacks a right at a linked resource ${said}`, fix: linkedRemedy }
  }
  const role = roleRemedy(roleOf(context), client, shellWord(scopeId))
  const verb = context.isReadOnly ? 'read' : 'create'
  const what = isHostRead ? 'read the host name of' : `${verb} event subscriptions at`
  return {
    what: `the client may not ${what} ${scopeId} ${said}`,
    fix: isHostRead ? `set namespaceEndpoint, or ${role}` : role,
  }
}

const linkedRemedy =
  'assign the client a role with the action that Azure names at the resource that Azure names: a storage account for dead letters, a ' +
  'managed identity, or the destination; the role for event subscriptions does not help'

/** Is it a right on event subscriptions at the resource that we asked about, or that of reading a namespace which we asked about? */
function isOwn({ action, scope }: Right, { scopeId, isHostRead }: FailureContext): boolean {
  const isHere = `${scope}/`.toLowerCase().startsWith(`${scopeId.replace(/(?<!\/)\/+$/, '')}/`.toLowerCase())
  return isHere && (isHostRead || /\/eventsubscriptions\//i.test(action))
}

const noAnswer =
  'the endpoint must be reachable from the internet, its name must resolve, and its certificate must be valid and not self-signed'

function explainHandshake(failure: ArmFailure, context: FailureContext): Explanation {
  const { subscriberEndpoint } = context
  const endpoint = showUrl(subscriberEndpoint)
  const named = /Http (?<method>[A-Z]+) request failed with response code (?<answer>\w+)/i.exec(failure.message)?.groups
  const method = named?.method?.toUpperCase() ?? 'OPTIONS'
  const answer = named?.answer
  const base = { code: 'HANDSHAKE_FAILED', details: { endpoint, ...(answer && { answer }) } } as const
  const failed = `the handshake with ${endpoint} failed`

  if (failure.kind === 'noConsent') {
    const { answer: given, message, fix } = failure
    const details = { endpoint, ...(given !== undefined && { answer: given }) }
    return { code: 'HANDSHAKE_FAILED', what: scrub(message, context.secrets), fix, details }
  }
  if (failure.kind === 'manual') {
    return {
      ...base,
      what: `Event Grid waits for manual validation of ${endpoint}, because its answer to the handshake has no consent`,
      fix: `route ${new URL(subscriberEndpoint).pathname} to handshakePort unchanged, so that this binding answers the handshake`,
    }
  }
  if (answer === undefined || /^unknown$/i.test(answer)) {
    const how = answer === undefined ? '' : `: ${method} got no HTTP answer`
    const said = scrub(failure.message, context.secrets)
    return { ...base, what: `${failed}${how} (Event Grid says: ${said})`, fix: noAnswer }
  }
  return { ...base, ...explainHandshakeAnswer({ method, answer }, subscriberEndpoint) }
}

/** What the endpoint answered in a handshake, and what to do about it. `answer`: the status, or its name as Event Grid has it. */
export function explainHandshakeAnswer(
  { method, answer }: { readonly method: string; readonly answer: string },
  subscriberEndpoint: string,
): { readonly what: string; readonly fix: string } {
  const path = new URL(subscriberEndpoint).pathname
  return {
    what: `the handshake with ${showUrl(subscriberEndpoint)} failed: ${method} was answered ${answer}`,
    fix: /^(503|ServiceUnavailable)$/i.test(answer)
      ? `if the ingress controller logs 503 for ${method} ${path}, delete its pod so that it restarts; ` +
        `afterwards the same request returns 200`
      : `something in front of the binding answers in its place: route ${path} of the public endpoint to ` +
        `handshakePort, without authentication or redirects`,
  }
}

function explainPassing(
  failure: ArmFailure,
  { resourceManager, secrets }: FailureContext,
  said: string,
): Pick<BindingErrorParts, 'what' | 'fix'> {
  if (failure.kind === 'deadline' || failure.kind === 'canceled') return { what: scrub(failure.message, secrets) }
  if (failure.kind === 'lost')
    return { what: `Azure accepted the change of the event subscription, but its result is not known ${said}` }
  if (failure.kind === 'operation') return { what: `the change of the event subscription failed ${said}` }
  if (failure.kind === 'token') return { what: scrub(failure.message, secrets), fix: failure.fix ?? checkNetwork }
  if (failure.kind === 'missing') return { what: scrub(failure.message, secrets), fix: failure.fix }
  if (failure.kind === 'answerUnread') {
    return {
      what: `an answer of ${resourceManager} cannot be read: ${scrub(failure.message, secrets)}`,
      fix: checkNetwork,
    }
  }
  if (failure.kind === 'answer' && failure.code === undefined) {
    return { what: `Azure Resource Manager answered ${failure.status} ${said}`, fix: checkNetwork }
  }
  if (failure.kind !== 'network') return { what: `Azure Resource Manager answered ${failure.status} ${said}` }
  return {
    what: `no answer from ${resourceManager} ${said}`,
    fix:
      certificateRemedy(failure.code, resourceManager) ?? silenceRemedy(failure.code, resourceManager) ?? checkNetwork,
  }
}

const checkNetwork = 'check the network, a proxy (HTTPS_PROXY) and the endpoint'

function quote({ code, message }: ArmFailure, { secrets }: FailureContext): string {
  const said = [code, message].filter((part) => part !== undefined && part !== '').join(': ')
  return `(${scrub(said, secrets)})`
}
