/** Which calls are made to fail, how often, and how (`failNext`). */
import { checkNames } from '../../../../src/support/process/option-checks.ts'
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { suggestName } from '../../../../src/support/text/nearest-name.ts'

export const faultRoutes = ['arm', 'entra', 'topic', 'namespace', 'blob', 'delivery', 'operation'] as const

/**
 * A part of the emulator that can be made to fail; `operation` is the long-running part of a
 * change of an event subscription.
 */
export type FaultRoute = (typeof faultRoutes)[number]

/** A failure to inject. */
export interface Fault {
  readonly route: FaultRoute
  /**
   * Only calls that this says yes to, or that have this method and this part in their URL, in any letter case; `url` is path and query (for `delivery` the
   * whole URL, for `operation` the event subscription's resource id). @default every call
   */
  readonly matches?:
    | ((call: { readonly method: string; readonly url: string }) => boolean)
    | { readonly method?: string; readonly url?: string }
  /** How many calls. @default 1 */
  readonly times?: number
  /**
   * Answer with this status instead of the real answer. For `delivery`: behave as if the subscriber had answered it.
   * Has no effect for `operation`.
   */
  readonly status?: number
  /** Error code of that answer's body, or of the operation. @default Azure's usual one for the status */
  readonly code?: string
  /** Error message of that answer's body. */
  readonly message?: string
  /** `details` of an operation's error. Has no effect elsewhere. */
  readonly details?: readonly { readonly code: string; readonly target?: string; readonly message: string }[]
  /** `Retry-After` of that answer, in seconds. */
  readonly retryAfter?: number
  /**
   * Wait so long first, in milliseconds of the emulator's clock. Without `status` and `drop` the real answer follows.
   */
  readonly delayMs?: number
  /** Close the connection without an answer. Has no effect for `operation`. */
  readonly drop?: boolean
}

const faultNames: Readonly<Record<keyof Fault, true>> = {
  route: true,
  matches: true,
  times: true,
  status: true,
  code: true,
  message: true,
  details: true,
  retryAfter: true,
  delayMs: true,
  drop: true,
}

/**
 * Throws a TypeError or RangeError for a fault that could never happen, such as one with a misspelt name.
 */
export function checkFault(fault: Fault): void {
  checkNames('the fault', fault, Object.keys(faultNames))
  const { route, times = 1, status, delayMs, drop, matches, retryAfter } = fault
  if (!faultRoutes.includes(route)) {
    const meant = suggestName(String(route), faultRoutes)
    throw new TypeError(`the fault: there is no route ${JSON.stringify(route)}; ${meant}`)
  }
  if (!(times >= 1)) throw new RangeError(`the fault: times must be 1 or more, not ${String(times)}`)
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599))
    throw new RangeError(`the fault: status must be a status of HTTP, 200 to 599, not ${String(status)}`)
  for (const [name, value] of Object.entries({ delayMs, retryAfter })) {
    if (value !== undefined && !(Number.isFinite(value) && value >= 0))
      throw new RangeError(`the fault: ${name} must be 0 or more, not ${String(value)}`)
  }
  if (matches !== undefined && typeof matches !== 'function') {
    if (!isRecord(matches))
      throw new TypeError('the fault: matches must be a function, or an object with method and url')
    for (const [name, value] of checkNames("the fault's matches", matches, ['method', 'url'])) {
      if (typeof value !== 'string') throw new TypeError(`the fault's matches: ${name} must be a text`)
    }
  }
  if (route !== 'operation' && status === undefined && delayMs === undefined && !drop) {
    throw new TypeError(`the fault has no effect at ${route}: give it status, delayMs or drop`)
  }
}

function isMeant({ matches = {} }: Fault, call: { readonly method: string; readonly url: string }): boolean {
  if (typeof matches === 'function') return matches(call)
  const { method = call.method, url = '' } = matches
  return method.toUpperCase() === call.method.toUpperCase() && call.url.toLowerCase().includes(url.toLowerCase())
}

export type Faults = ReturnType<typeof createFaults>

/** The injected faults, in the order in which they were added. */
export function createFaults() {
  let waiting: { fault: Fault; left: number }[] = []
  let takenBack = new AbortController()
  return {
    add: (fault: Fault) => void waiting.push({ fault, left: fault.times ?? 1 }),
    /** The first fault that matches this call, if any; counts it as used. */
    take(route: FaultRoute, call: { readonly method: string; readonly url: string }): Fault | undefined {
      const hit = waiting.find(({ fault }) => fault.route === route && isMeant(fault, call))
      if (!hit) return undefined
      hit.left--
      if (hit.left <= 0) waiting = waiting.filter((entry) => entry !== hit)
      return hit.fault
    },
    /** Aborts when the faults up to now are taken back, those too that a call has met and that delay it. */
    get takenBack(): AbortSignal {
      return takenBack.signal
    },
    clear: () => {
      waiting = []
      takenBack.abort()
      takenBack = new AbortController()
    },
  }
}
