import type { EventHandler } from '../core/event.ts'
import { printable, type QuietLog } from '../core/quiet-log.ts'
import type { Timers } from '../support/timers.ts'
import { type Acknowledgement, decideAcknowledgement, type EventOutcome } from './acknowledgement.ts'
import { createAdmission, type Waiter } from './admission.ts'
import { createDeadlines, type Expiring } from './deadlines.ts'
import type { DeliveryEvent, DeliveryMember } from './delivery.ts'
import { Deadline, DeliveredEvent } from './received-event.ts'
import { createRedelivery, type RunningEvent } from './redelivery.ts'
import { readThrown } from './thrown.ts'

/** One body whose events are to be handled. */
interface Delivery {
  readonly members: DeliveryMember[]
  readonly metadata: Readonly<Record<string, string>>
  /** Size of the body. */
  readonly bytes: number
  /** By `now` of the dispatcher: `handlerTimeout` runs from here. */
  readonly arrivedAt: number
  /** `aeg-delivery-count` is over 0. */
  readonly redelivered: boolean
  /** Called once. False: the sender is gone, so that the answer reached nobody. */
  answer(acknowledgement: Acknowledgement): boolean
}

export interface DispatcherOptions {
  /** Asked anew for each event. */
  readonly handler: () => EventHandler | undefined
  readonly maxConcurrency: number
  readonly handlerTimeoutMs: number
  /** How long a body waits for its first handler call. @default 3_000 */
  readonly admissionWaitMs?: number
  readonly log: QuietLog
  /** Milliseconds of any beginning; not of a clock that may be set, since a step back would keep everything waiting as long. */
  readonly now: () => number
  readonly timers: Timers
}

/** Brings events to the handler and one answer back for each body. */
export interface Dispatcher {
  dispatch(delivery: Delivery): void
  /** Nothing new reaches the handler any more; who waits is answered. */
  stop(): void
  /** Resolves when no handler runs and every body is answered. */
  idle(): Promise<void>
  /** Handler calls under way, also those whose time is over. */
  readonly running: number
  /** Bodies that wait for a handler call. */
  readonly waiting: number
}

/** A body on its way. */
interface Work extends Expiring {
  readonly delivery: Delivery
  /** As they would be if time were over now: `notTried` at first, `timedOut` once begun. */
  readonly outcomes: EventOutcome[]
  readonly deadline: Deadline
  /** Events that have not ended. */
  open: number
  /** The first event that has not been begun. */
  next: number
  answered: boolean
  /** It has been let in once, so the short wait is behind it. */
  admitted: boolean
  /** A slot that was handed over and not used yet. */
  holdsSlot: boolean
  waiter: Waiter | undefined
  waitTimer: Disposable | undefined
}

/** An event's place in a body. */
interface Waiting {
  readonly work: Work
  readonly index: number
}

/** An event whose handler runs, and its place in the body that began it. */
interface Running extends RunningEvent, Waiting {
  /** Redeliveries that wait for it as well. */
  joined: readonly Waiting[]
}

/** What a member that waits takes beside its bytes: tiny events are mostly that. */
const memberBytes = 300

const nobody: readonly Waiting[] = []

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { handler: handlerNow, handlerTimeoutMs, admissionWaitMs = 3_000, log, now, timers } = options
  const admission = createAdmission(options)
  const redelivery = createRedelivery<Running>()
  const deadlines = createDeadlines<Work>(timers, now, expire)
  const idleListeners: (() => void)[] = []
  let running = 0
  let unanswered = 0
  let stopped = false

  function dispatch(delivery: Delivery): void {
    const work: Work = {
      delivery,
      outcomes: new Array<EventOutcome>(delivery.members.length).fill('notTried'),
      deadline: new Deadline(),
      expiresAt: delivery.arrivedAt + handlerTimeoutMs,
      place: -1,
      open: delivery.members.length,
      next: 0,
      answered: false,
      admitted: false,
      holdsSlot: false,
      waiter: undefined,
      waitTimer: undefined,
    }
    unanswered++
    if (work.expiresAt <= now()) expire(work)
    else proceed(work)
    if (!work.answered) deadlines.add(work)
  }

  /** Begins events until all are, or one has to wait for a slot. */
  function proceed(work: Work): void {
    const { members, redelivered } = work.delivery
    while (!work.answered && work.next < members.length) {
      const index = work.next
      const member = members[index]
      if (member === undefined) break
      if ('invalid' in member) {
        work.next++
        log.warn('a delivery held something that is no event', { position: index, reason: member.invalid })
        settle(work, index, 'invalid')
      } else if (member.data.length === 0) {
        work.next++
        log.warn('the bytes of an event were taken away by another handler of its batch', {
          id: printable(member.id),
        })
        settle(work, index, 'threw')
      } else if (!(redelivered && resume(work, index, member))) {
        if (stopped) giveUp(work)
        else if (!takeSlot(work)) break
        else {
          work.next++
          begin(work, index, member)
        }
      }
    }
    if (work.holdsSlot) {
      work.holdsSlot = false
      admission.leave()
    }
  }

  /** Joins or settles an event that an earlier delivery brought. */
  function resume(work: Work, index: number, event: DeliveryEvent): boolean {
    const earlier = redelivery.find(event)
    if (earlier === undefined) return false
    event.forgetCloudEvent()
    work.next++
    if (typeof earlier === 'string') settle(work, index, earlier)
    else {
      work.outcomes[index] = 'timedOut'
      // Their bytes are the same, and those of a body of its own need not be kept beside them.
      work.delivery.members[index] = earlier.event
      // A handler that never ends would keep every redelivery in memory.
      earlier.joined = [...earlier.joined.filter((other) => !other.work.answered), { work, index }]
    }
    return true
  }

  function takeSlot(work: Work): boolean {
    if (work.holdsSlot || admission.tryEnter()) {
      work.holdsSlot = false
      work.admitted = true
      return true
    }
    work.waiter ??= newWaiter(work)
    if (!admission.wait(work.waiter, work.admitted ? 'again' : 'first')) giveUp(work)
    else if (!work.admitted) work.waitTimer = timers.setTimeout(giveUp, admissionWaitMs, work)
    return false
  }

  /** Who waits keeps of their events the bytes and what leads to them, for these are what the queue counts. */
  function newWaiter(work: Work): Waiter {
    for (const member of work.delivery.members) if (!('invalid' in member)) member.forgetCloudEvent()
    return {
      bytes: work.delivery.bytes + work.delivery.members.length * memberBytes,
      admit() {
        work.waitTimer?.[Symbol.dispose]()
        work.holdsSlot = true
        proceed(work)
      },
      refuse: () => giveUp(work),
    }
  }

  /** What has not been begun is not going to be. */
  function giveUp(work: Work): void {
    if (work.waiter) admission.cancel(work.waiter)
    work.open -= work.outcomes.length - work.next
    work.next = work.outcomes.length
    if (work.open === 0 && !work.answered) finish(work)
  }

  function begin(work: Work, index: number, event: DeliveryEvent): void {
    const handler = handlerNow()
    if (!handler) {
      settle(work, index, 'notTried')
      admission.leave()
      return
    }
    const call: Running = { event, work, index, joined: nobody, place: -1 }
    work.outcomes[index] = 'timedOut'
    redelivery.begin(call)
    running++
    let result: unknown
    try {
      result = handler(new DeliveredEvent(event, work.delivery.metadata, work.deadline))
    } catch (error) {
      fail(call, error)
      return
    }
    if ((typeof result !== 'object' || result === null) && typeof result !== 'function') complete(call, 'resolved')
    else void follow(call, result)
  }

  /** Awaited, so that a `then` that throws when it is looked at is a failure like any other. */
  async function follow(call: Running, result: unknown): Promise<void> {
    try {
      await result
    } catch (error) {
      fail(call, error)
      return
    }
    complete(call, 'resolved')
  }

  function fail(call: Running, error: unknown): void {
    const { rejected, reason } = readThrown(error)
    const message = rejected ? 'the handler rejected an event' : 'the handler failed, so the event is not acknowledged'
    const id = printable(call.event.id)
    log.warn(message, { id, error: printable(reason, 300) }, id)
    complete(call, rejected ? 'rejected' : 'threw')
  }

  function complete(call: Running, outcome: 'resolved' | 'rejected' | 'threw'): void {
    running--
    redelivery.end(call)
    // Whoever joined did so because an earlier body was answered too soon, or its answer got lost.
    const late = call.work.answered || call.joined.length > 0
    if (!call.work.answered) settle(call.work, call.index, outcome)
    for (const { work, index } of call.joined) if (!work.answered) settle(work, index, outcome)
    if (late && outcome !== 'threw') redelivery.remember(call.event, outcome)
    admission.leave()
    tellIdle()
  }

  function settle(work: Work, index: number, outcome: EventOutcome): void {
    work.outcomes[index] = outcome
    if (--work.open === 0) finish(work)
  }

  function expire(work: Work): void {
    if (work.answered) return
    if (work.waiter) admission.cancel(work.waiter)
    finish(work)
    work.deadline.pass()
  }

  function finish(work: Work): void {
    work.answered = true
    deadlines.remove(work)
    work.waitTimer?.[Symbol.dispose]()
    const acknowledgement = decideAcknowledgement(work.outcomes)
    if (acknowledgement.status === 503) log.warn(`a delivery was put off: ${acknowledgement.detail}`)
    const arrived = work.delivery.answer(acknowledgement)
    if (acknowledgement.status !== 200 || !arrived) rememberSettled(work)
    unanswered--
    tellIdle()
  }

  /** The body comes again; its settled events are not to be handled again then. */
  function rememberSettled(work: Work): void {
    for (const [index, member] of work.delivery.members.entries()) {
      const outcome = work.outcomes[index]
      if (!('invalid' in member) && (outcome === 'resolved' || outcome === 'rejected'))
        redelivery.remember(member, outcome)
    }
  }

  function tellIdle(): void {
    if (running > 0 || unanswered > 0 || idleListeners.length === 0) return
    for (const listener of idleListeners.splice(0)) listener()
  }

  return {
    dispatch,
    stop() {
      stopped = true
      admission.refuseAll()
      deadlines.stop()
    },
    idle: () =>
      new Promise((resolve) => {
        idleListeners.push(resolve)
        tellIdle()
      }),
    get running() {
      return running
    },
    get waiting() {
      return admission.waiting
    },
  }
}
