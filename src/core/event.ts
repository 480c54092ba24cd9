/** What a handler gets of a delivered event, and how it refuses one for good (`RejectEvent`). */

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
  /** Binary data as it was sent; `data` holds the same, decoded. */
  readonly data_base64?: string
  /**
   * Absent where the event has none, so `undefined`. Of an event in `data_base64` it is the decoded data: the parsed value where
   * `datacontenttype` is JSON, else a Buffer.
   */
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
  /**
   * The delivery attributes that the event subscription declares, by lower-case name; `metadata` has those that came. Absent where they
   * are not known: with `provisioning: none`, with pull delivery, and until the event subscription was read for the first time.
   */
  readonly attributes?: readonly string[]
  /** Aborts when `handlerTimeout` is over. However the handler ends after that, the event is not handled: it is delivered again. */
  readonly signal: AbortSignal
}

/**
 * Resolves when the event is handled, which acknowledges it. Throws to have it redelivered, {@link RejectEvent} to have it dead-lettered.
 * The result itself and, of an array, its first 10,000 members are looked at, nothing deeper. The event is redelivered where one of them
 * is a `Response` whose `ok` is false, an `Error`, a promise that is not awaited, a rejected promise of `Promise.allSettled`, or work
 * that never ran: a function, a generator, an async iterable, an observable. Any other result is fine.
 */
export type EventHandler<Data = unknown> = {
  // A method's parameter is compared both ways: a handler of one type of data fits where any handler is taken.
  handle(event: ReceivedEvent<Data>): unknown
}['handle']

/**
 * Gets the very error of each failed handler call, a {@link RejectEvent} too, and the event as it was delivered: for an error tracker, say.
 * Where the result of the handler counts as a failure, the error is a TypeError, with the returned error as its `cause`; where the handler
 * resolved after its `signal` had aborted, the reason of `signal`. Called when the call has ended. What this function throws or
 * rejects with is dropped.
 */
export type ErrorHandler = {
  handle(error: unknown, event: ReceivedEvent): unknown
}['handle']

/** A media type of JSON by its subtype (CloudEvents JSON format 1.0, 3.1), with or without parameters. */
const isJson = (contentType: unknown) =>
  typeof contentType === 'string' && /^[^/;]+\/([^;]*\+)?json\s*(;|$)/i.test(contentType)

/**
 * The data of an event in `data_base64`: the parsed value where `datacontenttype` is JSON, else the bytes, also where these are no JSON in
 * UTF-8. `undefined` where the event has no `data_base64`.
 */
export function decodedData({ data_base64: base64, datacontenttype }: Readonly<Record<string, unknown>>): unknown {
  if (typeof base64 !== 'string') return undefined
  const bytes = Buffer.from(base64, 'base64')
  if (!isJson(datacontenttype)) return bytes
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return bytes
  }
}

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
