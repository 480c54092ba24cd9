import type { FastifyReply } from 'fastify'
import type { LogFields, Logger } from '../core/logger.ts'
import { countRefused, type DeliverySource } from '../core/processing.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { oneLine } from '../support/text.ts'
import { decideAcknowledgement } from './acknowledgement.ts'
import { type Answer, problemAnswer } from './answer.ts'
import { eventMetadata } from './event-metadata.ts'
import { tooLarge } from './gate.ts'
import { answerValidation } from './handshake.ts'
import { type LogEvent, logEvents } from './log-events.ts'
import type { Delivery, EventOutcome } from './open-delivery.ts'
import { otherSender } from './other-sender.ts'
import type { BodyResult } from './read-body.ts'
import { readDelivery } from './read-delivery.ts'
import { type Admitted, isDelivery, type RoutesOptions, send, sendPastHooks } from './routes.ts'

export interface RepliesOptions {
  readonly input: InputMetadata
  readonly logger: Logger
  readonly log: QuietLog
  /** As traces and metrics name it. */
  readonly source: DeliverySource
  readonly onForeignDelivery?: () => void
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly dispatch: (delivery: Delivery) => void
}

/** Figures of the answers. */
export interface ReplyFigures {
  /** Number of deliveries by the status of the answer. */
  readonly answered: Readonly<Record<string, number>>
  /** Deliveries that seem ours and carry no known credential; `lastAt` in epoch milliseconds. */
  readonly foreign: { readonly count: number; readonly lastAt: number } | undefined
}

/** Answers each request once: by the decision of the gate, from a validation request, or with the outcome of a delivery. */
export interface Replies extends Pick<RoutesOptions, 'onAnswer' | 'onBody' | 'onError'> {
  figures(): ReplyFigures
}

type OnKnown = Parameters<Delivery['settle']>[1]

const acknowledged: Answer = { status: 200, headers: {} }

export function createReplies(options: RepliesOptions): Replies {
  const { input, logger, source, log, now, dispatch } = options
  const answered = new Map<number, number>()
  /** Deliveries that `onError` has counted. */
  const failed = new WeakSet<FastifyReply>()
  let foreign: ReplyFigures['foreign']

  function write(reply: FastifyReply, answer: Answer, rest?: 'unread'): void {
    if (isDelivery(reply.request)) answerDelivery(reply, answer, rest)
    else send(reply, answer, rest)
  }

  /** Counts a delivery when its status is final: hooks of the host may delay the answer, change its status, or fail. */
  function answerDelivery(reply: FastifyReply, answer: Answer, rest?: 'unread', onKnown?: OnKnown): void {
    const { raw } = reply
    const isConnected = !raw.destroyed
    send(reply, answer, rest)
    if (raw.writableEnded || !isConnected) end(reply, isConnected, onKnown)
    else raw.once('close', () => end(reply, raw.writableFinished, onKnown))
  }

  function end(reply: FastifyReply, isSent: boolean, onKnown?: OnKnown): void {
    const { statusCode } = reply.raw
    if (!failed.has(reply)) count(statusCode)
    onKnown?.(statusCode === 200 && isSent)
  }

  function count(status: number): void {
    answered.set(status, (answered.get(status) ?? 0) + 1)
  }

  /** Answers a request whose events no handler gets. */
  function turnAway(reply: FastifyReply, answer: Answer, rest?: 'unread'): void {
    if (isDelivery(reply.request)) countRefused(source, answer.status)
    write(reply, answer, rest)
  }

  function report(logEvent: LogEvent, fields: LogFields, about?: string): void {
    const { level, message } = logEvents[logEvent]
    log[level](message, fields, about)
    if (logEvent !== 'foreign') return
    foreign = { count: (foreign?.count ?? 0) + 1, lastAt: now() }
    options.onForeignDelivery?.()
  }

  function refuse(reply: FastifyReply, answer: Answer, logEvent: LogEvent): void {
    const { 'webhook-request-origin': origin, 'aeg-subscription-name': name } = reply.request.headers
    const sender = logEvent === 'otherSender' ? otherSender(String(name), input.scope) : undefined
    const asked = logEvent === 'otherOrigin' && typeof origin === 'string' && { origin: oneLine(origin, 120) }
    report(logEvent, { status: answer.status, ...asked, ...sender }, sender?.eventSubscription)
    turnAway(reply, answer, 'unread')
  }

  function deliver(reply: FastifyReply, body: Buffer, arrivedAt: number): void {
    const reading = readDelivery(body)
    if ('problem' in reading) {
      log.warn('could not read a delivery', { reason: reading.problem })
      turnAway(reply, problemAnswer(400, reading.problem))
      return
    }
    const { headers } = reply.request
    dispatch({
      members: reading.members,
      metadata: eventMetadata(headers),
      bytes: body.length,
      arrivedAt,
      redelivered: Number.parseInt(String(headers['aeg-delivery-count']), 10) > 0,
      settle(outcomes, onKnown) {
        const { status, detail } = decideAcknowledgement(outcomes)
        if (status === 503) log.warn(`put off a delivery: ${detail}`)
        if (status !== 200) countUnhandled(source, outcomes)
        const answer = status === 200 ? acknowledged : problemAnswer(status, detail)
        answerDelivery(reply, answer, undefined, onKnown)
      },
    })
  }

  return {
    onAnswer(reply, { answer, logEvent }) {
      if (logEvent) refuse(reply, answer, logEvent)
      else turnAway(reply, answer, 'unread')
    },
    onBody(reply: FastifyReply, { as, limit, arrivedAt }: Admitted, body: BodyResult) {
      if (body === 'tooLarge') return refuse(reply, tooLarge(limit), 'unreadable')
      if (body === 'noRoom') {
        return refuse(reply, problemAnswer(503, 'Too many bodies are arriving at once.'), 'noRoom')
      }
      if (as === 'delivery') return deliver(reply, body, arrivedAt)
      const answer = answerValidation(body)
      if (answer.status === 400) refuse(reply, answer, 'unreadable')
      else write(reply, answer)
    },
    onError(reply, error) {
      if (reply.sent) return
      logger.error('a request failed in the listener', { error: error instanceof Error ? error.name : typeof error })
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
    figures: () => ({ answered: Object.fromEntries(answered), foreign }),
  }
}

/** Counts the events of a body that never reached the handler. */
function countUnhandled(source: DeliverySource, outcomes: readonly EventOutcome[]): void {
  for (const outcome of outcomes) {
    if (outcome === 'invalid') countRefused(source, 400)
    else if (outcome === 'notTried') countRefused(source, 503)
  }
}
