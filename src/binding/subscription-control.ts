import type { Secret } from '../core/secret.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { readFailure } from '../subscription/arm-failure.ts'
import { type Finding, inspectSubscription } from '../subscription/inspect-subscription.ts'
import { judgeFailure } from '../subscription/judge-failure.ts'
import type { UpsertOutcome } from '../subscription/repeat-attempts.ts'
import { createSubscriptionApi } from '../subscription/subscription-api.ts'
import { type UpsertOptions, upsertSubscription } from '../subscription/upsert-subscription.ts'
import { createCredential } from './credential.ts'
import type { SideOptions } from './side-options.ts'
import { traceUpsert } from './upsert-trace.ts'

export interface SubscriptionControl {
  upsert(how: Pick<UpsertOptions, 'patience' | 'signal' | 'onAttempt' | 'onLook' | 'handled'>): Promise<UpsertOutcome>
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
  options: SideOptions & { readonly input: InputMetadata; readonly deliveryCredential: Secret | undefined },
): SubscriptionControl {
  const { input, endpoints, logger, deliveryCredential } = options
  const credential = createCredential(input.credential, { ...options, environment: input.environment })
  const api = createSubscriptionApi({ input, credential, endpoints })
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
