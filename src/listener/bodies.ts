/** What becomes of a body: a delivery is handed to the dispatcher and acknowledged by its outcomes; a validation is answered. */
import type { FastifyReply } from 'fastify'
import type { QuietLog } from '../core/quiet-log.ts'
import type { EventOutcome } from '../dispatch/delivery.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { countRefused, type DeliverySource } from '../dispatch/processing.ts'
import { readDelivery } from '../dispatch/read-delivery.ts'
import type { Place } from '../dispatch/room.ts'
import type { InputMetadata } from '../metadata/typed/metadata.ts'
import { tooLarge } from './admit/decide-request.ts'
import { answerValidation, maxValidationBytes } from './admit/handshake.ts'
import type { Answers } from './answers.ts'
import { eventMetadata } from './event-metadata.ts'
import { type Answer, problemAnswer } from './http/answer.ts'
import { bytesOf, noRoom, overLimit } from './http/request.ts'
import { addToTurn } from './http/turn.ts'

export interface BodiesOptions {
  readonly dispatcher: Dispatcher
  readonly answers: Answers
  readonly log: QuietLog
  /** As traces and metrics name it. */
  readonly source: DeliverySource
  readonly input: Pick<InputMetadata, 'maxRequestBytes' | 'maxConcurrency'>
  /** Lower-case names of the delivery attributes that the event subscription declares; `undefined`: they are not known. */
  readonly declaredAttributes: () => ReadonlySet<string> | undefined
  readonly isReady: () => boolean
}

/** What is known of a request whose body is read. */
export type Admitted = { readonly as: 'validation' } | AdmittedDelivery

export interface AdmittedDelivery {
  readonly as: 'delivery'
  /** Milliseconds of a monotonic clock, when the head was there. */
  readonly arrivedAt: number
  readonly place: Place
  /** The place is released by whoever has the body now. Until then it ends with the request. */
  isHandedOver: boolean
}

/** Takes the bodies that the gate has let in. */
export type Bodies = ReturnType<typeof createBodies>

export function createBodies(options: BodiesOptions) {
  const { dispatcher, answers, log, source, input, declaredAttributes, isReady } = options

  function deliver(reply: FastifyReply, body: Buffer, { arrivedAt, place }: AdmittedDelivery): void {
    try {
      const { headers } = reply.request
      const reading = readDelivery(body)
      if ('problem' in reading) {
        log.warn('could not read a delivery', { reason: reading.problem })
        answers.refuse(reply, { answer: problemAnswer(400, reading.problem) })
        place.release()
        return
      }
      dispatcher.dispatch({
        members: reading.members,
        metadata: eventMetadata(headers, declaredAttributes()),
        place,
        arrivedAt,
        redelivered: Number.parseInt(String(headers['aeg-delivery-count']), 10) > 0,
        settle: (outcomes, onKnown) => acknowledge(reply, outcomes, onKnown),
      })
    } catch (error) {
      place.release()
      fail(reply, error)
    }
  }

  function acknowledge(
    reply: FastifyReply,
    outcomes: readonly EventOutcome[],
    onKnown: (isTaken: boolean) => void,
  ): void {
    const { status, detail } = decideAcknowledgement(outcomes)
    if (status !== 200) countUnhandled(source, outcomes)
    try {
      // The dispatcher has told of a time-out.
      if (outcomes.includes('notTried')) log.warn(`put off a delivery: ${detail}`)
      answers.answerDelivery(reply, status === 200 ? acknowledgement : problemAnswer(status, detail), onKnown)
    } catch (error) {
      // A hook of the host may have replaced a method of the reply. The free call must be given back all the same.
      fail(reply, error)
      onKnown(false)
    }
  }

  return {
    /** Takes the body of a request that the gate has let in. A hook of the host may have replaced it. */
    take(reply: FastifyReply, admitted: Admitted): void {
      const { body } = reply.request
      const isDelivery = admitted.as === 'delivery'
      const bytes = bytesOf(body)
      const refuse = (answer: Answer, logEvent: 'unreadable' | 'noRoom' | 'replaced') =>
        answers.refuse(reply, { answer, logEvent, unproven: !isDelivery })
      if (bytes !== undefined && isDelivery) {
        // A call is given back when the turn is over at the earliest, so no more deliveries wait than there are calls.
        admitted.isHandedOver = true
        addToTurn(() => deliver(reply, bytes, admitted), bytes.length, input.maxConcurrency)
      } else if (bytes !== undefined) {
        const answer = answerValidation(bytes, { isReady: isReady() })
        answers.refuse(reply, { answer, unproven: true, ...(answer.status === 400 && { logEvent: 'unreadable' }) })
      } else if (body === overLimit)
        refuse(tooLarge(isDelivery ? input.maxRequestBytes : maxValidationBytes), 'unreadable')
      else if (body === noRoom) refuse(problemAnswer(503, 'Too many bytes of events are under way.'), 'noRoom')
      else refuse(problemAnswer(500, 'The request failed.'), 'replaced')
    },
  }
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
  let worst = answers.resolved
  for (const outcome of outcomes) if (answers[outcome].weight > worst.weight) worst = answers[outcome]
  return worst
}

/** The answer to one event. Of several, that with the greatest `weight` is the answer to all. */
const answers: Readonly<Record<EventOutcome, Acknowledgement & { readonly weight: number }>> = {
  resolved: { weight: 0, status: 200, detail: '' },
  rejected: { weight: 1, status: 400, detail: 'The application rejected the event.' },
  invalid: { weight: 2, status: 400, detail: 'The body holds something that is not an event.' },
  threw: { weight: 3, status: 500, detail: 'The application failed to handle the event.' },
  timedOut: { weight: 4, status: 503, detail: 'The application did not handle the event in time.' },
  notTried: { weight: 5, status: 503, detail: 'The event was not handled: no room, no time or no application.' },
}

const acknowledgement: Answer = { status: 200, headers: {} }

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

/** Counts the events of a body that never reached the handler. */
function countUnhandled(source: DeliverySource, outcomes: readonly EventOutcome[]): void {
  for (const outcome of outcomes) {
    if (outcome === 'invalid') countRefused(source, 400)
    else if (outcome === 'notTried') countRefused(source, 503)
  }
}
