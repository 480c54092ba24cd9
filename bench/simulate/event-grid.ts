import type { SimulatedArm } from './arm.ts'
import type { Figures } from './figures.ts'
import type { Deployment } from './kubernetes.ts'
import { between, type Random } from './random.ts'
import type { SimulatedTime } from './time.ts'

interface EventGridOptions {
  readonly time: SimulatedTime
  readonly random: Random
  readonly figures: Figures
  readonly arm: SimulatedArm
  /** Which deployment the ingress leads to. */
  readonly deploymentAt: (endpointUrl: string) => Deployment | undefined
  /** Events in a second that are looked at. Each stands for many others. */
  readonly sampledPerSecond: number
}

interface Event {
  readonly publishedAt: number
  attempts: number
}

/** Event Grid's schedule (delivery-and-retry); an answer of 503 waits 30 s at least. */
const scheduleMs = [10_000, 30_000, 60_000, 300_000, 600_000, 1_800_000, 3_600_000] as const
const busyMs = 30_000
const maxAttempts = 30
/** Delayed delivery: our reading of it. While half of the last attempts fail, new attempts are held back, for twice as long each time. */
const sickness = { attempts: 100, share: 0.5, firstMs: 10_000, longestMs: 300_000 } as const

/** Publishes events and delivers them, as long as the simulation runs. Returns a function that gives the undelivered ones' greatest age. */
export function startEventGrid(options: EventGridOptions): void {
  const { time, random, figures, arm, deploymentAt, sampledPerSecond } = options
  const waiting = new Set<Event>()
  const sick = createSickness(time.now)

  function publish(): void {
    time.after(1_000 / sampledPerSecond, publish)
    // Without an event subscription nobody asked for the event.
    if (!arm.delivery()) return
    const event = { publishedAt: time.now(), attempts: 0 }
    waiting.add(event)
    time.after(between(random, 20, 200), () => attempt(event))
  }

  function attempt(event: Event): void {
    const heldMs = sick.heldMs()
    if (heldMs > 0) {
      time.after(heldMs + random() * 1_000, () => attempt(event))
      return
    }
    const delivery = arm.delivery()
    const pod = delivery && deploymentAt(delivery.endpointUrl)?.choose()
    const isUp = pod && pod.state !== 'gone'
    const refusal = isUp ? pod.replica.judge(delivery?.credentials) : undefined
    const fine = isUp && !refusal
    sick.note(fine === true)
    if (fine) {
      figures.count('delivered')
      figures.sawAge(time.now() - event.publishedAt)
      waiting.delete(event)
      return
    }
    figures.count(refusal?.foreign ? 'foreign' : 'failed')
    event.attempts++
    if (refusal?.status === 401 || event.attempts >= maxAttempts) {
      figures.lost++
      waiting.delete(event)
      return
    }
    const planned = scheduleMs[Math.min(event.attempts, scheduleMs.length) - 1] ?? busyMs
    time.after(Math.max(planned, busyMs) + random() * 2_000, () => attempt(event))
  }

  function watch(): void {
    for (const event of waiting) {
      // The oldest comes first.
      figures.sawAge(time.now() - event.publishedAt)
      break
    }
    time.after(1_000, watch)
  }

  publish()
  watch()
}

function createSickness(now: () => number) {
  const { attempts, share, firstMs, longestMs } = sickness
  let results: boolean[] = []
  let heldUntil = 0
  let holdMs: number = firstMs
  return {
    note(fine: boolean): void {
      results.push(fine)
      if (results.length < attempts) return
      const failures = results.filter((result) => !result).length
      results = []
      if (failures < attempts * share) {
        holdMs = firstMs
        return
      }
      heldUntil = now() + holdMs
      holdMs = Math.min(longestMs, holdMs * 2)
    },
    heldMs: () => Math.max(0, heldUntil - now()),
  }
}
