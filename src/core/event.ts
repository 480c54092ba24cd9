/** A CloudEvent as it is handed on: the required attributes, and whatever else it came with. */
export interface CloudEvent {
  readonly specversion: string
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject?: string
  /** As sent: Event Grid gives up to seven fraction digits, so it stays text. */
  readonly time?: string
  readonly datacontenttype?: string
  readonly dataschema?: string
  readonly data?: unknown
  readonly data_base64?: string
  readonly [extension: string]: unknown
}

/**
 * One delivered event, as a handler gets it.
 *
 * `{ ...event }` has all of it but `signal`, which is made when it is asked for: hand on `{ ...event, signal: event.signal }`. It is declared as a class, though none can be
 * made of it, so that TypeScript knows this too; any object of this shape is one.
 */
export declare class ReceivedEvent {
  /**
   * The event's own bytes (JSON): in a batch the exact slice of the body, never serialised anew. The memory under it is shared with the rest of the request, so it can't be
   * transferred to another thread (DataCloneError): post it without, which copies. Change a copy, not these: a redelivery is known by them.
   */
  readonly data: Buffer
  /** `application/cloudevents+json`, or `application/json` for the Event Grid schema. */
  readonly contentType: string
  /** The event parsed; converted where it came in the Event Grid schema. It lives as long as the handler holds the event, and may take up to 30 times the bytes of `data`. */
  readonly cloudEvent: CloudEvent
  /** Lower-case names: `aeg-*`, trace context and the subscription's other delivery attributes; never a credential. */
  readonly metadata: Readonly<Record<string, string>>
  /** Aborts when `handlerTimeout` is over. */
  get signal(): AbortSignal
}

/**
 * Resolves when the event is handled, which acknowledges it. Throws to have it redelivered,
 * {@link RejectEvent} to have it dead-lettered.
 */
export type EventHandler = (event: ReceivedEvent) => unknown

/**
 * Thrown by a handler whose event can never succeed: it is not delivered again, and Event
 * Grid dead-letters or drops it.
 */
export class RejectEvent extends Error {
  override readonly name = 'RejectEvent'
}
