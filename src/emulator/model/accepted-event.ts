import type { JsonObject } from './json-object.ts'
import type { InputSchema } from './model.ts'

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

export function eventId(event: AcceptedEvent): string {
  return text(event.schema === 'CustomEventSchema' ? event.mapped.id : event.body.id)
}

/** The type that `includedEventTypes` is compared with. */
export function eventType(event: AcceptedEvent): string {
  if (event.schema === 'CloudEventSchemaV1_0') return text(event.body.type)
  return event.schema === 'CustomEventSchema' ? event.mapped.eventType : event.body.eventType
}

/** The subject for filters; empty for a CloudEvent without one. */
export function eventSubject(event: AcceptedEvent): string {
  return text(event.schema === 'CustomEventSchema' ? event.mapped.subject : event.body.subject)
}

/** The `aeg-data-version` of its delivery; empty for CloudEvents. */
export function eventDataVersion(event: AcceptedEvent): string {
  if (event.schema === 'CloudEventSchemaV1_0') return ''
  return event.schema === 'CustomEventSchema' ? event.mapped.dataVersion : event.body.dataVersion
}
