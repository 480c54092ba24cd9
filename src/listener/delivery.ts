import { isUtf8 } from 'node:buffer'
import { markAsUntransferable } from 'node:worker_threads'
import type { CloudEvent } from '../core/event.ts'
import { sliceTopLevel } from '../support/json-text.ts'
import { readEvent } from './cloud-event.ts'

/**
 * One event of a body, read. What it was parsed to is kept until somebody takes it or says that it has to wait: brackets take thirty times
 * their bytes when parsed, and what waits or is handled is bounded by its bytes.
 */
export class DeliveryEvent {
  /** Its own bytes: a view of the body, not a copy. */
  readonly data: Buffer
  readonly contentType: string
  readonly id: string
  #cloudEvent: CloudEvent | undefined

  constructor(data: Buffer, contentType: string, cloudEvent: CloudEvent) {
    this.data = data
    this.contentType = contentType
    this.id = cloudEvent.id
    this.#cloudEvent = cloudEvent
  }

  /** Gives away what the event was parsed to; parses it again where that is gone. Throws if the bytes were changed meanwhile. */
  takeCloudEvent(): CloudEvent {
    const parsed = this.#cloudEvent
    if (parsed === undefined) return this.#parseAgain()
    this.#cloudEvent = undefined
    return parsed
  }

  /** From now on the bytes are all that is kept. */
  forgetCloudEvent(): void {
    this.#cloudEvent = undefined
  }

  #parseAgain(): CloudEvent {
    const reading = readEvent(JSON.parse(this.data.toString()))
    if ('invalid' in reading || reading.cloudEvent.id !== this.id)
      throw new Error('another handler has changed the bytes of the event')
    return reading.cloudEvent
  }
}

/** A member of a body: an event, or the reason why it is none. */
export type DeliveryMember = DeliveryEvent | { readonly invalid: string }

/** What a body holds, or the reason why it holds nothing that a retry could make right. */
export type DeliveryReading = { readonly members: DeliveryMember[] } | { readonly problem: string }

/** Most events of one body: Event Grid's own limit of a batch (`maxEventsPerBatch`). */
const maxEvents = 5_000

/**
 * Reads the body of a POST: one event or an array of them, of either schema, under any JSON type. `__proto__` and `constructor` are
 * names like any other, and of a name that stands twice the last value counts, as everywhere with `JSON.parse`; `data` keeps both.
 *
 * How deep an event nests is its own affair: neither `JSON.parse` nor anything here goes down by recursion, and what Event Grid took is not refused.
 */
export function readDelivery(received: Buffer): DeliveryReading {
  const body = withoutByteOrderMark(received)
  const text = body.toString()
  // What is no UTF-8 was decoded to this character; most texts have none, which is known at once.
  if (text.includes('\ufffd') && !isUtf8(body)) return { problem: 'The body is not UTF-8.' }
  const shape = sliceTopLevel(body, maxEvents)
  if (shape.kind === 'tooMany') return { problem: `The body holds more than ${maxEvents} events.` }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { problem: 'The body is not JSON.' }
  }
  if (shape.kind === 'other') return { problem: 'The body is neither an event nor an array of events.' }
  const values: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed]
  if (values.length === 0) return { problem: 'The body holds no event.' }
  // The events share it with each other and with the head of the request: a handler that gave it to another thread would take their bytes away, and pass the credential on.
  markAsUntransferable(body.buffer)
  return {
    members: shape.slices.map(({ start, end }, index): DeliveryMember => {
      const reading = readEvent(values[index])
      if ('invalid' in reading) return reading
      // A body that is one event and nothing else needs no view of itself.
      const data = end - start === body.length ? body : body.subarray(start, end)
      return new DeliveryEvent(data, reading.contentType, reading.cloudEvent)
    }),
  }
}

function withoutByteOrderMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body
}
