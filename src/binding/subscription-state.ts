import { BindingError, messageWithoutCode } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Clock } from '../support/clock.ts'

/** The state of the event subscription, as far as this binding knows. */
export type SubscriptionState =
  | { readonly state: 'pending' }
  | {
      readonly state: 'provisioned'
      /** When our own write was provisioned, in ms since 1970; where another replica wrote it, when we found it. */
      readonly since: number
      /** What somebody changed since, as a sentence without a secret. */
      readonly problem?: string
    }
  | { readonly state: 'failed'; readonly why: string }

export interface StateRecordOptions {
  readonly logger: Logger
  readonly clock: Pick<Clock, 'now'>
}

/** Remembers the state of the event subscription, and logs what others change in it. */
export function createStateRecord({ logger, clock }: StateRecordOptions) {
  let state: SubscriptionState = { state: 'pending' }
  return {
    current: () => state,
    /** An upsert succeeded. `wroteAt` is absent where nothing had to be written. */
    provisioned(wroteAt: number | undefined): void {
      state = { state: 'provisioned', since: wroteAt ?? clock.now() }
    },
    failed(error: unknown): void {
      state = { state: 'failed', why: reasonOf(error) }
    },
    deleted(): void {
      state = { state: 'failed', why: 'it was deleted' }
    },
    /** A poll found the event subscription, with or without a problem. */
    found(problem: string | undefined): void {
      const before = state.state === 'provisioned' ? state : { since: clock.now(), problem: undefined }
      if (problem !== undefined && problem !== before.problem) {
        logger.warn(`somebody changed the event subscription: ${problem}; it is left unchanged until the next start`)
      }
      if (problem === undefined && before.problem !== undefined) {
        logger.info('the event subscription is as it was again')
      }
      state = { state: 'provisioned', since: before.since, ...(problem !== undefined && { problem }) }
    },
  }
}

/** The reason for a failure, for a state or a log line. TIMEOUT sums up all retryable attempts, not a single one. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof BindingError)) return 'an unexpected error'
  return error.code === 'TIMEOUT' ? messageWithoutCode(error) : error.message
}
