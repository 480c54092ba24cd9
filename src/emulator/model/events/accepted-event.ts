// An event after its check: id, type, subject, data version in each schema.

import type { InputSchema } from '../resources/model.ts'
import type { JsonObject } from './json-object.ts'

/** A complete event in the Event Grid schema. */
export interface EventGridEvent {
  readonly id: string
  readonly topic: string
  readonly subject: string
  readonly eventType: string
  readonly eventTime: string
  readonly dataVersion: string
  readonly metadataVersion: string
  readonly data?: unknown
}

/** An event that was published, checked and stamped. */
export type AcceptedEvent =
  | { readonly schema: 'CloudEventSchemaV1_0'; readonly body: JsonObject }
  | { readonly schema: 'EventGridSchema'; readonly body: JsonObject & EventGridEvent }
  | {
      readonly schema: 'CustomEventSchema'
      /** As it was published. */
      readonly body: JsonObject
      /** The Event Grid event that the topic's mapping makes of it; its data is the whole body. */
      readonly mapped: EventGridEvent
    }

/** Accepted events, and the resources at which they occurred, the nearest first: the event subscriptions of all these get them. */
export interface SourcedEvents {
  readonly sources: readonly [string, ...string[]]
  readonly events: readonly AcceptedEvent[]
}

export const schemaNames: Readonly<Record<InputSchema, string>> = {
  EventGridSchema: 'EventGridEvent',
  CloudEventSchemaV1_0: 'CloudEventV10',
  CustomEventSchema: 'CustomEvent',
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')
/** The event, or the Event Grid event that a topic's mapping makes of it. */
const mappedEvent = (event: AcceptedEvent) => (event.schema === 'CustomEventSchema' ? event.mapped : event.body)

export const eventId = (event: AcceptedEvent): string => text(mappedEvent(event).id)

/** The type that `includedEventTypes` is compared with. */
export function eventType(event: AcceptedEvent): string {
  return text(event.schema === 'CloudEventSchemaV1_0' ? event.body.type : mappedEvent(event).eventType)
}

/** The subject for filters; empty for a CloudEvent without one. */
export const eventSubject = (event: AcceptedEvent): string => text(mappedEvent(event).subject)

/** The `aeg-data-version` of its delivery; empty for CloudEvents. */
export function eventDataVersion(event: AcceptedEvent): string {
  return event.schema === 'CloudEventSchemaV1_0' ? '' : text(mappedEvent(event).dataVersion)
}
