/** Which calls are made to fail, how often, and how (`failNext`). */
import { z } from 'zod'
import { checkOptions, type Members } from '../model/schemas.ts'
import { requestRoutes } from '../records/record-types.ts'

const faultRoutes = [...requestRoutes, 'delivery', 'operation'] as const

/**
 * A part of the emulator that can be made to fail; `operation` is the long-running part of a
 * change of an event subscription.
 */
export type FaultRoute = (typeof faultRoutes)[number]

/** A failure to inject. */
export interface Fault {
  readonly route: FaultRoute
  /**
   * Only calls that this says yes to, or that have this method and this part in their URL, in any letter case; `url` is path and query
   * (for `delivery` the whole URL, for `operation` the event subscription's resource id, and the method PUT always). @default every call
   */
  readonly matches?:
    | ((call: { readonly method: string; readonly url: string }) => boolean)
    | { readonly method?: string; readonly url?: string }
  /** How many calls; `Infinity` for all. @default 1 */
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

const maybe = <Schema extends z.ZodType>(schema: Schema) => z.exactOptional(schema)
const text = z.string().min(1).max(4096)
const longest = z.number().min(0).max(1_000_000_000)

/** A fault as JSON has it. */
export const faultSchema = z
  .strictObject({
    route: z.enum(faultRoutes),
    matches: maybe(
      z
        .strictObject({
          method: maybe(text.describe('In any letter case; PUT for operation, also of a PATCH')),
          url: maybe(text.describe('A part of path and query; of the whole URL for delivery')),
        })
        .describe('Only these calls. Default: every call'),
    ),
    times: maybe(z.int().min(1).max(1_000_000_000).describe('How many calls. Default: 1')),
    status: maybe(z.int().min(200).max(599).describe('Answer with this status')),
    code: maybe(z.string().max(200).describe("Error code of that answer's body, or of the operation")),
    message: maybe(z.string().max(2000).describe("Error message of that answer's body")),
    details: maybe(
      z
        .array(
          z.strictObject({
            code: z.string().max(200),
            target: maybe(z.string().max(2000)),
            message: z.string().max(2000),
          }),
        )
        .max(20)
        .describe("Details of an operation's error"),
    ),
    retryAfter: maybe(longest.describe('Retry-After of that answer, in seconds')),
    delayMs: maybe(longest.describe("Wait so long first, by the emulator's clock")),
    drop: maybe(z.boolean().describe('Close the connection without an answer')),
  } satisfies Members<Fault>)
  .refine(
    ({ route, status, delayMs, drop }) =>
      route === 'operation' || status !== undefined || delayMs !== undefined || drop,
    'has no effect at this route: give it status, delayMs or drop',
  )

/**
 * Throws a TypeError that names all that is wrong with a fault, as one that could never happen. In code `matches` may be a function, and
 * `times` may be `Infinity`.
 */
export function checkFault(fault: Fault): void {
  const { matches, times, ...rest } = fault
  checkOptions('the fault', faultSchema, {
    ...rest,
    ...(typeof matches !== 'function' && { matches }),
    ...(times !== Number.POSITIVE_INFINITY && { times }),
  })
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
