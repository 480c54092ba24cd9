/** In which state each event of a Queue event subscription is, and which waiting receive gets the event. */
import { randomBytes } from 'node:crypto'
import type { EventText } from '../model/events/event-text.ts'
import type { Hold } from '../model/held-bytes.ts'
import type { CancelTimer, Clock } from '../model/time/clock.ts'

/** The settings of a Queue event subscription that decide how its events are handed out. */
export interface QueueSettings {
  readonly lockDurationMs: number
  /** Times an event is received at most. */
  readonly maxDeliveryCount: number
  readonly timeToLiveMs: number
}

/** Why an event left the queue without an acknowledgement. */
export type DeadLetterReason = 'Rejected' | 'MaxDeliveryAttemptsExceeded' | 'TimeToLiveExceeded'

export interface ReceivedEvent {
  readonly event: EventText
  readonly lockToken: string
  /** 1 at the first receive. */
  readonly deliveryCount: number
}

/** The result of settling a lock token (Event Grid namespaces, data plane: acknowledge, release, reject, renewLock). */
export type SettleOutcome = 'done' | 'BadToken' | 'TokenLost'

/** How many events are in which state. */
export interface QueueFigures {
  readonly available: number
  readonly locked: number
  /** Released with a delay that is not over. */
  readonly delayed: number
}

export interface QueuedEvent {
  readonly event: EventText
  /** When it was published, in milliseconds since 1970. */
  readonly acceptedAt: number
  /** How often it was received. */
  readonly deliveryCount: number
  /** When it was received last, in milliseconds since 1970; undefined for an event that nobody received. */
  readonly receivedAt?: number | undefined
  /** Its number in the journal; undefined without a journal. */
  readonly row?: number | undefined
  /** Its bytes, which count as pending until it is released. */
  readonly hold?: Hold | undefined
}

export interface PullQueueOptions {
  readonly clock: Clock
  readonly settings: QueueSettings
  /** Called with each event that is new, or whose state has changed. */
  readonly changed: (event: HeldEvent) => void
  /** Called with each event that leaves the queue: acknowledged, or given up for a reason. */
  readonly removed: (event: QueuedEvent, reason?: DeadLetterReason) => void
}

export type PullQueue = ReturnType<typeof createPullQueue>

/** An event of the queue, and its state. */
export interface HeldEvent extends QueuedEvent {
  readonly state: keyof QueueFigures
  /** The end of the lock or of the delay; undefined in state `available`. */
  readonly until: number | undefined
}

interface Item extends HeldEvent {
  deliveryCount: number
  receivedAt: number | undefined
  lockToken: string | undefined
  state: keyof QueueFigures
  until: number | undefined
  /** Ends the lock or the delay. */
  timer: CancelTimer | undefined
  /** The end of the event's time to live. */
  expiry: CancelTimer | undefined
}

function reasonToGiveUp(event: QueuedEvent, settings: QueueSettings, now: number): DeadLetterReason | undefined {
  if (event.deliveryCount >= settings.maxDeliveryCount) return 'MaxDeliveryAttemptsExceeded'
  return now >= event.acceptedAt + settings.timeToLiveMs ? 'TimeToLiveExceeded' : undefined
}

const tokenShape = /^[\w-]{32}$/

/** The events of one Queue event subscription: each is available, locked, or released with a delay. */
export function createPullQueue({ clock, changed, removed, ...options }: PullQueueOptions) {
  let { settings } = options
  // In the order of their publishing.
  const items = new Set<Item>()
  const locked = new Map<string, Item>()
  const waiting = createReceiveWaits<ReceivedEvent>(clock)

  function unlock(item: Item): void {
    item.timer?.()
    if (item.lockToken !== undefined) locked.delete(item.lockToken)
    item.lockToken = undefined
  }

  function remove(item: Item, reason?: DeadLetterReason): void {
    unlock(item)
    item.expiry?.()
    items.delete(item)
    removed(item, reason)
  }

  function makeAvailable(item: Item): void {
    unlock(item)
    item.timer = undefined
    item.until = undefined
    item.state = 'available'
    const reason = reasonToGiveUp(item, settings, clock.now())
    if (reason) {
      remove(item, reason)
      return
    }
    changed(item)
    waiting.offer(() => item.state === 'available')
  }

  /** Holds an event back for a while. */
  function hold(item: Item, state: 'locked' | 'delayed', ms: number): void {
    item.timer?.()
    item.state = state
    item.until = clock.now() + ms
    item.timer = clock.setTimer(ms, () => makeAvailable(item))
    changed(item)
  }

  function lock(item: Item): ReceivedEvent {
    const lockToken = randomBytes(24).toString('base64url')
    item.deliveryCount++
    item.receivedAt = clock.now()
    item.lockToken = lockToken
    locked.set(lockToken, item)
    hold(item, 'locked', settings.lockDurationMs)
    return { event: item.event, lockToken, deliveryCount: item.deliveryCount }
  }

  function take(maxEvents: number): ReceivedEvent[] {
    const taken: ReceivedEvent[] = []
    for (const item of items) {
      if (taken.length === maxEvents) break
      if (item.state === 'available') taken.push(lock(item))
    }
    return taken
  }

  function settle(lockToken: string, settleItem: (item: Item) => void): SettleOutcome {
    if (!tokenShape.test(lockToken)) return 'BadToken'
    const item = locked.get(lockToken)
    if (!item) return 'TokenLost'
    settleItem(item)
    return 'done'
  }

  function watchExpiry(item: Item): void {
    item.expiry?.()
    const left = item.acceptedAt + settings.timeToLiveMs - clock.now()
    item.expiry = clock.setTimer(left, () => {
      // A locked event is judged when its lock ends.
      if (item.state !== 'locked') remove(item, 'TimeToLiveExceeded')
    })
  }

  function clear(): readonly QueuedEvent[] {
    const dropped = [...items]
    for (const item of dropped) {
      item.timer?.()
      item.expiry?.()
    }
    items.clear()
    locked.clear()
    return dropped
  }

  return {
    add(event: QueuedEvent): void {
      const item: Item = {
        ...event,
        state: 'available',
        until: undefined,
        receivedAt: undefined,
        lockToken: undefined,
        timer: undefined,
        expiry: undefined,
      }
      items.add(item)
      watchExpiry(item)
      makeAvailable(item)
    },
    /**
     * Locks the oldest available events. Waits for the first one. Resolves empty when the wait is over, by the clock, or
     * when the signal aborts: the client has gone.
     */
    receive: (maxEvents: number, maxWaitMs: number, signal: AbortSignal) =>
      waiting.wait(() => take(maxEvents), maxWaitMs, signal),
    acknowledge: (lockToken: string) => settle(lockToken, (item) => remove(item)),
    release: (lockToken: string, delayMs: number) =>
      settle(lockToken, (item) => {
        if (delayMs === 0) return makeAvailable(item)
        unlock(item)
        hold(item, 'delayed', delayMs)
      }),
    reject: (lockToken: string) => settle(lockToken, (item) => remove(item, 'Rejected')),
    /** Has the lock last `lockDurationMs` from now. */
    renewLock: (lockToken: string) => settle(lockToken, (item) => hold(item, 'locked', settings.lockDurationMs)),
    use(changedSettings: QueueSettings): void {
      settings = changedSettings
      for (const item of items) watchExpiry(item)
    },
    figures(): QueueFigures {
      const counts = { available: 0, locked: 0, delayed: 0 }
      for (const { state } of items) counts[state]++
      return counts
    },
    /** The oldest events, which stay as they are. */
    peek(count: number): readonly HeldEvent[] {
      const oldest: HeldEvent[] = []
      for (const item of items) {
        if (oldest.length === count) break
        oldest.push(item)
      }
      return oldest
    },
    /** Events that are not settled. */
    get size() {
      return items.size
    },
    /** Drops the events. Returns these. */
    clear,
    /** The same, and ends waits. */
    close(): readonly QueuedEvent[] {
      waiting.close()
      return clear()
    },
  }
}

/** The receives that wait for an event, oldest first. */
export function createReceiveWaits<Taken>(clock: Clock) {
  const waiting = new Set<{ attempt(): void; leave(): void }>()
  return {
    /** Takes events as soon as there are some. Resolves empty after `ms` of the clock, and when the signal aborts. */
    wait: (take: () => readonly Taken[], ms: number, signal: AbortSignal) =>
      new Promise<readonly Taken[]>((resolve) => {
        const end = (taken: readonly Taken[]) => {
          cancel()
          waiting.delete(receive)
          signal.removeEventListener('abort', receive.leave)
          resolve(taken)
        }
        const receive = {
          attempt() {
            const taken = take()
            if (taken.length > 0) end(taken)
          },
          leave: () => end([]),
        }
        const cancel = clock.setTimer(ms, receive.leave)
        signal.addEventListener('abort', receive.leave)
        waiting.add(receive)
        if (signal.aborted) receive.leave()
        else receive.attempt()
      }),
    /** Lets the receives take events until `isLeft` is false. A receive that takes nothing goes on waiting. */
    offer(isLeft: () => boolean): void {
      for (const receive of [...waiting]) {
        if (!isLeft()) break
        receive.attempt()
      }
    },
    /** Ends all receives without an event. */
    close(): void {
      for (const receive of [...waiting]) receive.leave()
    },
  }
}
