// The answer to each request: log line (120 characters of an origin), counts by status, validation, delivery results.
import type { FastifyReply } from 'fastify'
import type { Logger } from '../core/logger.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { type Dispatcher, dispatch } from '../dispatch/dispatch.ts'
import type { Delivery, EventOutcome } from '../dispatch/open-delivery.ts'
import { countRefused, type DeliverySource } from '../dispatch/processing.ts'
import { readDelivery } from '../dispatch/read-delivery.ts'
import type { InputMetadata } from '../metadata/typed/metadata.ts'
import { oneLine } from '../support/text/text.ts'
import { decideAcknowledgement } from './acknowledgement.ts'
import { type Admitted, type GateDecision, isDelivery, tooLarge } from './admit/gate.ts'
import { answerValidation, maxValidationBytes } from './admit/handshake.ts'
import { eventMetadata } from './event-metadata.ts'
import { type Answer, problemAnswer, sendAnswer, sendPastHooks } from './http/answer.ts'
import { bytesOf, noRoom, overLimit } from './http/read-body.ts'
import { addToTurn, createTurn, type Turn } from './http/turn.ts'
import { type LogEvent, logEvents, otherSender } from './log-events.ts'

export interface RepliesOptions {
  readonly input: InputMetadata
  readonly logger: Logger
  readonly log: QuietLog
  /** As traces and metrics name it. */
  readonly source: DeliverySource
  /** Called for each delivery that names our event subscription and carries no known credential. */
  readonly onForeignDelivery?: (() => void) | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly dispatcher: Dispatcher
}

/** Figures of the answers. */
export interface ReplyFigures {
  /** Number of deliveries, which are all POSTs but validation requests, by the status of the answer. */
  readonly answered: Readonly<Record<string, number>>
  /** Deliveries that seem ours and carry no known credential; `lastAt` in epoch milliseconds. */
  readonly foreign: { readonly count: number; readonly lastAt: number } | undefined
}

/** Answers each request once: by the decision of the gate, from a validation request, or with the outcome of a delivery. */
export interface Replies extends RepliesOptions {
  /** Deliveries that were read to their end in this turn of the event loop. */
  readonly turn: Turn<ArrivedDelivery>
  /** Deliveries answered 200. */
  acknowledged: number
  /** Number of the other deliveries, by the status of the answer. */
  readonly refused: Map<number, number>
  foreign: ReplyFigures['foreign']
}

export function createReplies(options: RepliesOptions): Replies {
  const replies: Replies = {
    ...options,
    // An async handler gives its slot back when the turn is over, so no more deliveries wait than there are slots.
    turn: createTurn({ work: (arrived) => tryDeliver(replies, arrived), maxItems: options.input.maxConcurrency }),
    acknowledged: 0,
    refused: new Map(),
    foreign: undefined,
  }
  return replies
}

export function figuresOf({ acknowledged, refused, foreign }: Replies): ReplyFigures {
  return { answered: { ...(acknowledged > 0 && { 200: acknowledged }), ...Object.fromEntries(refused) }, foreign }
}

/** Answers with a decision of the gate. */
export function answerHead(replies: Replies, reply: FastifyReply, decision: GateDecision & { kind: 'answer' }): void {
  if (decision.logEvent) refuse(replies, reply, decision.answer, decision.logEvent)
  else turnAway(replies, reply, decision.answer, 'unread')
}

/** Answers a request whose body was read. A hook of the host may have replaced the body. */
export function answerBody(
  replies: Replies,
  { body }: { readonly body: unknown },
  reply: FastifyReply,
  { as, arrivedAt }: Admitted,
): void {
  const bytes = bytesOf(body)
  if (bytes !== undefined) {
    if (as === 'delivery') addToTurn(replies.turn, { reply, body: bytes, arrivedAt }, bytes.length)
    else answerHandshake(replies, reply, bytes)
  } else if (body === overLimit) {
    const limit = as === 'delivery' ? replies.input.maxRequestBytes : maxValidationBytes
    refuse(replies, reply, tooLarge(limit), 'unreadable')
  } else if (body === noRoom) {
    refuse(replies, reply, problemAnswer(503, 'Too many bodies are arriving at once.'), 'noRoom')
  } else refuse(replies, reply, problemAnswer(500, 'The request failed.'), 'replaced')
}

function answerHandshake(replies: Replies, reply: FastifyReply, body: Buffer): void {
  const answer = answerValidation(body)
  if (answer.status === 400) refuse(replies, reply, answer, 'unreadable')
  else sendAnswer(reply, answer)
}

/** The code failed, ours or a hook of the host. */
export function answerError(replies: Replies, reply: FastifyReply, error: unknown): void {
  if (reply.sent) return
  const reason = error instanceof Error ? error.name : typeof error
  replies.logger.error('a request failed in the listener', { error: reason })
  const answer = problemAnswer(500, 'The request failed.', { connection: 'close' })
  if (isDelivery(reply.request)) {
    countRefused(replies.source, answer.status)
    // The answer to a sender that has gone may be counted already.
    if (!reply.raw.destroyed) {
      failed.add(reply)
      count(replies, answer.status)
    }
  }
  sendPastHooks(reply, answer)
}

/** A delivery with its whole body. */
interface ArrivedDelivery {
  readonly reply: FastifyReply
  readonly body: Buffer
  readonly arrivedAt: number
}

function tryDeliver(replies: Replies, arrived: ArrivedDelivery): void {
  try {
    deliver(replies, arrived)
  } catch (error) {
    fail(arrived.reply, error)
  }
}

/**
 * Answers 500 through Fastify, with the host's hooks for errors. Never throws: it runs outside of Fastify's handler, where an error would
 * end the process.
 */
function fail(reply: FastifyReply, error: unknown): void {
  try {
    void reply.send(error instanceof Error ? error : new Error('a delivery failed', { cause: error }))
  } catch {
    // The host has broken `send` itself. Event Grid delivers again when the connection closes without an answer.
    reply.raw.destroy()
  }
}

const acknowledgement: Answer = { status: 200, headers: {} }

function deliver(replies: Replies, { reply, body, arrivedAt }: ArrivedDelivery): void {
  const { headers } = reply.request
  const reading = readDelivery(body)
  if ('problem' in reading) {
    replies.log.warn('could not read a delivery', { reason: reading.problem })
    turnAway(replies, reply, problemAnswer(400, reading.problem))
    return
  }
  dispatch(replies.dispatcher, {
    members: reading.members,
    metadata: eventMetadata(headers),
    bytes: body.length,
    arrivedAt,
    redelivered: Number.parseInt(String(headers['aeg-delivery-count']), 10) > 0,
    settle(outcomes, onKnown) {
      const { status, detail } = decideAcknowledgement(outcomes)
      if (status === 503) replies.log.warn(`put off a delivery: ${detail}`)
      if (status !== 200) countUnhandled(replies.source, outcomes)
      try {
        answerDelivery(replies, reply, status === 200 ? acknowledgement : problemAnswer(status, detail), { onKnown })
      } catch (error) {
        // A hook of the host may have replaced a method of the reply. The slot of the delivery must be given back all the same.
        fail(reply, error)
        onKnown(false)
      }
    },
  })
}

function refuse(replies: Replies, reply: FastifyReply, answer: Answer, logEvent: LogEvent): void {
  const { headers } = reply.request
  const { 'webhook-request-origin': origin, 'aeg-subscription-name': name } = headers
  const sender = logEvent === 'otherSender' ? otherSender(String(name), replies.input.scope) : undefined
  const asked = logEvent === 'otherOrigin' && typeof origin === 'string' && { origin: oneLine(origin, 120) }
  const media = answer.status === 415 && {
    contentType: oneLine(headers['content-type'] ?? '', 120),
    contentEncoding: oneLine(headers['content-encoding'] ?? '', 120),
  }
  const { level, message } = logEvents[logEvent]
  replies.log[level](message, { status: answer.status, ...asked, ...media, ...sender }, sender?.eventSubscription)
  if (logEvent === 'foreign') {
    replies.foreign = { count: (replies.foreign?.count ?? 0) + 1, lastAt: replies.now() }
    replies.onForeignDelivery?.()
  }
  turnAway(replies, reply, answer, 'unread')
}

/** Answers a request whose events no handler gets. */
function turnAway(replies: Replies, reply: FastifyReply, answer: Answer, rest?: 'unread'): void {
  if (isDelivery(reply.request)) {
    countRefused(replies.source, answer.status)
    answerDelivery(replies, reply, answer, { rest })
  } else sendAnswer(reply, answer, rest)
}

interface AnswerOptions {
  readonly rest?: 'unread' | undefined
  readonly onKnown?: Parameters<Delivery['settle']>[1]
}

/** Deliveries that `answerError` has counted. */
const failed = new WeakSet<FastifyReply>()

/** Counts a delivery when its status is final: hooks of the host may delay the answer, change its status, or fail. */
function answerDelivery(replies: Replies, reply: FastifyReply, answer: Answer, { rest, onKnown }: AnswerOptions): void {
  const { raw } = reply
  const isConnected = !raw.destroyed
  // A hook of the host may have answered: then its status counts.
  if (!reply.sent) sendAnswer(reply, answer, rest)
  if (raw.writableEnded || !isConnected) endDelivery(replies, reply, isConnected, onKnown)
  else raw.once('close', () => endDelivery(replies, reply, raw.writableFinished, onKnown))
}

function endDelivery(replies: Replies, reply: FastifyReply, isSent: boolean, onKnown: AnswerOptions['onKnown']): void {
  const { statusCode } = reply.raw
  if (!failed.has(reply)) count(replies, statusCode)
  onKnown?.(statusCode === 200 && isSent)
}

function count(replies: Replies, status: number): void {
  if (status === 200) replies.acknowledged++
  else replies.refused.set(status, (replies.refused.get(status) ?? 0) + 1)
}

/** Counts the events of a body that never reached the handler. */
function countUnhandled(source: DeliverySource, outcomes: readonly EventOutcome[]): void {
  for (const outcome of outcomes) {
    if (outcome === 'invalid') countRefused(source, 400)
    else if (outcome === 'notTried') countRefused(source, 503)
  }
}
