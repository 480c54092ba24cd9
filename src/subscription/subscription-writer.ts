import type { Logger } from '../core/logger.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import type { Clock } from '../support/clock.ts'
import { ArmFailureError, readFailure } from './arm-failure.ts'
import type { CallLimits } from './call-limits.ts'
import type { Write } from './decide-upsert.ts'
import type { WriteAction } from './repeat-attempts.ts'
import type { SubscriptionApi } from './subscription-api.ts'

export interface SubscriptionWriterOptions {
  readonly api: Pick<SubscriptionApi, 'put' | 'patch'>
  readonly input: Pick<InputMetadata, 'eventSubscriptionName' | 'scope'>
  readonly logger: Logger
  readonly clock: Pick<Clock, 'now'>
}

const written = { create: 'created', patch: 'patched', replace: 'replaced' } as const

/** Writes the event subscription, and remembers what it wrote. */
export function createSubscriptionWriter({ api, input, logger, clock }: SubscriptionWriterOptions) {
  const { eventSubscriptionName: name, scope } = input
  let wrote: WriteAction | undefined
  let isProvisioned = false

  return {
    /** Resolves when the event subscription is provisioned. */
    async write(upsert: Write, limits: CallLimits): Promise<void> {
      const isNew = upsert.action === 'create'
      for (const warning of isNew ? [] : upsert.warnings) logger.warn(warning, { eventSubscription: name })
      const line = isNew
        ? `creating the event subscription ${name}`
        : `updating the event subscription ${name}: ${upsert.because}`
      logger.info(line, { scope: scope.id })
      const remember = () => {
        if (wrote !== 'created') wrote = written[upsert.action]
      }
      try {
        await (upsert.action === 'patch' ? api.patch(upsert, limits) : api.put(upsert, limits))
        remember()
        isProvisioned = true
      } catch (error) {
        const { kind, status } = readFailure(error, clock.now())
        // A lost answer does not undo a write.
        if (kind !== 'answer' && kind !== 'unexpected') remember()
        // The scope existed when the event subscription was read, so it is the event subscription that is missing.
        if (upsert.action === 'patch' && kind === 'answer' && status === 404) {
          throw new ArmFailureError({
            kind: 'canceled',
            message: `the event subscription ${name} was deleted meanwhile`,
          })
        }
        throw error
      }
    },
    /** The write that took effect, or may have; the creation where there were more. */
    wrote: () => wrote,
    /** Whether a write has succeeded. */
    isProvisioned: () => isProvisioned,
  }
}
