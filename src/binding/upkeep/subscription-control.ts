// Push delivery's connection to Resource Manager: upsert with its OpenTelemetry span, inspect the event subscription.
import { context, SpanKind, trace } from '@opentelemetry/api'
import { createCredential } from '../../azure/credential.ts'
import { BindingError } from '../../core/errors.ts'
import type { Secret } from '../../core/secret.ts'
import {
  attribute,
  bounded,
  endSpan,
  errorType,
  messagingSystem,
  otherError,
  tracer,
} from '../../core/telemetry/opentelemetry.ts'
import { checked } from '../../metadata/fields/checked.ts'
import type { InputMetadata } from '../../metadata/typed/metadata.ts'
import { readFailure } from '../../provision/arm/arm-failure.ts'
import { createSubscriptionApi, type SubscriptionApi } from '../../provision/arm/subscription-api.ts'
import { declaredAttributes } from '../../provision/decide/declared-attributes.ts'
import { type Finding, inspectSubscription } from '../../provision/decide/inspect-subscription.ts'
import { judgeFailure } from '../../provision/explain/judge-failure.ts'
import type { UpsertOutcome } from '../../provision/upsert/repeat-attempts.ts'
import { type UpsertOptions, upsertSubscription } from '../../provision/upsert/upsert-subscription.ts'
import type { SideOptions } from '../sides/side-options.ts'

type How = Pick<UpsertOptions, 'patience' | 'signal' | 'onAttempt' | 'onLook' | 'handled'>

export interface SubscriptionControl {
  upsert(how: How): Promise<UpsertOutcome>
  /** Reads it by one request, and writes nothing. Rejects where ARM does not answer. */
  inspect(signal: AbortSignal): Promise<Finding>
}

/**
 * Connects to ARM and Entra. In a file of its own, because their libraries take longer to load than everything else, and
 * a listener need not wait for them.
 *
 * @throws BindingError where endpoint or credential can't be used
 */
export function connectSubscription(
  options: SideOptions & {
    readonly input: InputMetadata
    readonly deliveryCredential: Secret | undefined
    /** Called at each read with the lower-case names of the delivery attributes that the event subscription declares. */
    readonly onAttributes?: (names: ReadonlySet<string>) => void
  },
): SubscriptionControl {
  const { input, endpoints, logger, deliveryCredential, onAttributes } = options
  const credential = createCredential(checked('credential', input.credential), {
    ...options,
    environment: input.environment,
  })
  const calls = createSubscriptionApi({ input, credential, endpoints })
  const api: SubscriptionApi = {
    ...calls,
    async read(...how) {
      const existing = await calls.read(...how)
      onAttributes?.(declaredAttributes(existing))
      return existing
    },
  }
  return {
    upsert: (how) =>
      traceUpsert(input, how, (traced) =>
        upsertSubscription({ api, input, logger, ...(deliveryCredential && { deliveryCredential }), ...traced }),
      ),
    async inspect(signal) {
      try {
        const existing = await api.read({ signal, deadline: Number.POSITIVE_INFINITY }, 'plain')
        return inspectSubscription(existing, input.subscriberEndpoint)
      } catch (error) {
        if (judgeFailure(readFailure(error, Date.now())) !== 'scope') throw error
        return { kind: 'changed', problem: 'the resource of scope does not exist' }
      }
    },
  }
}

/**
 * Makes the span `upsert event subscription`, which is active while the upsert runs. Each failed attempt is an event of the span. Does
 * nothing without an SDK in the process.
 */
function traceUpsert(
  { eventSubscriptionName }: InputMetadata,
  how: How,
  upsert: (how: How) => Promise<UpsertOutcome>,
): Promise<UpsertOutcome> {
  const span = tracer()?.startSpan('upsert event subscription', {
    kind: SpanKind.CLIENT,
    attributes: {
      [attribute.system]: messagingSystem,
      [attribute.eventSubscription]: bounded(eventSubscriptionName),
    },
  })
  if (!span) return upsert(how)
  const traced: How = {
    ...how,
    onAttempt(failed) {
      span.addEvent('attempt failed', errorType(failed.error.code))
      how.onAttempt?.(failed)
    },
  }
  return context.with(trace.setSpan(context.active(), span), async () => {
    try {
      const outcome = await upsert(traced)
      endSpan(span.setAttribute(attribute.upsertAction, outcome.action), undefined)
      return outcome
    } catch (error) {
      endSpan(span, error instanceof BindingError ? error.code : otherError)
      throw error
    }
  })
}
