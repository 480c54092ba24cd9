// Pacing of many replicas towards ARM: 250 ms each, write turns; time between repairs, 1 minute to 1 hour.

/**
 * Azure Resource Manager lets one principal call 200 times with POST, PUT or PATCH in one subscription, and 10 more times each second.
 * A replica that checks the event subscription needs two such calls, for what ARM hides. At 8 calls a second a fifth is left to others.
 */
const msPerReplica = 250

/** The time over which so many replicas spread one call each, in ms (pure). A single replica never waits. */
export const fleetSpreadMs = (replicas: number): number => (replicas > 1 ? replicas * msPerReplica : 0)

/** The pause before the first read of a start, in ms (pure). It takes at most a quarter of a start's time limit. */
export function decideStartPause(options: {
  readonly replicas: number
  /** How long the start may take; infinite in the background. */
  readonly timeoutMs: number
  /** At least 0 and less than 1. */
  readonly random: number
}): number {
  return options.random * Math.min(fleetSpreadMs(options.replicas), options.timeoutMs / 4)
}

const minRepairIntervalMs = 60_000
const maxRepairIntervalMs = 3_600_000

/**
 * Shortest time between two repairs, in ms (pure). It doubles with each repair that had to write: somebody removes again what was
 * written, such as replicas with more secrets than the event subscription can hold.
 */
export function decideRepairInterval(repairsThatWrote: number): number {
  return Math.min(maxRepairIntervalMs, minRepairIntervalMs * 2 ** Math.max(0, repairsThatWrote - 1))
}

/** What a replica knows when it has found that the event subscription differs from its metadata. */
export interface Difference {
  /** `credential`: only our credential is missing. `settings`: a write would undo what somebody else set. `missing`: it does not exist. */
  readonly kind: 'missing' | 'credential' | 'broken' | 'settings'
  /** Changes by others since this replica began. */
  readonly changesSeen: number
  /** How often this replica has waited and read again without writing. */
  readonly waits: number
  /** How long ago the last read began, in ms. */
  readonly ageMs: number
  readonly replicas: number
  readonly random: number
}

/** What to do about a difference. */
export type Turn =
  | { readonly kind: 'write' }
  | { readonly kind: 'readAgain'; readonly afterMs: number }
  /** Others with other settings use the event subscription too. */
  | { readonly kind: 'yield' }

/** What was read longer ago than this may have changed: an operation of ARM takes seconds. */
const freshMs = 1_000
/** Changes by others after which settings are left to them. In a fleet each replica counts, so the first one is enough. */
const maxChangesSeen = { alone: 2, fleet: 1 } as const
/** The longest waits of a fleet for settings to come to rest, and for another replica to try a failed handshake. */
const maxWaitMs = { settings: 60_000, broken: 15_000 } as const
const maxJitterMs = 30_000

/**
 * Decides whether a replica writes (pure). A missing event subscription and a missing credential are written at once: that
 * takes nothing from anybody. Settings of others are replaced only where they rest, so that two deployments that share a
 * name do not take turns.
 */
export function decideTurn({ kind, changesSeen, waits, ageMs, replicas, random }: Difference): Turn {
  const spread = fleetSpreadMs(replicas)
  const isDisputed = changesSeen >= (spread > 0 ? maxChangesSeen.fleet : maxChangesSeen.alone)
  if (kind === 'settings' && isDisputed) return { kind: 'yield' }
  if ((kind === 'settings' || kind === 'broken') && waits <= changesSeen && spread > 0) {
    const waitMs = Math.min(spread, maxWaitMs[kind]) + random * Math.min(spread, maxJitterMs)
    return { kind: 'readAgain', afterMs: waitMs }
  }
  // At most once: a slow network must not keep a replica from writing.
  return ageMs > freshMs && waits === 0 ? { kind: 'readAgain', afterMs: 0 } : { kind: 'write' }
}
