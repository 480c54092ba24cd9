/** What a handler gets of a delivered event, and how it refuses one for good: `RejectEvent`. */

/**
 * A CloudEvent as a handler gets it, with whatever else it came with.
 *
 * @typeParam Data the type of `data`. The binding does not check it: {@link routeEvents} does, with a schema.
 */
export interface CloudEvent<Data = unknown> {
  readonly specversion: string
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject?: string
  /** As sent: Event Grid gives up to seven fraction digits, so it stays text. */
  readonly time?: string
  readonly datacontenttype?: string
  readonly dataschema?: string
  readonly data_base64?: string
  /** Absent where the event has none, so `undefined`. */
  readonly data: Data
  readonly [extension: string]: unknown
}

/**
 * One delivered event, as a handler gets it: a plain object, so that a spread copies all of it.
 *
 * @typeParam Data the type of `cloudEvent.data`
 */
export interface ReceivedEvent<Data = unknown> {
  /** The event parsed; converted where it came in the Event Grid schema. */
  readonly cloudEvent: CloudEvent<Data>
  /**
   * The event's own bytes (JSON): in a batch the exact slice of the body, never serialised anew. A handler may change them. A small Buffer
   * shares memory with others, as always in Node, so it cannot be transferred to another thread: post a copy.
   */
  // Not any Buffer: a browser's types of `fetch` take none that may be shared with another thread.
  readonly data: Buffer<ArrayBuffer>
  /** `application/cloudevents+json`, or `application/json` for the Event Grid schema. */
  readonly contentType: string
  /** Lower-case names: `aeg-*`, trace context and the subscription's other delivery attributes; never a credential. */
  readonly metadata: Readonly<Record<string, string>>
  /** Aborts when `handlerTimeout` is over. However the handler ends after that, the event is not handled: it is delivered again. */
  readonly signal: AbortSignal
}

/**
 * Resolves when the event is handled, which acknowledges it. Throws to have it redelivered, {@link RejectEvent} to have it dead-lettered.
 * The result is looked at, and the event redelivered, where it tells of a failure: a `Response` whose `ok` is false, an `Error`, a settled
 * list (`Promise.allSettled`) with a rejected promise; or of work that nobody waits for: a promise; all of these also within arrays, Maps,
 * Sets and plain objects (the first 10,000 members). So it is for a function, generator, stream, observable, event emitter, subscription,
 * timer, process or thread, or a list of these. Any other result is fine.
 */
export type EventHandler<Data = unknown> = {
  // A method's parameter is compared both ways: a handler of one type of data fits where any handler is taken.
  handle(event: ReceivedEvent<Data>): unknown
}['handle']

/** Known to every copy of this package in the process. */
const rejectMark: unique symbol = Symbol.for('eventgrid-binding.RejectEvent')

/** Thrown by a handler whose event can never succeed: it is not delivered again, and Event Grid dead-letters or drops it. */
export class RejectEvent extends Error {
  override readonly name = 'RejectEvent'

  /** Tells it from other classes of that name, also where another copy of this package has made it. */
  get [rejectMark](): true {
    return true
  }
}

export const isRejectEvent = (error: Error): boolean => rejectMark in error && error[rejectMark] === true
