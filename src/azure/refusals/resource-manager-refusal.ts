/** The failures of provisioning: for each the code that it ends in, what is said and what to do. */
import type { BindingErrorParts, ProvisioningErrorCode } from '../../core/errors.ts'
import { scrub } from '../../core/scrub.ts'
import { showUrl } from '../../metadata/fields/addresses.ts'
import type { PushMetadata } from '../../metadata/typed/metadata.ts'
import { shellWord } from '../../support/text/text.ts'
import { certificateRemedy, roleRemedy, silenceRemedy } from './remedies.ts'

/** A failed call to ARM, whatever shape the SDK reports it in. The texts are Azure's and may repeat secrets: show them through `scrub`. */
export interface ArmFailure {
  readonly kind: ArmFailureKind
  /** Absent where there was no answer of an error status. */
  readonly status?: number | undefined
  /** Azure's error code, or the system's for the network. */
  readonly code?: string | undefined
  readonly message: string
  /** ARM accepted the write, and its long-running operation failed. @default false */
  readonly isOperation?: boolean
  /** What the endpoint answered, with `noConsent`: the status. */
  readonly answer?: string | undefined
  /** The remedy, where the failure names one. */
  readonly fix?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly requestId?: string | undefined
}

/** What an explanation names, and must not show. */
export interface FailureContext
  extends Pick<PushMetadata, 'subscriptionId' | 'eventSubscriptionName' | 'clientId' | 'subscriberEndpoint'> {
  readonly scopeId: string
  /** Where ARM keeps the event subscription. The place decides which role allows a write. */
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

type Explained = Pick<BindingErrorParts<ProvisioningErrorCode>, 'what' | 'fix' | 'details'>

/** @param said what Azure says, in brackets and without secrets */
type Explain = (failure: ArmFailure, context: FailureContext, said: string) => Explained

interface FailureOfKind {
  /**
   * The code of the error. With TIMEOUT and HANDSHAKE_FAILED another attempt may succeed by itself; with others an operator has to
   * correct something.
   */
  readonly code: ProvisioningErrorCode
  readonly explain: Explain
}

const checkNetwork = 'check the network, a proxy (HTTPS_PROXY) and the endpoint'

/** The message is ours already. */
const asItStands: Explain = ({ message, fix }, { secrets }) => ({ what: scrub(message, secrets), fix })

const noSuchScope: FailureOfKind = {
  code: 'SCOPE_NOT_FOUND',
  explain(_failure, { scopeId }, said) {
    const fields = scopeId.includes('/namespaces/') ? 'namespaceTopic' : 'scope and subscriptionId'
    return { what: `there is no ${scopeId} ${said}`, fix: `check ${fields}, and that the resource exists` }
  },
}

const failures = {
  /** No answer: name resolution, connection, certificate or time-out. */
  network: {
    code: 'TIMEOUT',
    explain: ({ code }, { resourceManager }, said) => ({
      what: `no answer from ${resourceManager} ${said}`,
      fix: certificateRemedy(code, resourceManager) ?? silenceRemedy(code, resourceManager) ?? checkNetwork,
    }),
  },
  /** There was no token, so ARM was not asked. */
  token: {
    code: 'TIMEOUT',
    explain: ({ message, fix = checkNetwork }, { secrets }) => ({ what: scrub(message, secrets), fix }),
  },
  /** An answer came that is not one of ARM's: of another form, or from a gateway or proxy. */
  answerUnread: {
    code: 'TIMEOUT',
    explain: ({ message }, { resourceManager, secrets }) => ({
      what: `an answer of ${resourceManager} cannot be read: ${scrub(message, secrets)}`,
      fix: checkNetwork,
    }),
  },
  /** ARM cannot do it now (a conflict, throttling, a fault of the service), or a gateway answered without a code of ARM. */
  busy: {
    code: 'TIMEOUT',
    explain: ({ status, code }, _context, said) => ({
      what: `Azure Resource Manager answered ${status} ${said}`,
      fix: code === undefined ? checkNetwork : undefined,
    }),
  },
  /** The operation of an accepted write failed by a fault of the service, or because its source is being changed. */
  operation: {
    code: 'TIMEOUT',
    explain: (_failure, _context, said) => ({ what: `the change of the event subscription failed ${said}` }),
  },
  /** ARM accepted the write. How the write ended is not known. */
  lost: {
    code: 'TIMEOUT',
    explain: (_failure, _context, said) => ({
      what: `Azure accepted the change of the event subscription, but its result is not known ${said}`,
    }),
  },
  /** Somebody else interfered: the operation was cancelled, or the event subscription was changed or deleted. */
  canceled: { code: 'TIMEOUT', explain: asItStands },
  /** An operation did not end in time. */
  deadline: { code: 'TIMEOUT', explain: asItStands },
  /** There is no event subscription, and this binding does not create one. */
  missing: { code: 'TIMEOUT', explain: asItStands },
  /** Event Grid says that the handshake failed. */
  handshake: { code: 'HANDSHAKE_FAILED', explain: explainHandshake },
  /** Event Grid waits for manual validation, because the endpoint did not answer the handshake. */
  manual: {
    code: 'HANDSHAKE_FAILED',
    explain: (_failure, { subscriberEndpoint }) => ({
      what: `Event Grid waits for manual validation of ${showUrl(subscriberEndpoint)}, because its answer to the handshake has no consent`,
      fix: `route ${new URL(subscriberEndpoint).pathname} to handshakePort unchanged, so that this binding answers the handshake`,
      details: { endpoint: showUrl(subscriberEndpoint) },
    }),
  },
  /** Nothing was written: the endpoint gave an answer without consent to the same question that Event Grid would ask. */
  noConsent: {
    code: 'HANDSHAKE_FAILED',
    explain: (failure, context, said) => ({
      ...asItStands(failure, context, said),
      details: {
        endpoint: showUrl(context.subscriberEndpoint),
        ...(failure.answer !== undefined && { answer: failure.answer }),
      },
    }),
  },
  /** ARM takes the token for no token of this tenant. */
  unauthorized: {
    code: 'CREDENTIALS_REJECTED',
    explain: (_failure, { subscriptionId }, said) => ({
      what: `Azure Resource Manager rejected the token ${said}`,
      fix: `check that the client belongs to the tenant of subscription ${subscriptionId}, and that azureEnvironment is right`,
    }),
  },
  /** The client lacks a right at the scope. */
  forbidden: {
    code: 'PERMISSION_DENIED',
    explain(_failure, context, said) {
      const { scopeId, isHostRead, isReadOnly, clientId } = context
      const what = isHostRead ? 'read the host name of' : `${isReadOnly ? 'read' : 'create'} event subscriptions at`
      const role = roleRemedy(roleOf(context), clientId, shellWord(scopeId))
      return {
        what: `the client may not ${what} ${scopeId} ${said}`,
        fix: isHostRead ? `set namespaceEndpoint, or ${role}` : role,
      }
    },
  },
  /** The client lacks a right at a linked resource, or a deny assignment forbids the change. Azure's message names the resource. */
  forbiddenElsewhere: {
    code: 'PERMISSION_DENIED',
    explain: (_failure, _context, said) => ({
      what: `the client may not do what the event subscription needs ${said}`,
      fix:
        'give the client the right that Azure names, at the resource that Azure names (a storage account for dead letters, a managed ' +
        'identity, the destination), or lift the deny assignment; the role for event subscriptions does not help',
    }),
  },
  unregistered: {
    code: 'PROVIDER_NOT_REGISTERED',
    explain: (_failure, { subscriptionId }, said) => ({
      what: `the resource provider Microsoft.EventGrid is not registered in subscription ${subscriptionId} ${said}`,
      fix: [
        'register it, and wait until it shows Registered:',
        'az provider register --namespace Microsoft.EventGrid',
        'az provider show --namespace Microsoft.EventGrid --query registrationState',
      ].join('\n'),
    }),
  },
  /** The scope, or what it lies in, does not exist. */
  noScope: noSuchScope,
  /** ARM says in its own words that a resource does not exist: the event subscription, where it is asked for. */
  notFound: noSuchScope,
  /** ARM refuses the event subscription itself. */
  refused: {
    code: 'SUBSCRIPTION_REJECTED',
    explain: ({ code = '' }, { eventSubscriptionName }, said) => ({
      what: `the event subscription ${eventSubscriptionName} was refused ${said}`,
      fix: /^managed identity/i.test(code) ? identityRemedy : 'change what Azure names',
    }),
  },
} as const satisfies Readonly<Record<string, FailureOfKind>>

/** How a call to ARM failed. */
export type ArmFailureKind = keyof typeof failures

/** The code that a failure ends in. */
export const codeOfFailure = ({ kind }: ArmFailure): ProvisioningErrorCode => failures[kind].code

/** Whether another attempt may succeed by itself. */
export const mayPass = ({ kind }: ArmFailure): boolean => passing.has(failures[kind].code)

const passing: ReadonlySet<string> = new Set(['TIMEOUT', 'HANDSHAKE_FAILED'])

/** Whether an error of this code stays until somebody corrects the cause. */
export const isLasting = (code: string): boolean =>
  !passing.has(code) && Object.values(failures).some((failure) => failure.code === code)

/** The parts of the `BindingError` for a failure. Holds no secret. */
export interface Explanation extends BindingErrorParts<ProvisioningErrorCode> {
  readonly code: ProvisioningErrorCode
}

/** Explains a failed call to ARM. */
export function explainFailure(failure: ArmFailure, context: FailureContext): Explanation {
  const { status, code, message, requestId } = failure
  const { secrets } = context
  const said = [code, message].filter((part) => part !== undefined && part !== '').join(': ')
  const { explain, code: ourCode }: FailureOfKind = failures[failure.kind]
  const { what, fix, details } = explain(failure, context, `(${scrub(said, secrets)})`)
  return {
    code: ourCode,
    what: deliversNothing(failure, context) ? `${what}; ${failedSubscription(context)}` : what,
    fix,
    details: {
      ...(status !== undefined && { status }),
      ...(code !== undefined && { azureCode: scrub(code, secrets) }),
      ...(requestId !== undefined && { requestId }),
      ...details,
    },
  }
}

/**
 * Whether Event Grid delivers nothing by the web hook now: an operation that failed has left it `Failed`. What a failed update does to
 * deliveries in Azure is not known; this is the worst case.
 */
function deliversNothing({ kind, isOperation }: ArmFailure, { subscriberEndpoint, isFailed }: FailureContext): boolean {
  return subscriberEndpoint !== '' && (isFailed === true || isOperation === true || kind === 'manual')
}

/** What a web hook event subscription that is `Failed` means for its events. */
export const untilHandshake = 'Event Grid delivers nothing by it until a handshake succeeds'

const failedSubscription = ({ eventSubscriptionName: name }: FailureContext) =>
  `the event subscription ${name} is not provisioned: ${untilHandshake}`

/**
 * The smallest built-in role that may write event subscriptions, or read them. The role for the extension path has no rights below a
 * system topic.
 */
function roleOf({ pathKind, isReadOnly }: FailureContext): string {
  if (isReadOnly) return pathKind === 'extension' ? 'EventGrid EventSubscription Reader' : 'Reader'
  return pathKind === 'extension' ? 'EventGrid EventSubscription Contributor' : 'EventGrid Contributor'
}

const identityRemedy =
  'assign the managed identity that the event subscription uses a role at its destination: Storage Blob Data Contributor ' +
  'for a container of dead letters, EventGrid Data Sender for a namespace topic'

const noAnswer =
  'the endpoint must be reachable from the internet, its name must resolve, and its certificate must be valid and not self-signed'

function explainHandshake({ message }: ArmFailure, { subscriberEndpoint, secrets }: FailureContext): Explained {
  const endpoint = showUrl(subscriberEndpoint)
  const named = /Http (?<method>[A-Z]+) request failed with response code (?<answer>\w+)/i.exec(message)?.groups
  const method = named?.method?.toUpperCase() ?? 'OPTIONS'
  const answer = named?.answer
  const details = { endpoint, ...(answer && { answer }) }
  if (answer !== undefined && !/^unknown$/i.test(answer)) {
    return { ...explainHandshakeAnswer({ method, answer }, subscriberEndpoint), details }
  }
  const how = answer === undefined ? '' : `: ${method} got no HTTP answer`
  const what = `the handshake with ${endpoint} failed${how} (Event Grid says: ${scrub(message, secrets)})`
  return { what, fix: noAnswer, details }
}

/** What the endpoint answered in a handshake, and the remedy. `answer`: the status, or its name as Event Grid has it. */
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
        'handshakePort, without authentication or redirects; a hook of the option fastify may answer so too',
  }
}
