/**
 * Turns a payload into events: whole events, dead letters among them, are sent unchanged, and data becomes a new event. Finds signs that
 * the caller meant something else.
 */

import { BindingError } from '../core/errors.ts'
import { readTraceContext, type TraceContext } from '../core/telemetry.ts'
import type { EventSchema, OutputMetadata } from '../metadata/typed/metadata.ts'
import { isRecord, memberTexts, sliceTopLevel, type UnknownRecord } from '../support/text/json-text.ts'
import {
  invalidPayload,
  kindOf,
  type NewEventContext,
  newEvent,
  type PayloadDoubt,
  readAttributes,
  readPayload,
  unusedMetadata,
} from './payload.ts'

/** The events of one call: all of one schema, at least one. */
export interface CallEvents {
  readonly schema: EventSchema
  readonly events: readonly WireEvent[]
  /** What the caller may have meant otherwise. */
  readonly doubts: readonly PayloadDoubt[]
}

export interface ToEventsContext extends Omit<NewEventContext, 'schema'> {
  readonly topicSchema: OutputMetadata['topicSchema']
  readonly maxEventBytes: number
}

/** A message names so many faults and counts the rest. */
const shownFaults = 10

/**
 * The events that a `create` publishes (pure; design of the output in docs/publishing.md). A whole event, or
 * an array of them, goes unchanged but for the trace of the invoke metadata; anything else is data of a new event.
 *
 * @throws BindingError PAYLOAD_INVALID naming each attribute, PAYLOAD_TOO_LARGE naming the event
 */
export function toEvents(
  given: unknown,
  metadata: Readonly<Record<string, string>>,
  context: ToEventsContext,
): CallEvents {
  const attributes = readAttributes(metadata)
  const payload = readPayload(given)
  const { topicSchema: wanted, maxEventBytes } = context
  const [traceparent, tracestate] = traceNames.map((name) => attributes.get(name))
  const wire = { trace: readTraceContext({ traceparent, tracestate }), maxEventBytes }
  const whole = payload.kind === 'json' ? recognise(payload.text, payload.value) : undefined
  const unused = unusedMetadata(metadata, { isWhole: whole !== undefined })
  if (!whole) {
    const schema = wanted === 'auto' ? 'CloudEventSchemaV1_0' : wanted
    const events = wireEvents(schema, [newEvent(payload, attributes, { ...context, schema })], wire)
    const doubtful = payload.kind === 'json' ? doubtsOfData(payload.value) : []
    return { schema, events, doubts: [...doubtful, ...unused] }
  }
  const { schema, isArray, events } = whole
  if (wanted !== 'auto' && schema !== wanted) {
    throw invalidPayload(
      `the payload is ${nameOf[schema]}, but topicSchema is ${wanted}`,
      `publish ${nameOf[wanted]}, or set topicSchema to what the topic takes`,
      { field: 'topicSchema' },
    )
  }
  const faults = events.flatMap(({ event }, index) =>
    faultsOfEvent(schema, event).map((fault) => `${isArray ? `[${index}].` : ''}${fault}`),
  )
  if (faults.length > 0) {
    throw invalidPayload(`${nameOf[schema]} is not valid: ${list(faults)}`, 'correct the event', {
      faults: faults.slice(0, 100),
    })
  }
  return { schema, events: wireEvents(schema, events, wire), doubts: unused }
}

const nameOf: Readonly<Record<EventSchema, string>> = {
  CloudEventSchemaV1_0: 'a CloudEvent',
  EventGridSchema: 'an event of the Event Grid schema',
}

/** The schema of an event; `undefined` for a value that is no event. */
export function schemaOf(value: UnknownRecord): EventSchema | undefined {
  if (Object.hasOwn(value, 'specversion')) return 'CloudEventSchemaV1_0'
  return Object.hasOwn(value, 'eventType') ? 'EventGridSchema' : undefined
}

/**
 * The event that a value is, or that a dead letter holds; `undefined` for data. Much data has a member `eventType`, so an Event Grid event
 * has another one of its members.
 */
function eventWithin(value: unknown): FoundEvent | undefined {
  if (!isRecord(value)) return undefined
  const event = openDeadLetter(value)?.event ?? value
  const schema = schemaOf(event)
  const isData = schema === 'EventGridSchema' && !beside.some((name) => Object.hasOwn(event, name))
  return schema === undefined || isData ? undefined : { schema, event, within: value }
}

const beside = ['subject', 'eventTime', 'dataVersion'] as const

interface FoundEvent {
  readonly schema: EventSchema
  readonly event: UnknownRecord
  /** The event itself, or the dead letter that holds it. */
  readonly within: UnknownRecord
}

/** The events in a JSON text; `undefined` where the text is data. */
function recognise(text: string, value: unknown) {
  const isArray = Array.isArray(value)
  const values: readonly unknown[] = isArray ? value : [value]
  if (values.length === 0) throw invalidPayload('the payload is an empty array', 'give at least one event')
  const found = values.map(eventWithin)
  const schema = found[0]?.schema
  if (schema === undefined) return undefined
  const strays = found.flatMap((one, index) =>
    one?.schema === schema
      ? []
      : [`[${index}] is ${one ? nameOf[one.schema] : `${kindOf(values[index])}, not an event`}`],
  )
  if (strays.length > 0) {
    throw invalidPayload(
      `the payload begins with ${nameOf[schema]}, but ${list(strays)}`,
      'an array of events must hold events of one schema only',
    )
  }
  const texts = isArray ? itemTexts(text) : [text]
  const events = found.flatMap((one, index) => (one ? [wholeEvent(one, texts[index] ?? '')] : []))
  return { schema, isArray, events }
}

/** The text of each item of an array, unchanged. */
function itemTexts(text: string): readonly string[] {
  const bytes = Buffer.from(text)
  const found = sliceTopLevel(bytes, Number.POSITIVE_INFINITY)
  return found.kind === 'array' ? found.slices.map(({ start, end }) => bytes.toString('utf8', start, end)) : []
}

/** Without the members that Event Grid adds to a dead letter: Event Grid refuses an event with them. */
function wholeEvent({ event, within }: FoundEvent, json: string): WholeEvent {
  if (event === within) return { event, json }
  const members = memberTexts(json)
  if (event === within.event) return { event, json: members.get('event') ?? json }
  const kept = [...members].filter(([name]) => Object.hasOwn(event, name))
  return { event, json: `{${kept.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}` }
}

/** A dead letter as Azure writes it. */
interface DeadLetter {
  /** The event as it was published. */
  readonly event: UnknownRecord
  /** What Event Grid says of its death, by lower-case name. */
  readonly added: UnknownRecord
}

/** In lower case, as a CloudEvent has them; in the Event Grid schema they are `deadLetterReason` and so on (dead-letter schema). */
const topicFields: ReadonlySet<string> = new Set([
  'deadletterreason',
  'deliveryattempts',
  'lastdeliveryoutcome',
  'publishtime',
  'lastdeliveryattempttime',
  'lasthttpstatuscode',
])

/** The reasons of a namespace topic (dead-letter-event-subscriptions-namespace-topics). */
const namespaceFields: ReadonlySet<string> = new Set([
  'deadletterproperties',
  'brokerproperties',
  'customdeliveryproperties',
])

/** What the name of a member begins with that tells of a death. */
const ofDeadLetter = /^(deadletter|brokerproperties)/i

/**
 * Takes a dead letter apart (pure); `undefined` for any other value. The dead letter of a namespace topic has its event in a member
 * `event`, or beside the added members. An event that an application receives has `brokerProperties` too, but no reason in them.
 */
export function openDeadLetter(value: UnknownRecord): DeadLetter | undefined {
  // Most values are no dead letter: nothing is copied for them.
  if (!Object.keys(value).some((name) => ofDeadLetter.test(name))) return undefined
  const without = (fields: ReadonlySet<string>) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !fields.has(name.toLowerCase())))
  const members = inLowerCase(value)
  if (hasReason(members)) return { event: without(topicFields), added: members }
  const { deadletterproperties, brokerproperties } = members
  const added = [deadletterproperties, brokerproperties].filter(isRecord).map(inLowerCase).find(hasReason)
  if (!added) return undefined
  const around = schemaOf(value) === undefined && isRecord(value.event) ? value.event : undefined
  return { event: around ?? without(namespaceFields), added }
}

const inLowerCase = (value: UnknownRecord): UnknownRecord =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]))

const hasReason = (members: UnknownRecord) => Object.hasOwn(members, 'deadletterreason')

const list = (faults: readonly string[]) =>
  faults.slice(0, shownFaults).join(', ') +
  (faults.length > shownFaults ? ` and ${faults.length - shownFaults} more` : '')

/** A rule for one field: what is wrong with its value, or `undefined`. */
type Rule = (value: unknown) => string | undefined

const text: Rule = (value) => (typeof value === 'string' ? undefined : `must be a string, not ${kindOf(value)}`)
const nonEmpty: Rule = (value) => (value === '' ? 'must not be empty' : text(value))

/** What Event Grid requires: CloudEvents 1.0.2, section 3.1; Event Grid: event-schema. */
const required: Readonly<Record<EventSchema, Readonly<Record<string, Rule>>>> = {
  CloudEventSchemaV1_0: {
    specversion: (value) => (value === '1.0' ? undefined : 'must be "1.0"'),
    id: nonEmpty,
    source: nonEmpty,
    type: nonEmpty,
  },
  EventGridSchema: { id: nonEmpty, subject: text, eventType: nonEmpty, eventTime: nonEmpty },
}

/** The faults of a whole event: one sentence for each field, which names the field. */
function faultsOfEvent(schema: EventSchema, event: UnknownRecord): string[] {
  return Object.entries(required[schema]).flatMap(([name, rule]) => {
    const fault = Object.hasOwn(event, name) ? rule(event[name]) : 'is missing'
    return fault === undefined ? [] : [`${name} ${fault}`]
  })
}

/** An event that is ready to be sent. */
export interface WireEvent {
  readonly id: string
  /** The event as JSON, with the given attributes and the trace, and no others. An event that was given as text stays that text. */
  readonly json: string
  readonly bytes: number
  /** The trace context in which the event was made: its own, else the trace context of the invoke metadata. */
  readonly origin: TraceContext | undefined
  /** Whether a trace context can be added: to a CloudEvent that has none. The Event Grid schema has no place for a trace. */
  readonly takesTrace: boolean
}

/** An event and its text; a new one without its data. */
interface WholeEvent {
  readonly event: UnknownRecord
  readonly json: string
}

/** @throws BindingError PAYLOAD_TOO_LARGE, which names the event */
function wireEvents(
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
    const isOpen = schema === 'CloudEventSchemaV1_0' && !traceNames.some((name) => Object.hasOwn(event, name))
    const origin = readTraceContext(event) ?? trace
    const wire = { id, json, bytes, origin, takesTrace: isOpen && !trace }
    return isOpen && trace ? withTraceContext(wire, trace, maxEventBytes) : wire
  }
  return events.map(wireEvent)
}

const traceNames = ['traceparent', 'tracestate'] as const

/**
 * Adds the two attributes at the end of an event's JSON, and changes nothing else. An event that would become too large
 * gets none.
 */
export function withTraceContext(event: WireEvent, added: TraceContext, maxBytes: number): WireEvent {
  const attributes = `,${JSON.stringify(added).slice(1)}`
  const bytes = event.bytes + Buffer.byteLength(attributes) - 1
  if (bytes > maxBytes) return event
  const end = event.json.lastIndexOf('}')
  return { ...event, json: `${event.json.slice(0, end)}${attributes}${event.json.slice(end + 1)}`, bytes }
}

/** Doubts about data: an event in an array that begins with something else, or what has members of an event. */
function doubtsOfData(value: unknown): readonly PayloadDoubt[] {
  if (!Array.isArray(value)) return looksLikeEvent(value) ? [{ message: likeAnEvent, fields: {} }] : []
  const event = value.findIndex((member) => eventWithin(member) !== undefined)
  if (event !== -1) return [{ message: eventWithinData, fields: { index: event, first: kindOf(value[0]) } }]
  const index = value.findIndex(looksLikeEvent)
  return index === -1 ? [] : [{ message: likeAnEvent, fields: { index } }]
}

const eventWithinData =
  'an array was published as the data of one event, though an event is in it: its first element is none. ' +
  'An array of events begins with one'
const likeAnEvent =
  'what looks like an event was published as the data of a new event: a CloudEvent has specversion, an Event Grid event has ' +
  'eventType and subject, eventTime or dataVersion'

/** Some write `Type` and `SpecVersion`. */
function looksLikeEvent(value: unknown): boolean {
  if (!isRecord(value)) return false
  const texts = Object.keys(value).filter((name) => typeof value[name] === 'string')
  const has = new Set(texts.map((name) => name.toLowerCase()))
  if (has.has('specversion') || (has.has('type') && has.has('source'))) return true
  return has.has('eventtype') && beside.some((name) => has.has(name.toLowerCase()))
}
