/** An event as it is sent: its JSON, its size, and the trace context that it brings or takes. */
import { BindingError } from '../core/errors.ts'
import { readTraceContext, type TraceContext } from '../core/telemetry.ts'
import type { EventSchema } from '../metadata/typed/metadata.ts'
import type { UnknownRecord } from '../support/text/json-text.ts'

export interface WireEvent extends EventTrace {
  readonly id: string
  /**
   * The event as JSON, with exactly the given attributes and those of the trace. An event that was given as text is that text.
   */
  readonly json: string
}

/** An event and its text; a new one without its data. */
export interface WholeEvent {
  readonly event: UnknownRecord
  readonly json: string
}

/** @throws BindingError PAYLOAD_TOO_LARGE, which names the event */
export function wireEvents(
  schema: EventSchema,
  events: readonly WholeEvent[],
  { trace, maxEventBytes }: { readonly trace: TraceContext | undefined; readonly maxEventBytes: number },
): readonly WireEvent[] {
  const wireEvent = ({ event, json }: WholeEvent, index: number): WireEvent => {
    const id = String(event.id)
    const bytes = Buffer.byteLength(json)
    if (bytes > maxEventBytes) {
      throw new BindingError('PAYLOAD_TOO_LARGE', {
        what: `event ${index + 1} of ${events.length} takes ${bytes} bytes of JSON, and Event Grid takes ${maxEventBytes}`,
        fix: 'store the data elsewhere and publish where it is',
        details: { ids: [id], bytes },
      })
    }
    return { id, ...traceOfEvent({ json, bytes }, { schema, event, given: trace, maxEventBytes }) }
  }
  return events.map(wireEvent)
}

/** An event as JSON, and what belongs to its trace. */
export interface EventTrace {
  readonly json: string
  readonly bytes: number
  /** The trace context in which it was made: its own, else that of the invoke metadata. */
  readonly origin?: TraceContext
  readonly takesTrace: boolean
}

type EventText = Pick<EventTrace, 'json' | 'bytes'>

/**
 * The trace of an event (pure). A CloudEvent without one takes that of the invoke metadata; one that it has is never
 * changed. The Event Grid schema has no place for it.
 *
 * @param options.given the trace context of the invoke metadata
 */
export function traceOfEvent(
  text: EventText,
  options: { schema: EventSchema; event: UnknownRecord; given: TraceContext | undefined; maxEventBytes: number },
): EventTrace {
  const { schema, event, given, maxEventBytes } = options
  if (schema === 'EventGridSchema') return { ...text, ...(given && { origin: given }), takesTrace: false }
  const own = readTraceContext(event)
  if (own) return { ...text, origin: own, takesTrace: false }
  const isTaken = Object.hasOwn(event, 'traceparent') || Object.hasOwn(event, 'tracestate')
  if (isTaken || !given) return { ...text, takesTrace: !isTaken }
  return { ...withTraceContext(text, given, maxEventBytes), origin: given, takesTrace: false }
}

/**
 * Adds the two attributes at the end of an event's JSON and leaves the rest as it is. An event that would become too large
 * stays without.
 */
export function withTraceContext<Event extends EventText>(event: Event, added: TraceContext, maxBytes: number): Event {
  const attributes = `,${JSON.stringify(added).slice(1)}`
  const bytes = event.bytes + Buffer.byteLength(attributes) - 1
  if (bytes > maxBytes) return event
  const end = event.json.lastIndexOf('}')
  return { ...event, json: `${event.json.slice(0, end)}${attributes}${event.json.slice(end + 1)}`, bytes }
}

/** The trace context of invoke metadata; names match without regard to case. */
export function traceOfMetadata(metadata: Readonly<Record<string, unknown>>): TraceContext | undefined {
  const found: Record<string, unknown> = {}
  for (const [given, value] of Object.entries(metadata)) {
    const name = given.toLowerCase()
    if (name === 'traceparent' || name === 'tracestate') found[name] = value
  }
  return readTraceContext(found)
}
