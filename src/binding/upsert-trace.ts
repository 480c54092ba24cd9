import { context, SpanKind, trace } from '@opentelemetry/api'
import { BindingError } from '../core/errors.ts'
import { attribute, bounded, endSpan, errorType, messagingSystem, otherError, tracer } from '../core/opentelemetry.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import type { UpsertOutcome } from '../subscription/repeat-attempts.ts'
import type { UpsertOptions } from '../subscription/upsert-subscription.ts'

type How = Pick<UpsertOptions, 'patience' | 'signal' | 'onAttempt'>

/**
 * Makes the span `upsert event subscription`, which is active while the upsert runs. Each failed attempt is an event of the span. Does
 * nothing without an SDK in the process.
 */
export function traceUpsert(
  { eventSubscriptionName }: Pick<InputMetadata, 'eventSubscriptionName'>,
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
