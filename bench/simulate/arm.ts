import type { EventSubscription, WebHookEventSubscriptionDestination } from '@azure/arm-eventgrid'
import { deliveryTokenHeader } from '../../src/core/delivery-credential.ts'
import { ArmFailureError } from '../../src/provision/arm/arm-failure.ts'
import type { CallLimits } from '../../src/provision/arm/call-limits.ts'
import type { SubscriptionApi } from '../../src/provision/arm/subscription-api.ts'
import { isWebHook } from '../../src/provision/decide/canonical-subscription.ts'
import type { ExistingSubscription } from '../../src/provision/decide/decide-upsert.ts'
import { pause } from '../../src/support/time/clock.ts'
import type { Figures } from './figures.ts'
import { between, type Random } from './random.ts'
import type { SimulatedTime } from './time.ts'

/** What Event Grid delivers with, since the last operation that succeeded. */
export interface Delivery {
  readonly endpointUrl: string
  /** The value of our delivery attribute. */
  readonly credentials: string | undefined
}

/** Azure Resource Manager with one event subscription. */
export interface SimulatedArm {
  /** The calls of one replica. */
  apiFor(replica: { readonly reachesArm: () => boolean }): SubscriptionApi
  /** `undefined` while there is no event subscription that ever succeeded. */
  delivery(): Delivery | undefined
  /** Somebody deletes the event subscription. */
  remove(): void
  /** Somebody removes its delivery attributes. */
  removeAttributes(): void
  /** ARM does not answer. */
  setAway(away: boolean): void
}

interface SimulatedArmOptions {
  readonly time: SimulatedTime
  readonly random: Random
  readonly figures: Figures
  /** Does a replica behind that URL answer a handshake? */
  readonly answersHandshake: (endpointUrl: string) => boolean
}

/** Allowances of one principal in one subscription (Azure Resource Manager: request-limits-and-throttling). */
const allowances = { reads: { size: 250, perSecond: 25 }, writes: { size: 200, perSecond: 10 } } as const
const latencyMs = [60, 300] as const
const operationMs = [2_000, 8_000] as const
const pollMs = 2_000
/** How long a call waits for an ARM that does not answer. */
const noAnswerMs = 5_000

function createBucket({ size, perSecond }: { readonly size: number; readonly perSecond: number }, now: () => number) {
  let left: number = size
  let at = 0
  return {
    /** Takes one call; gives how long to wait where none is left. */
    take(): number | undefined {
      left = Math.min(size, left + ((now() - at) / 1_000) * perSecond)
      at = now()
      if (left < 1) return Math.ceil((1 - left) / perSecond) * 1_000
      left--
      return undefined
    },
  }
}

const asWebHook = (subscription: EventSubscription): WebHookEventSubscriptionDestination | undefined =>
  isWebHook(subscription.destination) ? subscription.destination : undefined

function credentialsIn(subscription: EventSubscription): string | undefined {
  const mappings = asWebHook(subscription)?.deliveryAttributeMappings ?? []
  return mappings.flatMap((mapping) =>
    mapping.name === deliveryTokenHeader && 'value' in mapping && mapping.value ? [mapping.value] : [],
  )[0]
}

/** As ARM's plain answer shows it. */
function withoutSecrets(subscription: EventSubscription): EventSubscription {
  const webHook = asWebHook(subscription)
  if (!webHook) return subscription
  const { endpointUrl, deliveryAttributeMappings, ...rest } = webHook
  const mappings = deliveryAttributeMappings?.map((mapping) => ({ ...mapping, value: 'Hidden' }))
  return { ...subscription, destination: { ...rest, ...(mappings && { deliveryAttributeMappings: mappings }) } }
}

const answered = (status: number, code: string, retryAfterMs?: number) =>
  new ArmFailureError({ kind: 'answer', status, code, message: code, ...(retryAfterMs && { retryAfterMs }) })

export function createSimulatedArm({ time, random, figures, answersHandshake }: SimulatedArmOptions): SimulatedArm {
  const buckets = {
    reads: createBucket(allowances.reads, time.now),
    writes: createBucket(allowances.writes, time.now),
  }
  let existing: EventSubscription | undefined
  let delivery: Delivery | undefined
  let version = 0
  let away = false
  const isChanging = () => existing?.provisioningState === 'Creating' || existing?.provisioningState === 'Updating'

  /** One request: its way, its answer. */
  async function request(
    bucket: keyof typeof buckets,
    counted: 'reads' | 'secretReads' | undefined,
    { limits, reaches }: { readonly limits: CallLimits; readonly reaches: () => boolean },
  ): Promise<void> {
    await pause(time.clock, away || !reaches() ? noAnswerMs : between(random, ...latencyMs), limits.signal)
    limits.signal.throwIfAborted()
    if (away || !reaches()) throw new ArmFailureError({ kind: 'network', message: 'no answer came in time' })
    const retryAfterMs = buckets[bucket].take()
    if (retryAfterMs !== undefined) {
      figures.count('throttled')
      throw answered(429, 'TooManyRequests', retryAfterMs)
    }
    if (counted) figures.count(counted)
  }

  /** What an operation does when it ends. */
  function complete(mine: number): 'Succeeded' | 'Failed' | 'Canceled' {
    if (!existing || version !== mine) return 'Canceled'
    const endpointUrl = asWebHook(existing)?.endpointUrl ?? ''
    figures.count('handshakes')
    const ended = answersHandshake(endpointUrl) ? 'Succeeded' : 'Failed'
    existing = { ...existing, provisioningState: ended }
    if (ended === 'Succeeded') delivery = { endpointUrl, credentials: credentialsIn(existing) }
    return ended
  }

  async function write(
    body: EventSubscription,
    kind: 'put' | 'patch',
    call: { readonly limits: CallLimits; readonly reaches: () => boolean },
  ): Promise<void> {
    await request('writes', undefined, call)
    if (kind === 'patch' && !existing) throw answered(404, 'ResourceNotFound')
    if (isChanging()) {
      figures.count('refusedWrites')
      throw answered(409, 'Conflict')
    }
    figures.count('writes')
    const url = asWebHook({ ...existing, ...body })?.endpointUrl ?? ''
    const merged: EventSubscription = { ...(kind === 'patch' && existing), ...body }
    const webHook = asWebHook(merged)
    existing = {
      ...merged,
      ...(webHook && { destination: { ...webHook, endpointBaseUrl: url.split('?')[0] ?? url } }),
      provisioningState: existing ? 'Updating' : 'Creating',
    }
    const mine = ++version
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof complete>>()
    const duration = between(random, ...operationMs)
    time.clock.setTimer(duration, () => resolve(complete(mine)))
    const ended = promise.then((state) => {
      if (state === 'Canceled') throw new ArmFailureError({ kind: 'canceled', message: 'it was deleted meanwhile' })
      if (state === 'Failed') {
        const message = 'Webhook validation handshake failed. Http OPTIONS request failed with response code 503.'
        throw new ArmFailureError({ kind: 'operation', code: 'Url validation', message })
      }
    })
    ended.catch(() => {})
    for (let polledMs = 0; polledMs < duration; polledMs += pollMs)
      await request('reads', 'reads', call).then(() => pause(time.clock, pollMs, call.limits.signal))
    call.limits.signal.throwIfAborted()
    await ended
  }

  return {
    apiFor({ reachesArm: reaches }) {
      return {
        resourceManager: 'https://management.azure.com',
        async read(limits, detail): Promise<ExistingSubscription | undefined> {
          await request('reads', 'reads', { limits, reaches })
          const shown = existing
          if (!shown) return undefined
          if (detail === 'plain' || isChanging()) return { subscription: withoutSecrets(shown), unknownSettings: [] }
          const secret = () => request('writes', 'secretReads', { limits, reaches })
          await Promise.all([secret(), secret()])
          return existing && { subscription: existing, unknownSettings: [] }
        },
        put: ({ body }, limits) => write(body, 'put', { limits, reaches }),
        patch: ({ body }, limits) => write({ ...body }, 'patch', { limits, reaches }),
      }
    },
    delivery: () => delivery,
    remove() {
      existing = undefined
      delivery = undefined
      version++
    },
    removeAttributes() {
      if (!existing) return
      const webHook = asWebHook(existing)
      if (webHook) existing = { ...existing, destination: { ...webHook, deliveryAttributeMappings: [] } }
      delivery = delivery && { ...delivery, credentials: undefined }
    },
    setAway(now) {
      away = now
    },
  }
}
