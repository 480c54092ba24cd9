/** What is said to whom: each request is answered once, and counted. */
import type { FastifyReply } from 'fastify'
import type { Logger, QuietLog } from '../core/logger.ts'
import { createFailureStreak, type FailureStreak } from '../dispatch/failure-streak.ts'
import { countRefused, type DeliverySource } from '../dispatch/handler.ts'
import type { Scope } from '../metadata/fields/scope.ts'
import { nameOf } from '../support/process/error-code.ts'
import { type GateRefusal, isDelivery, namesOurs } from './admission.ts'
import { credentialProblems, faultInWords } from './credential-fault.ts'
import { logEvents, writeLine } from './log-events.ts'
import { type Answer, problemAnswer, sendAnswer, sendPastHooks } from './request.ts'

export interface AnswersOptions {
  readonly scope: Scope
  readonly logger: Logger
  readonly log: QuietLog
  /** As traces and metrics name it. */
  readonly source: DeliverySource
  /** Called for each delivery that names our event subscription and carries no known credential. */
  readonly onForeignDelivery?: (() => void) | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  /** More than half of the connections are taken. */
  readonly isCrowded: () => boolean
}

/** Figures of the answers. */
export interface AnswerFigures {
  /** Number of deliveries, which are all POSTs but validation requests and those of strangers, by the status of the answer. */
  readonly answered: Readonly<Record<string, number>>
  /** Number of POSTs that neither carry a credential of ours nor name our event subscription, by the status of the answer. */
  readonly strangers: Readonly<Record<string, number>>
  /** Deliveries that seem ours and carry no known credential; `lastAt` in epoch milliseconds. */
  readonly foreign: { readonly count: number; readonly lastAt: number } | undefined
  /** Deliveries in a row that the handler failed or did not answer in time. */
  readonly failing: FailureStreak | undefined
  /** Number of deliveries that were not accepted for their credential, by what was wrong; those of strangers left out. */
  readonly unaccepted: Readonly<Record<string, number>>
  /**
   * The last delivery that no handler got, strangers and what `foreign` counts left out; `undefined` once one is handed on. `why` is a
   * clause, `lastAt` in epoch milliseconds.
   */
  readonly lastRefused: { readonly why: string; readonly status: number; readonly lastAt: number } | undefined
}

export type Answers = ReturnType<typeof createAnswers>

export function createAnswers({ scope, logger, log, source, onForeignDelivery, now, isCrowded }: AnswersOptions) {
  const deliveries: Counts = new Map()
  const strangers: Counts = new Map()
  const ownName = source.eventSubscriptionName.toLowerCase()
  /** Deliveries that `fail` has counted. */
  const failed = new WeakSet<FastifyReply>()
  const failing = createFailureStreak(now)
  const unaccepted = new Map(credentialProblems.map((problem) => [problem, 0]))
  let foreign: AnswerFigures['foreign']
  let lastRefused: AnswerFigures['lastRefused']

  /**
   * Answers a POST, and counts it when its status is final: hooks of the host may delay the answer, change its status, or fail.
   *
   * @param closes the connection, after the answer
   */
  function answerPost(
    reply: FastifyReply,
    answer: Answer,
    counts: Counts,
    closes: boolean,
    onKnown?: (isTaken: boolean) => void,
  ): void {
    const { raw } = reply
    const isConnected = !raw.destroyed
    const end = (isSent: boolean) => {
      if (!failed.has(reply)) count(counts, raw.statusCode)
      onKnown?.(raw.statusCode === 200 && isSent)
    }
    // A hook of the host may have answered: then its status counts.
    if (!reply.sent) sendAnswer(reply, answer, closes)
    if (raw.writableEnded || !isConnected) end(isConnected)
    else raw.once('close', () => end(raw.writableFinished))
  }

  /** Answers a request whose events no handler gets. */
  function refuse(reply: FastifyReply, refusal: GateRefusal): void {
    const { request } = reply
    const { answer, logEvent, unproven = false, fault } = refusal
    if (logEvent) writeLine(log, logEvent, { status: answer.status, headers: request.headers, scope, fault })
    if (logEvent === 'foreign') {
      foreign = { count: (foreign?.count ?? 0) + 1, lastAt: now() }
      onForeignDelivery?.()
    }
    // Strangers must not be able to hold all connections: one that they have to open again is not theirs for ever.
    const closes = unproven && isCrowded()
    if (isDelivery(request)) {
      countRefused(source, answer.status)
      // Neither a wrong token with one of our key ids, nor a token for us that cannot be judged, is a stranger's.
      const mayBeOurs = logEvent === 'unavailable' || fault?.problem === 'mismatch'
      const isStranger = unproven && !mayBeOurs && !namesOurs(request.headers, ownName)
      if (fault && !isStranger) count(unaccepted, fault.problem)
      const why = whyRefused(refusal)
      if (why !== undefined && !isStranger) lastRefused = { why, status: answer.status, lastAt: now() }
      answerPost(reply, answer, isStranger ? strangers : deliveries, closes)
    } else sendAnswer(reply, answer, closes)
  }

  return {
    refuse,
    /** @param onKnown called when it is known whether the sender has got a 200 */
    answerDelivery(reply: FastifyReply, answer: Answer, onKnown: (isTaken: boolean) => void): void {
      lastRefused = undefined
      if (answer.status < 500) failing.succeeded()
      else failing.failed()
      answerPost(reply, answer, deliveries, false, onKnown)
    },
    /** Answers 500 because the code failed, ours or a hook of the host. */
    fail(reply: FastifyReply, error: unknown): void {
      if (reply.sent) return
      const reason = nameOf(error)
      logger.error('a request failed in the listener', { error: reason })
      const answer = problemAnswer(500, 'The request failed.', { connection: 'close' })
      if (isDelivery(reply.request)) {
        countRefused(source, answer.status)
        lastRefused = { why: `the listener failed by ${reason}`, status: answer.status, lastAt: now() }
        // The answer to a sender that has gone may be counted already.
        if (!reply.raw.destroyed) {
          failed.add(reply)
          count(deliveries, answer.status)
        }
      }
      sendPastHooks(reply, answer)
    },
    figures: (): AnswerFigures => ({
      answered: Object.fromEntries(deliveries),
      strangers: Object.fromEntries(strangers),
      foreign,
      failing: failing.current(),
      unaccepted: Object.fromEntries(unaccepted),
      lastRefused,
    }),
  }
}

/** Why a delivery was refused, as a clause; `undefined` where health has another reason for it, and where it was not refused. */
function whyRefused({ answer, logEvent, fault }: GateRefusal): string | undefined {
  if (fault) return fault.problem === 'absent' ? undefined : faultInWords(fault)
  if (logEvent === undefined || logEvent === 'noHandler' || answer.status < 400) return undefined
  return logEvents[logEvent]
}

/** Numbers by the status of the answer. */
type Counts = Map<number, number>

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
