import { BindingError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import type { Clock } from '../support/clock.ts'
import { ArmFailureError, readFailure } from './arm-failure.ts'
import type { CallLimits } from './call-limits.ts'
import type { Upsert } from './decide-upsert.ts'
import type { SubscriptionApi } from './subscription-api.ts'

/** A decision to write. */
export type Write = Extract<Upsert, { readonly body: unknown }>

export type WriteAction = 'created' | 'patched' | 'replaced'

export interface SubscriptionWriterOptions {
  readonly api: Pick<SubscriptionApi, 'put' | 'patch'>
  readonly input: Pick<InputMetadata, 'eventSubscriptionName' | 'scope'>
  readonly logger: Logger
  readonly clock: Pick<Clock, 'now'>
}

/** Writes the event subscription, and remembers what it wrote. */
export function createSubscriptionWriter({ api, input, logger, clock }: SubscriptionWriterOptions) {
  const { eventSubscriptionName: name, scope } = input
  let wrote: WriteAction | undefined
  let isProvisioned = false

  /** Remembers a write that took effect, or may have: a lost answer does not undo it. */
  async function completed(action: WriteAction, writing: Promise<void>): Promise<void> {
    const remember = () => {
      if (wrote !== 'created') wrote = action
    }
    try {
      await writing
      remember()
      isProvisioned = true
    } catch (error) {
      if (error instanceof BindingError) throw error
      const { kind, status } = readFailure(error, clock.now())
      if (kind !== 'answer' && kind !== 'unexpected') remember()
      // The scope existed when the event subscription was read, so it is the event subscription that is missing.
      if (action === 'patched' && kind === 'answer' && status === 404) {
        throw new ArmFailureError({ kind: 'canceled', message: `the event subscription ${name} was deleted meanwhile` })
      }
      throw error
    }
  }

  return {
    /** Resolves when the event subscription is provisioned. */
    async write(upsert: Write, limits: CallLimits): Promise<void> {
      const fields = { scope: scope.id }
      if (upsert.action === 'create') {
        logger.info(`creating the event subscription ${name}`, fields)
        return completed('created', api.put(upsert, limits))
      }
      for (const warning of upsert.warnings) logger.warn(warning, { eventSubscription: name })
      logger.info(`updating the event subscription ${name}: ${upsert.because}`, fields)
      if (upsert.action === 'patch') return completed('patched', api.patch(upsert, limits))
      return completed('replaced', api.put(upsert, limits))
    },
    /** The write that took effect, or may have; the creation where there were more. */
    wrote: () => wrote,
    /** Whether a write has succeeded. */
    isProvisioned: () => isProvisioned,
  }
}
