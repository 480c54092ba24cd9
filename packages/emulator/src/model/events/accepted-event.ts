/** What an accepted event is, in which form each delivery schema has the event, and how its delivery may end. */

import type { IncomingHttpHeaders } from 'node:http'
import { heldBytes } from '../held-bytes.ts'
import type { DeliverySchema, EventSubscription } from '../resources/event-subscription.ts'
import type { InputSchema } from '../resources/resource.ts'
import { type EventText, type JsonObject, renamed, textOf, withMembers } from './event-text.ts'

/** An event that was published, checked and stamped. */
export type AcceptedEvent =
  | { readonly schema: 'CloudEventSchemaV1_0' | 'EventGridSchema'; readonly body: EventText }
  | {
      readonly schema: 'CustomEventSchema'
      /** As it was published. */
      readonly body: EventText
      /** The Event Grid event that the topic's mapping makes of it; its data is the whole body. */
      readonly mapped: EventText
    }

/** Accepted events, and the resources at which they occurred, the nearest first: the event subscriptions of all these get them. */
export interface SourcedEvents {
  readonly sources: readonly [string, ...string[]]
  readonly events: readonly AcceptedEvent[]
}

/** An event that an event subscription does not get. */
export interface Untaken {
  readonly event: AcceptedEvent
  readonly subscription: EventSubscription
  /** Why, for a reader. */
  readonly because: string
  /** Whether the event matches all the same. */
  readonly matches: boolean
}

export const eventSchemaNames: Readonly<Record<InputSchema, string>> = {
  EventGridSchema: 'EventGridEvent',
  CloudEventSchemaV1_0: 'CloudEventV10',
  CustomEventSchema: 'CustomEvent',
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')

/** The event, or the Event Grid event that a topic's mapping makes of it. */
export const mappedEvent = (event: AcceptedEvent): EventText =>
  event.schema === 'CustomEventSchema' ? event.mapped : event.body

const fieldOf = (event: AcceptedEvent, name: string) => text(mappedEvent(event).value[name])

export const eventId = (event: AcceptedEvent): string => fieldOf(event, 'id')

/** The type that `includedEventTypes` is compared with. */
export const eventType = (event: AcceptedEvent): string =>
  fieldOf(event, event.schema === 'CloudEventSchemaV1_0' ? 'type' : 'eventType')

/** The subject for filters; empty for a CloudEvent without one. */
export const eventSubject = (event: AcceptedEvent): string => fieldOf(event, 'subject')

/** The source of a CloudEvent, or the topic of the other schemas. */
export const eventSource = (event: AcceptedEvent): string =>
  fieldOf(event, event.schema === 'CloudEventSchemaV1_0' ? 'source' : 'topic')

/** The `aeg-data-version` of its delivery; empty for CloudEvents. */
export const eventDataVersion = (event: AcceptedEvent): string =>
  event.schema === 'CloudEventSchemaV1_0' ? '' : fieldOf(event, 'dataVersion')

/** The bytes that it holds. */
export const heldByEvent = (event: AcceptedEvent): number =>
  heldBytes(event.body) + (event.schema === 'CustomEventSchema' ? heldBytes(event.mapped) : 0)

const allowed: Readonly<Record<InputSchema, readonly DeliverySchema[]>> = {
  EventGridSchema: ['EventGridSchema', 'CloudEventSchemaV1_0'],
  CloudEventSchemaV1_0: ['CloudEventSchemaV1_0'],
  CustomEventSchema: ['EventGridSchema', 'CloudEventSchemaV1_0', 'CustomInputSchema'],
}

/**
 * Whether a source's events can be delivered in a schema (Event Grid: cloud-event-schema;
 * CloudEvents come out as nothing else).
 */
export function canConvert(from: InputSchema, to: DeliverySchema): boolean {
  return allowed[from].includes(to)
}

/** The event in a delivery schema that it {@link canConvert} to. */
export function deliveredForm(event: AcceptedEvent, schema: DeliverySchema): EventText {
  if (event.schema === 'CloudEventSchemaV1_0' || schema === 'CustomInputSchema') return event.body
  return schema === 'CloudEventSchemaV1_0' ? toCloudEvent(mappedEvent(event)) : mappedEvent(event)
}

/** The same as JSON. */
export const deliveredText = (event: AcceptedEvent, schema: DeliverySchema): string =>
  textOf(deliveredForm(event, schema))

/**
 * `dataVersion` and `metadataVersion` vanish, times stay the text they were (Event Grid:
 * the service's own sample pairs).
 */
function toCloudEvent(event: EventText): EventText {
  return renamed(withMembers(event, { specversion: '1.0' }), {
    id: 'id',
    source: 'topic',
    specversion: 'specversion',
    type: 'eventType',
    subject: 'subject',
    time: 'eventTime',
    data: 'data',
  })
}

/** Reads an event of another source than a custom topic; Azure's services raise both schemas. */
export function asAcceptedEvent(body: EventText): AcceptedEvent | undefined {
  if (body.value.specversion !== undefined) return { schema: 'CloudEventSchemaV1_0', body }
  return isEventGridEvent(body) ? { schema: 'EventGridSchema', body } : undefined
}

/** Whether all fields of the Event Grid schema but the data are there. */
export function isEventGridEvent({ value }: EventText): boolean {
  const fields = ['id', 'topic', 'subject', 'eventType', 'eventTime', 'dataVersion', 'metadataVersion']
  return fields.every((field) => typeof value[field] === 'string')
}

/** The attributes of a CloudEvent in binary mode, with the media type of its data (CloudEvents, HTTP binding 3.1). */
export function binaryAttributes(headers: IncomingHttpHeaders, datacontenttype: string): JsonObject {
  const attributes = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('ce-') && typeof value === 'string' ? [[name.slice('ce-'.length), percentDecoded(value)]] : [],
  )
  return { ...Object.fromEntries(attributes), datacontenttype }
}

/** Header values are percent-encoded where they are not plain ASCII (CloudEvents, HTTP binding 3.1.3.2). */
function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** How a delivery attempt ended, in the words of dead-lettered events (Event Grid: delivery-and-retry). */
export type DeliveryOutcome =
  | 'Delivered'
  | 'NotFound'
  | 'Disabled'
  | 'Full'
  | 'Unauthorized'
  | 'Forbidden'
  | 'BadRequest'
  | 'TimedOut'
  | 'Busy'
  | 'PayloadTooLarge'
  | 'SessionQueueNotSupported'
  | 'SocketError'
  | 'ResolutionError'
  | 'Aborted'
  | 'Probation'

/**
 * Why an event is given up. Event Grid documents the first; the last is on dead letters that a user shows (azure-sdk-for-net 26198). The
 * other two are assumed.
 */
export type GiveUpReason =
  | 'MaxDeliveryAttemptsExceeded'
  | 'TimeToLiveExceeded'
  | 'UndeliverableDueToClientError'
  | 'UndeliverableDueToProbationCausedByClientError'

/** How long a validation is of interest, and when an endpoint that waits for a manual one is asked again. */
export interface Asking {
  /** Aborts when the event subscription is changed or deleted. */
  readonly over: AbortSignal
  /** @default it is asked once */
  readonly again?: AskAgain | undefined
}

export interface AskAgain {
  /** The pause before, in milliseconds, for a reader. */
  readonly pauseMs: number
  /** Resolves when the endpoint is to be asked; with what is to be called when it has answered. */
  next(): Promise<() => void>
}

/** The result of validating the endpoint of an event subscription. */
export type ValidationOutcome =
  | { readonly outcome: 'validated' }
  | {
      readonly outcome: 'awaiting-manual-action'
      readonly validationUrl: string
      /** Resolves when the URL was called, or after its time by the emulator's clock. Never rejects. */
      readonly completed: Promise<'validated' | 'expired'>
    }
  | { readonly outcome: 'failed'; readonly code: 'Url validation'; readonly message: string }
