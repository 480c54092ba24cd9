// ARM throttling per hour: 12,000 reads, 1,200 writes, `x-ms-ratelimit-remaining-subscription-*`.
import type { Clock } from '../../model/time/clock.ts'
import { armErrors } from './errors.ts'

/**
 * Calls per hour and principal. A header says how many are left. Writes to Microsoft.EventGrid have a counter of their
 * own (Azure Resource Manager: request-limits-and-throttling; the hour is the emulator's choice).
 */
const limits = {
  reads: { kind: 'read', max: 12_000 },
  writes: { kind: 'write', max: 1_200 },
  deletes: { kind: 'delete', max: 15_000 },
  'resource-requests': { kind: 'write', max: 900 },
} as const

type Counter = keyof typeof limits

interface CountedCall {
  readonly method: string
  readonly path: string
}

const hourMs = 3_600_000

/** Counts the calls of each principal. @param refuse whether calls beyond the limits are refused, or only counted */
export function createArmRequestLimits(clock: Clock, { refuse }: { readonly refuse: boolean }) {
  // Bounded: one entry for each client of the options.
  const windows = new Map<string, { readonly start: number; readonly used: Map<Counter, number> }>()
  return {
    /** Counts a call; returns the header for its answer. Throws an ArmError beyond the limit. */
    count(principalId: string, call: CountedCall): Readonly<Record<string, string>> {
      const now = clock.now()
      let window = windows.get(principalId)
      if (!window || now - window.start >= hourMs) {
        window = { start: now, used: new Map() }
        windows.set(principalId, window)
      }
      const counter = counterOf(call)
      const used = (window.used.get(counter) ?? 0) + 1
      window.used.set(counter, used)
      const { kind, max } = limits[counter]
      if (refuse && used > max) {
        const seconds = Math.max(Math.ceil((window.start + hourMs - now) / 1000), 1)
        throw armErrors.throttled(call.path.split('/')[2] ?? '', kind, max, seconds)
      }
      return { [`x-ms-ratelimit-remaining-subscription-${counter}`]: String(Math.max(max - used, 0)) }
    },
  }
}

function counterOf({ method, path }: CountedCall): Counter {
  if (method === 'GET' || method === 'HEAD') return 'reads'
  if (method === 'DELETE') return 'deletes'
  // Writes of a domain itself have the counter of all providers (recorded answers).
  if (/\/microsoft\.eventgrid\/domains\/[^/]+$/i.test(path)) return 'writes'
  return /\/providers\/microsoft\.eventgrid\/\w+\//i.test(path) ? 'resource-requests' : 'writes'
}
