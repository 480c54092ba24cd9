/** The event subscriptions of a side as one thing: brought about or checked, inspected, planned. */
import { SpanKind } from '@opentelemetry/api'
import { createCredential } from '../../azure/credential.ts'
import { BindingError } from '../../core/errors.ts'
import {
  activeContext,
  attribute,
  bounded,
  endSpan,
  messagingSystem,
  otherError,
  runInContext,
  startSpan,
  withSpan,
} from '../../core/telemetry.ts'
import type { EitherInput, PullMetadata, PushMetadata } from '../../metadata/typed/metadata.ts'
import { connectArm } from '../../provision/arm.ts'
import type { ProvisionTarget, ProvisionTask } from '../../provision/attempts.ts'
import { failureContext, pullFailureContext } from '../../provision/failure-context.ts'
import { createEndpointQuestion } from '../../provision/handshake.ts'
import { checkSubscriptions, inspectSubscriptions, planSubscriptions } from '../../provision/look.ts'
import { wantedForPull } from '../../provision/needs-queue.ts'
import { declaredAttributes, wantedWebHook } from '../../provision/needs-webhook.ts'
import { type UpsertOutcome, upsertSubscriptions } from '../../provision/upsert.ts'
import { systemClock } from '../../support/time/clock.ts'
import type { SideOptions } from '../side.ts'

type Task = Pick<ProvisionTask, 'patience' | 'signal' | 'onAttempt' | 'onLook' | 'onAnswer' | 'onWait'>

export type SubscriptionControl = ReturnType<typeof controlOf>

/**
 * Connects push to ARM and Entra. In a file of its own, because their libraries take longer to load than everything else, and
 * a listener need not wait for them.
 *
 * @throws BindingError where endpoint or credential can't be used
 */
export function connectSubscription(
  options: SideOptions & {
    readonly input: PushMetadata
    /** Called at each read with the lower-case names of the delivery attributes that the event subscription declares. */
    readonly onAttributes?: (names: readonly string[]) => void
  },
): SubscriptionControl {
  const { input, endpoints, clock = systemClock, onAttributes } = options
  const { environment, subscriptionId } = input
  const credential = createCredential(input.credential, { ...options, environment })
  const arm = connectArm({ environment, subscriptionId, credential, endpoints, clock })
  const { resourceManager } = arm
  const target: ProvisionTarget = {
    arm,
    input,
    receivesWithoutRights: false,
    wanted: [wantedWebHook(input)],
    onFound: (existing) => onAttributes?.(declaredAttributes(existing)),
    endpoint: createEndpointQuestion({ input, endpoints, resourceManager }),
    context: () => failureContext(input, resourceManager),
  }
  return controlOf(target, input, options)
}

/**
 * The same for pull.
 *
 * @throws BindingError where endpoint or credential can't be used
 */
export function connectNamespace(pull: PullMetadata, options: SideOptions) {
  const { endpoints, clock = systemClock } = options
  const { environment, namespaceTopic } = pull
  const credential = createCredential(pull.credential, { ...options, environment })
  const { subscriptionId, namespaceId } = namespaceTopic
  const arm = connectArm({ environment, subscriptionId, credential, endpoints, clock })
  const { resourceManager } = arm
  let namespaceEndpoint: string | undefined
  const onHostname = (hostname: string) => {
    namespaceEndpoint = `https://${hostname}`
  }
  const target: ProvisionTarget = {
    arm,
    input: pull,
    wanted: wantedForPull(pull),
    context: (sourceId) => pullFailureContext(pull, resourceManager, sourceId),
    // Who knows the namespace's endpoint can receive without any right at ARM (role EventGrid Data Receiver).
    receivesWithoutRights: pull.namespaceEndpoint !== undefined,
    get host() {
      return (pull.namespaceEndpoint ?? namespaceEndpoint) === undefined ? { namespaceId, onHostname } : undefined
    },
  }
  return {
    ...controlOf(target, pull, options),
    credential,
    /** The base URL of the namespace, from ARM. Known once ARM was asked, where the metadata has no `namespaceEndpoint`. */
    namespaceEndpoint: () => namespaceEndpoint,
  }
}

function controlOf(
  target: ProvisionTarget,
  { eventSubscriptionName }: EitherInput,
  { logger, clock = systemClock }: SideOptions,
) {
  const completed = (task: Task): ProvisionTask => ({ ...task, logger, clock, random: Math.random })
  return {
    /** Creates or updates what is wanted. */
    upsert: (task: Task) => traceUpsert(eventSubscriptionName, () => upsertSubscriptions(target, completed(task))),
    /** Waits until what is wanted exists, and compares it, by GET alone. */
    check: (task: Task) => checkSubscriptions(target, completed(task)),
    /** Reads once, `plain` by GET alone, and writes nothing. Rejects where ARM does not answer. */
    inspect: (signal: AbortSignal, detail: 'plain' | 'whole') => inspectSubscriptions(target, signal, detail),
    /** What `upsert` would do. */
    plan: (task: Task) => planSubscriptions(target, completed(task)),
  }
}

/** Runs an upsert in the span `upsert event subscription`. Makes none without an SDK in the process. */
async function traceUpsert(
  eventSubscriptionName: string,
  upsert: () => Promise<UpsertOutcome>,
): Promise<UpsertOutcome> {
  const span = startSpan('upsert event subscription', {
    kind: SpanKind.CLIENT,
    attributes: {
      [attribute.system]: messagingSystem,
      [attribute.eventSubscription]: bounded(eventSubscriptionName),
    },
  })
  try {
    const outcome = await runInContext(withSpan(activeContext(), span), upsert, undefined)
    endSpan(span, undefined, { [attribute.upsertAction]: outcome.action })
    return outcome
  } catch (error) {
    endSpan(span, error instanceof BindingError ? error.code : otherError)
    throw error
  }
}
