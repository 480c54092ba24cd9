/** Answers of the listener: each request is answered once, and counted. */
import type { FastifyReply } from 'fastify'
import type { QuietLog } from '../core/logger.ts'
import { scrub } from '../core/scrub.ts'
import type { EventOutcome } from '../dispatch/delivery.ts'
import { countRefused, createRecentCounts, type DeliverySource } from '../dispatch/handler.ts'
import { errorInWords } from '../support/process/error-code.ts'
import { cut } from '../support/text/text.ts'
import type { SteadyClock } from '../support/time/clock.ts'
import { type GateRefusal, isDelivery, namesOurs } from './admission.ts'
import { type LogEvent, logEvents, writeLine } from './log-events.ts'
import { type Answer, hasEnded, problemAnswer, sendAnswer, sendPastHooks, whenEnded } from './request.ts'

export interface AnswersOptions {
  readonly log: QuietLog
  /** Our secrets, which an error may repeat. @default none */
  readonly secrets?: (() => readonly string[]) | undefined
  /** The event subscription, as traces and metrics name it. */
  readonly source: DeliverySource
  /** Called for each delivery that names our event subscription and carries no known credential. */
  readonly onForeignDelivery?: (() => void) | undefined
  /** Called for each notice of Event Grid that the event subscription was deleted. The notice has proven its sender. */
  readonly onSubscriptionDeleted?: (() => void) | undefined
  readonly clock: SteadyClock
  /** More than half of the connections are taken. */
  readonly isCrowded: () => boolean
  /** Whether handlers run, and every handler runs longer than its time limit. */
  readonly allHang: () => boolean
}

/** A delivery that was refused or put off. */
export interface LastRefused {
  /** A clause. */
  readonly why: string
  readonly status: number
  /** Epoch milliseconds. */
  readonly lastAt: number
}

export type Answers = ReturnType<typeof createAnswers>

export function createAnswers(options: AnswersOptions) {
  const { log, secrets, source, onForeignDelivery, onSubscriptionDeleted, clock, isCrowded, allHang } = options
  const deliveries: Counts = new Map()
  const strangers: Counts = new Map()
  const ownName = source.eventSubscriptionName.toLowerCase()
  /** Deliveries that `fail` has counted. All deliveries here would cost the garbage collector 7 % of the time of each. */
  const failed = new WeakSet<FastifyReply>()
  const recent = createRecentCounts(clock)
  const crowded = createRecentCounts(clock)
  let foreignAt: number | undefined
  let acceptedAt: number | undefined
  let lastRefused: LastRefused | undefined

  /**
   * Answers 500 because the code failed, ours or a hook of the host.
   *
   * @param isProven the gate had let the delivery in
   */
  function fail(reply: FastifyReply, error: unknown, isProven: boolean): void {
    if (reply.sent) return
    const reason = cut(scrub(errorInWords(error), secrets?.()), 300)
    log.error('a request failed in the listener', { error: reason }, reason)
    const answer = problemAnswer(500, 'The request failed.', { connection: 'close' })
    if (isDelivery(reply.request)) {
      const isStranger = !isProven && !namesOurs(reply.request.headers, ownName)
      if (!isStranger) {
        countRefused(source, answer.status)
        lastRefused = { why: `the listener failed (${reason})`, status: answer.status, lastAt: clock.now() }
        recent.add(true)
      }
      // The answer to a sender that has gone may be counted already.
      if (!hasEnded(reply)) {
        failed.add(reply)
        count(isStranger ? strangers : deliveries, answer.status)
      }
    }
    sendPastHooks(reply, answer)
  }

  /** Sends an answer. Never throws: in a timer an error would end the process. @param closes the connection, after the answer */
  function send(reply: FastifyReply, answer: Answer, closes: boolean, counts?: Counts): void {
    try {
      sendAnswer(reply, answer, closes)
    } catch (error) {
      // The host has broken the reply.
      fail(reply, error, counts === deliveries)
    }
  }

  /** Answers a POST, and counts it when its status is final: hooks of the host may delay the answer, change its status, or fail. */
  function answerPost(
    reply: FastifyReply,
    answer: Answer,
    counts: Counts,
    closes: boolean,
    onKnown?: (isTaken: boolean) => void,
  ): void {
    const { raw } = reply
    const isConnected = !hasEnded(reply)
    const end = (isSent: boolean) => {
      if (!failed.has(reply)) count(counts, raw.statusCode)
      onKnown?.(raw.statusCode === 200 && isSent)
    }
    // A hook of the host may have answered: then its status counts.
    if (!reply.sent) send(reply, answer, closes, counts)
    // Until the answer to an earlier request of the same connection is sent, this answer waits, and its sender may go.
    const isWaiting = raw.socket === null && !raw.writableFinished
    if (!isConnected || (raw.writableEnded && !isWaiting)) end(isConnected)
    else whenEnded(reply, () => end(raw.writableFinished))
  }

  /** Answers a request whose events no handler gets. */
  function refuse(reply: FastifyReply, refusal: GateRefusal): void {
    const { request } = reply
    const { answer, logEvent, unproven = false, mayBeOurs = false, fault } = refusal
    if (logEvent) writeLine(log, logEvent, { status: answer.status, headers: request.headers, fault })
    if (logEvent === 'foreign' || logEvent === 'foreignUnmanaged') {
      foreignAt = clock.now()
      onForeignDelivery?.()
    }
    if (logEvent === 'subscriptionDeleted') onSubscriptionDeleted?.()
    // Strangers must not be able to hold all connections for ever: they have to open the connection again.
    const closes = unproven && isCrowded()
    if (isDelivery(request)) {
      if (answer.status >= 400) countRefused(source, answer.status)
      const isStranger = unproven && !mayBeOurs && !namesOurs(request.headers, ownName)
      if (!isStranger) {
        recent.add(isReasonOfOurs(refusal, allHang))
        const why = whyRefused(refusal)
        if (why !== undefined) lastRefused = { why, status: answer.status, lastAt: clock.now() }
      }
      answerPost(reply, answer, isStranger ? strangers : deliveries, closes)
    } else send(reply, answer, closes)
  }

  return {
    refuse,
    /** Answers a delivery by the outcomes of its events. @param onKnown called when it is known whether the sender has got a 200 */
    acknowledge(reply: FastifyReply, outcomes: readonly EventOutcome[], onKnown: (isTaken: boolean) => void): void {
      const { status, detail } = decideAcknowledgement(outcomes)
      const isPutOff = outcomes.includes('notTried')
      if (status !== 200) countUnhandled(source, outcomes)
      lastRefused = undefined
      acceptedAt = clock.now()
      recent.add(false)
      crowded.add(isPutOff)
      // The dispatcher has told of a time-out.
      if (isPutOff) log.warn(`put off a delivery: ${detail}`)
      answerPost(reply, status === 200 ? acknowledgement : problemAnswer(status, detail), deliveries, false, onKnown)
    },
    fail,
    /** Figures of the answers. */
    figures: () => ({
      /** Number of deliveries by the status of the answer. All POSTs are deliveries, but validation requests and the POSTs of strangers. */
      answered: Object.fromEntries(deliveries),
      /** Number of POSTs that neither carry a credential of ours nor name our event subscription, by the status of the answer. */
      strangers: Object.fromEntries(strangers),
      /** When the last delivery came that seemed ours and carried no known credential, in epoch milliseconds. */
      foreignAt,
      /** When the last delivery was handed to the dispatcher, in epoch milliseconds. */
      acceptedAt,
      /** The deliveries of the last two minutes, strangers left out. Bad ones were refused or put off for a reason of ours. */
      recent: recent.current(),
      /** The deliveries of the last two minutes that the dispatcher had. Bad ones found no free handler call in time. */
      crowded: crowded.current(),
      /**
       * The last refused delivery; `undefined` once a later delivery was handed to the dispatcher. Deliveries of strangers, and deliveries
       * that `foreignAt` tells of, do not count.
       */
      lastRefused,
    }),
  }
}

/** Why a delivery was refused, as a clause; `undefined` where health has another reason for the refusal, and where nothing was refused. */
function whyRefused({ answer, logEvent, fault }: GateRefusal): string | undefined {
  if (logEvent === undefined || hasOwnReason.has(logEvent) || answer.status < 400) return undefined
  return fault ? `${logEvents[logEvent]}: ${fault.reason}` : logEvents[logEvent]
}

/** Refusals for which health has a reason of its own. */
const hasOwnReason: ReadonlySet<LogEvent> = new Set(['noHandler', 'foreign', 'foreignUnmanaged'])

/**
 * Does the refusal come from the configuration or the application here? Not from the body, and not because too much comes at once. Where
 * all handlers hang, they hold the room, and not what comes.
 */
const isReasonOfOurs = ({ answer, logEvent }: GateRefusal, allHang: () => boolean): boolean =>
  answer.status > 400 && (logEvent !== 'noRoom' || allHang())

/** Numbers by the status of the answer. */
type Counts = Map<number, number>

function count(counts: Counts, status: number): void {
  counts.set(status, (counts.get(status) ?? 0) + 1)
}

/** The answer to a whole body. */
export interface Acknowledgement {
  readonly status: 200 | 400 | 500 | 503
  /** One sentence for the body of an error; empty with 200. */
  readonly detail: string
}

/**
 * One answer for all events of a body, because Event Grid knows no partial success. 400 makes Event Grid give up all of them, so it is the
 * answer only when a redelivery could resolve none.
 */
export function decideAcknowledgement(outcomes: readonly EventOutcome[]): Acknowledgement {
  let worst = answerTo.resolved
  for (const outcome of outcomes) if (answerTo[outcome].weight > worst.weight) worst = answerTo[outcome]
  return worst
}

/** The answer to one event. Of several, that with the greatest `weight` is the answer to all. */
const answerTo: Readonly<Record<EventOutcome, Acknowledgement & { readonly weight: number }>> = {
  resolved: { weight: 0, status: 200, detail: '' },
  rejected: { weight: 1, status: 400, detail: 'The application rejected the event.' },
  invalid: { weight: 2, status: 400, detail: 'The body holds something that is not an event.' },
  threw: { weight: 3, status: 500, detail: 'The application failed to handle the event.' },
  timedOut: { weight: 4, status: 503, detail: 'The application did not handle the event in time.' },
  notTried: { weight: 5, status: 503, detail: 'The event was not handled: no room, no time or no application.' },
}

const acknowledgement: Answer = { status: 200, headers: {} }

/** Counts the events of a body that never reached the handler. */
function countUnhandled(source: DeliverySource, outcomes: readonly EventOutcome[]): void {
  for (const outcome of outcomes) {
    if (outcome === 'invalid') countRefused(source, 400)
    else if (outcome === 'notTried') countRefused(source, 503)
  }
}
