// An event after its check: id, type, subject, data version in each schema.

import { heldBytes } from '../held-bytes.ts'
import type { InputSchema } from '../resources/input-schema.ts'
import type { EventText } from './event-text.ts'

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
