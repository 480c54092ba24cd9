import { BindingError, messageWithoutCode } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { SubscriptionUpsert } from './subscription-upsert.ts'

/** How far the event subscription is. */
export type UpsertState =
  | { readonly state: 'pending' }
  /** `since`: when our own write stood, in ms since 1970; where another replica had written it, when we found it so. */
  | { readonly state: 'standing'; readonly since: number }
  | { readonly state: 'failed'; readonly why: string }

/** What {@link createSubscriptionKeeper} needs. */
export interface SubscriptionKeeperOptions {
  /** Creates or updates the event subscription. */
  readonly upsert: SubscriptionUpsert
  readonly logger: Logger
  /** Now, in ms since 1970. @default Date.now */
  readonly now?: () => number
  /** Milliseconds of a clock that nobody sets. @default performance.now */
  readonly elapsed?: () => number
}

/** Brings the event subscription up at init, and puts it right when a delivery shows that it has changed. */
export interface SubscriptionKeeper {
  state(): UpsertState
  /** Creates or updates the event subscription; rejects as `upsert` does. */
  bringUp(patience: 'timeout' | 'forever', signal?: AbortSignal): Promise<void>
  /** Reads the event subscription again and puts it right, in the background and at most once a minute. */
  repair(): void
  /** Ends what is under way and waits for it. */
  close(): Promise<void>
}

/** Least time between two repairs, so that a stranger who knows our name cannot make us call ARM at will. */
const repairIntervalMs = 60_000

/** Keeps one event subscription: never two upserts at once, each ended by `close`. */
export function createSubscriptionKeeper(options: SubscriptionKeeperOptions): SubscriptionKeeper {
  const { upsert, logger, now = Date.now, elapsed = () => performance.now() } = options
  const closing = new AbortController()
  let state: UpsertState = { state: 'pending' }
  let underWay: Promise<void> | undefined
  let lastRepair = Number.NEGATIVE_INFINITY

  function failed(error: unknown): void {
    state = { state: 'failed', why: reasonOf(error) }
  }

  const bringUp: SubscriptionKeeper['bringUp'] = (patience, signal) => {
    const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
    const attempt = async () => {
      try {
        const { wroteAt = now() } = await upsert({
          patience,
          signal: either,
          onAttempt: ({ error }) => failed(error),
        })
        state = { state: 'standing', since: wroteAt }
      } catch (error) {
        if (!either.aborted) failed(error)
        throw error
      } finally {
        underWay = undefined
      }
    }
    underWay = attempt()
    return underWay
  }

  return {
    state: () => state,
    bringUp,
    repair() {
      if (underWay || closing.signal.aborted || elapsed() - lastRepair < repairIntervalMs) return
      lastRepair = elapsed()
      logger.warn(
        'a delivery of our event subscription came without a token we know; reading the event subscription again',
      )
      bringUp('timeout').catch((error: unknown) => {
        if (closing.signal.aborted) return
        logger.error(`the event subscription could not be put right: ${error instanceof Error ? error.message : error}`)
      })
    },
    async close() {
      closing.abort()
      await underWay?.catch(() => {})
    },
  }
}

/** TIMEOUT is what comes of all attempts that may pass, and says nothing of one. */
function reasonOf(error: unknown): string {
  if (!(error instanceof BindingError)) return 'an unexpected error'
  return error.code === 'TIMEOUT' ? messageWithoutCode(error) : error.message
}
