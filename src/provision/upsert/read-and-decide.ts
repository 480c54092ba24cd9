// Read, then decision whether this replica writes; count of changes by others; what a plain read hides.
import type { SteadyClock } from '../../support/time/clock.ts'
import type { CallLimits } from '../arm/call-limits.ts'
import type { SubscriptionApi } from '../arm/subscription-api.ts'
import { canonicalSubscription, isStatic, isWebHook } from '../decide/canonical-subscription.ts'
import { decideUpsert, delivers, type ExistingSubscription, isChanging, type Upsert } from '../decide/decide-upsert.ts'
import type { DesiredSubscription } from '../decide/desired-subscription.ts'
import { isDeliveryAttribute } from '../decide/merge-subscription.ts'
import { decideTurn, type Turn } from './fleet-pace.ts'

interface ReadAndDecideOptions {
  readonly api: Pick<SubscriptionApi, 'read'>
  readonly replicas: number
  /** Deliveries that were handled so far. */
  readonly handled: () => number
  readonly clock: SteadyClock
  readonly random: () => number
}

/** What to compare the event subscription with. */
interface Wanted {
  readonly desired: DesiredSubscription
  /** How often this replica has waited and read again without writing. */
  readonly waits: number
}

/** What a read has shown, and what to do about it. */
interface Decision {
  readonly existing: ExistingSubscription | undefined
  readonly upsert: Upsert
  /** Whether it is this replica's turn to write; absent where nothing has to be written. */
  readonly turn?: Turn
}

/** Reads the event subscription and decides what to do. It remembers the changes by others that it has seen. */
export function createReadAndDecide({ api, replicas, handled, clock, random }: ReadAndDecideOptions) {
  const changes = createChangeCount()

  /** `plain` reads without what ARM hides, and assumes that it is right. */
  async function readOnce(wanted: Wanted, limits: CallLimits, detail?: 'plain'): Promise<Decision> {
    const { desired, waits } = wanted
    const readAt = clock.elapsed()
    const read = await api.read(limits, detail)
    const existing = read && detail === 'plain' ? assumeHidden(read, desired) : read
    const upsert = decideUpsert(existing, desired)
    if (upsert.action === 'wait') changes.afterRead(existing)
    if (!('body' in upsert)) return { existing, upsert }
    const kind = upsert.action === 'create' ? 'missing' : upsert.difference
    const ageMs = clock.elapsed() - readAt
    const changesSeen = changes.afterRead(existing, handledElsewhere(existing, desired))
    return { existing, upsert, turn: decideTurn({ kind, ageMs, changesSeen, waits, replicas, random: random() }) }
  }

  /** Deliveries come here although the event subscription delivers elsewhere: it did not for a time. */
  function handledElsewhere(existing: ExistingSubscription | undefined, desired: DesiredSubscription): number {
    return existing && delivers(existing, desired) ? 0 : handled()
  }

  return {
    /** In a fleet, one call shows most replicas that they have to wait. What ARM hides takes three. */
    async read(wanted: Wanted, limits: CallLimits): Promise<Decision> {
      if (replicas === 1) return readOnce(wanted, limits)
      const first = await readOnce(wanted, limits, 'plain')
      const isEnough =
        first.existing === undefined || first.upsert.action === 'wait' || (first.turn?.kind ?? 'write') !== 'write'
      return isEnough ? first : readOnce(wanted, limits)
    },
    /** To be called after a write, also after one that failed. */
    afterWrite: changes.forgetLastRead,
  }
}

/** A plain answer of ARM with what it hides as we want it: our credential, and the query of the URL. */
function assumeHidden(
  { subscription, unknownSettings }: ExistingSubscription,
  { subscriberEndpoint, deliveryCredential }: DesiredSubscription,
): ExistingSubscription {
  const { destination } = subscription
  if (!isWebHook(destination)) return { subscription, unknownSettings }
  const shown = destination.endpointBaseUrl ?? subscriberEndpoint
  const endpointUrl = shown === subscriberEndpoint.split('?')[0] ? subscriberEndpoint : shown
  const value = deliveryCredential?.reveal()
  const deliveryAttributeMappings = (destination.deliveryAttributeMappings ?? []).map((mapping) =>
    value !== undefined && isDeliveryAttribute(mapping) && isStatic(mapping) ? { ...mapping, value } : mapping,
  )
  const assumed = { ...destination, endpointUrl, deliveryAttributeMappings }
  return { subscription: { ...subscription, destination: assumed }, unknownSettings }
}

/** The settings as text that compares. Our delivery attribute is left out: replicas add their credentials all the time. */
function settingsText({ subscription }: ExistingSubscription): string {
  const { destination } = subscription
  if (!isWebHook(destination)) return JSON.stringify(canonicalSubscription(subscription))
  const { deliveryAttributeMappings: mappings } = destination
  const others = (mappings ?? []).filter((mapping) => !isDeliveryAttribute(mapping))
  const shown = { ...destination, deliveryAttributeMappings: others }
  return JSON.stringify(canonicalSubscription({ ...subscription, destination: shown }))
}

/** Counts the changes by others that an upsert sees: operations under way, and settings that differ between two reads. */
function createChangeCount() {
  let count = 0
  let last: string | undefined
  let handledBefore = 0
  let changing = false
  return {
    /** Counts in what a read has shown; gives the count. `handled`: deliveries that only came because of a change. */
    afterRead(existing: ExistingSubscription | undefined, handled = 0): number {
      if (existing !== undefined && isChanging(existing.subscription)) {
        if (!changing) count++
        changing = true
        last = undefined
        return count
      }
      const now = existing ? settingsText(existing) : 'missing'
      if (last !== undefined && (now !== last || handled > handledBefore)) count++
      changing = false
      last = now
      handledBefore = handled
      return count
    },
    /** After a write of our own: what differs then is our own change. */
    forgetLastRead(): void {
      last = undefined
      changing = false
    },
  }
}
