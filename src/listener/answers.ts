// The answer to each request, sent once: log line (120 characters of an origin or a media type), counts by status, close of a connection.
import type { FastifyReply } from 'fastify'
import type { Logger } from '../core/logger.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { countRefused, type DeliverySource } from '../dispatch/processing.ts'
import type { Scope } from '../metadata/fields/scope.ts'
import { oneLine } from '../support/text/text.ts'
import { type GateRefusal, isDelivery } from './admit/gate.ts'
import { type Answer, problemAnswer, sendAnswer, sendPastHooks } from './http/answer.ts'
import { logEvents, otherSender } from './log-events.ts'

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
  /** Number of deliveries, which are all POSTs but validation requests, by the status of the answer. */
  readonly answered: Readonly<Record<string, number>>
  /** Deliveries that seem ours and carry no known credential; `lastAt` in epoch milliseconds. */
  readonly foreign: { readonly count: number; readonly lastAt: number } | undefined
}

/** Answers each request once, and counts deliveries. */
export type Answers = ReturnType<typeof createAnswers>

export function createAnswers({ scope, logger, log, source, onForeignDelivery, now, isCrowded }: AnswersOptions) {
  /** Number of deliveries by the status of the answer. */
  const counts = new Map<number, number>()
  /** Deliveries that `fail` has counted. */
  const failed = new WeakSet<FastifyReply>()
  let foreign: AnswerFigures['foreign']

  function count(status: number): void {
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }

  function write({ answer: { status }, logEvent }: GateRefusal, { headers }: FastifyReply['request']): void {
    if (!logEvent) return
    const { 'webhook-request-origin': origin, 'aeg-subscription-name': name } = headers
    const sender = logEvent === 'otherSender' ? otherSender(String(name), scope) : undefined
    const asked = logEvent === 'otherOrigin' && typeof origin === 'string' && { origin: oneLine(origin, 120) }
    const media = status === 415 && {
      contentType: oneLine(headers['content-type'] ?? '', 120),
      contentEncoding: oneLine(headers['content-encoding'] ?? '', 120),
    }
    const { level, message } = logEvents[logEvent]
    log[level](message, { status, ...asked, ...media, ...sender }, sender?.eventSubscription)
    if (logEvent !== 'foreign') return
    foreign = { count: (foreign?.count ?? 0) + 1, lastAt: now() }
    onForeignDelivery?.()
  }

  /** Answers a delivery, and counts it when its status is final: hooks of the host may delay the answer, change its status, or fail. */
  function answerDelivery(
    reply: FastifyReply,
    answer: Answer,
    onKnown?: (isTaken: boolean) => void,
    closes = false,
  ): void {
    const { raw } = reply
    const isConnected = !raw.destroyed
    const end = (isSent: boolean) => {
      if (!failed.has(reply)) count(raw.statusCode)
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
    const { answer } = refusal
    write(refusal, request)
    // Strangers must not be able to hold all connections: one that they have to open again is not theirs for ever.
    const closes = refusal.unproven === true && isCrowded()
    if (isDelivery(request)) {
      countRefused(source, answer.status)
      answerDelivery(reply, answer, undefined, closes)
    } else sendAnswer(reply, answer, closes)
  }

  return {
    refuse,
    answerDelivery,
    /** Answers 500 because the code failed, ours or a hook of the host. */
    fail(reply: FastifyReply, error: unknown): void {
      if (reply.sent) return
      const reason = error instanceof Error ? error.name : typeof error
      logger.error('a request failed in the listener', { error: reason })
      const answer = problemAnswer(500, 'The request failed.', { connection: 'close' })
      if (isDelivery(reply.request)) {
        countRefused(source, answer.status)
        // The answer to a sender that has gone may be counted already.
        if (!reply.raw.destroyed) {
          failed.add(reply)
          count(answer.status)
        }
      }
      sendPastHooks(reply, answer)
    },
    figures: (): AnswerFigures => ({ answered: Object.fromEntries(counts), foreign }),
  }
}
