/** How many calls of a kind Resource Manager takes from a principal, and what its headers say is left. */
import type { Clock } from '../../model/time/clock.ts'
import { armErrors } from './errors.ts'

/**
 * Tokens of a full bucket, and how many are put back in a second: those of a principal in an Azure subscription and region since 2024
 * (Azure Resource Manager: request-limits-and-throttling). The emulator has one region. Writes of event subscriptions have a counter of
 * their own (recorded answers); its size is assumed.
 */
const buckets = {
  reads: { kind: 'read', size: 250, perSecond: 25 },
  writes: { kind: 'write', size: 200, perSecond: 10 },
  deletes: { kind: 'delete', size: 200, perSecond: 10 },
  'resource-requests': { kind: 'write', size: 200, perSecond: 10 },
} as const

type Counter = keyof typeof buckets

/** What of a call is counted. */
export interface CountedCall {
  readonly method: string
  readonly path: string
}

interface Level {
  readonly tokens: number
  readonly at: number
}

/** What all regions together have of an Azure subscription's tokens (Azure Resource Manager: request-limits-and-throttling). */
const globalTimes = 15

export type ArmRequestLimits = ReturnType<typeof createArmRequestLimits>

/** Counts the calls of each principal. @param refuse whether calls beyond the limits are refused, or only counted */
export function createArmRequestLimits(clock: Clock, { refuse }: { readonly refuse: boolean }) {
  // Bounded: an entry for each kind of call of each client and Azure subscription of the options.
  const levels = new Map<string, Level>()

  /** The tokens that a bucket has before a call, and takes one. */
  const take = (bucket: string, size: number, perSecond: number): number => {
    const now = clock.now()
    const level = levels.get(bucket) ?? { tokens: size, at: now }
    const tokens = Math.min(size, level.tokens + (Math.max(now - level.at, 0) / 1000) * perSecond)
    levels.set(bucket, { tokens: tokens < 1 && refuse ? tokens : Math.max(tokens - 1, 0), at: now })
    return tokens
  }
  const left = (tokens: number) => String(Math.floor(Math.max(tokens - 1, 0)))

  return {
    /**
     * Counts a call; returns the headers for its answer: what is left in the region and, as in recordings since 2025, in all of them.
     * Throws an ArmError beyond the limit.
     *
     * @param subscriptionId empty for a call that is about no Azure subscription
     */
    count(principalId: string, subscriptionId: string, call: CountedCall): Readonly<Record<string, string>> {
      const counter = counterOf(call)
      const { kind, size, perSecond } = buckets[counter]
      const bucket = `${counter} ${subscriptionId} ${principalId}`
      const tokens = take(bucket, size, perSecond)
      if (tokens < 1 && refuse) {
        throw armErrors.throttled(subscriptionId, principalId, kind, Math.ceil((1 - tokens) / perSecond))
      }
      const header = 'x-ms-ratelimit-remaining'
      if (subscriptionId === '') return { [`${header}-tenant-${counter}`]: left(tokens) }
      const own = { [`${header}-subscription-${counter}`]: left(tokens) }
      if (counter === 'resource-requests') return own
      const all = take(`global ${bucket}`, size * globalTimes, perSecond * globalTimes)
      return { ...own, [`${header}-subscription-global-${counter}`]: left(all) }
    },
    /** Fills all buckets. */
    clear: (): void => levels.clear(),
  }
}

/** A write of an event subscription by the path of an extension resource (recorded, 2021 to 2025). */
const extensionSubscription = /\/providers\/microsoft\.eventgrid\/eventsubscriptions\/[^/]+$/i

function counterOf({ method, path }: CountedCall): Counter {
  if (method === 'GET' || method === 'HEAD') return 'reads'
  if (method !== 'POST' && extensionSubscription.test(path)) return 'resource-requests'
  return method === 'DELETE' ? 'deletes' : 'writes'
}
