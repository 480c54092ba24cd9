/**
 * Turns a payload into events: whole events are sent unchanged, and data becomes a new event. Finds signs that the caller meant something
 * else.
 */

import { BindingError } from '../core/errors.ts'
import type { LogFields } from '../core/logger.ts'
import type { TraceContext } from '../core/telemetry.ts'
import type { EventSchema, OutputMetadata } from '../metadata/typed/metadata.ts'
import { isRecord, memberTexts, sliceTopLevel, type UnknownRecord } from '../support/text/json-text.ts'
import { oneLine } from '../support/text/text.ts'
import {
  invalidPayload,
  kindOf,
  maxMetadataNames,
  metadataNames,
  type NewEventContext,
  newEvent,
  readPayload,
} from './payload.ts'
import { type EventTrace, traceOfEvent, traceOfMetadata } from './telemetry.ts'
import { deadLetterForm, schemaOf, withoutDeadLetter } from './whole-event.ts'

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
 * an array of them, goes unchanged, and of the invoke metadata only the trace is looked at; anything else is data of a new event.
 *
 * @throws BindingError PAYLOAD_INVALID naming each attribute, PAYLOAD_TOO_LARGE naming the event
 */
export function toEvents(
  given: unknown,
  metadata: Readonly<Record<string, string>>,
  context: ToEventsContext,
): CallEvents {
  const names = Object.keys(metadata).length
  if (names > maxMetadataNames) {
    throw invalidPayload(`the metadata of the call has ${names} names`, `give at most ${maxMetadataNames}`)
  }
  const payload = readPayload(given)
  const { topicSchema: wanted, maxEventBytes } = context
  const wire = { trace: traceOfMetadata(metadata), maxEventBytes }
  const whole = payload.kind === 'json' ? recognise(payload.text, payload.value) : undefined
  const unused = unusedMetadata(metadata, { isWhole: whole !== undefined })
  if (!whole) {
    const schema = wanted === 'auto' ? 'CloudEventSchemaV1_0' : wanted
    const events = wireEvents(schema, [newEvent(payload, metadata, { ...context, schema })], wire)
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

/**
 * The schema of an event; `undefined` for data. Much data has a member `eventType`, so an Event Grid event has another one of its
 * members.
 */
function schemaWithin(value: unknown): EventSchema | undefined {
  if (!isRecord(value)) return undefined
  const event = withoutDeadLetter(value)
  const schema = schemaOf(event)
  const isData = schema === 'EventGridSchema' && !beside.some((name) => Object.hasOwn(event, name))
  return isData ? undefined : schema
}

const beside = ['subject', 'eventTime', 'dataVersion'] as const

const isEvent = (value: unknown) => schemaWithin(value) !== undefined

/** The events in a JSON text; `undefined` where it is data. */
function recognise(text: string, value: unknown) {
  if (!Array.isArray(value)) {
    const schema = schemaWithin(value)
    return schema !== undefined && isRecord(value)
      ? { schema, isArray: false, events: [wholeEvent(value, text)] }
      : undefined
  }
  if (value.length === 0) throw invalidPayload('the payload is an empty array', 'give at least one event')
  const schema = schemaWithin(value[0])
  if (schema === undefined) return undefined
  const strays = value.flatMap((event: unknown, index) => {
    const found = schemaWithin(event)
    return found === schema
      ? []
      : [`[${index}] is ${found === undefined ? `${kindOf(event)}, not an event` : nameOf[found]}`]
  })
  if (strays.length > 0) {
    throw invalidPayload(
      `the payload begins with ${nameOf[schema]}, but ${list(strays)}`,
      'an array of events must hold events of one schema only',
    )
  }
  const texts = itemTexts(text)
  const events = value.filter(isRecord).map((event, index) => wholeEvent(event, texts[index] ?? ''))
  return { schema, isArray: true, events }
}

/** The text of each item of an array, as it stands there. */
function itemTexts(text: string): readonly string[] {
  const bytes = Buffer.from(text)
  const found = sliceTopLevel(bytes, Number.POSITIVE_INFINITY)
  return found.kind === 'array' ? found.slices.map(({ start, end }) => bytes.toString('utf8', start, end)) : []
}

/** Without what Event Grid has added to a dead letter: it refuses that. */
function wholeEvent(value: UnknownRecord, json: string): WholeEvent {
  const holds = deadLetterForm(value)?.holds
  if (holds === undefined) return { event: value, json }
  const event = withoutDeadLetter(value)
  const members = memberTexts(json)
  if (holds === 'event') return { event, json: members.get('event') ?? json }
  const kept = [...members].filter(([name]) => !holds.has(name.toLowerCase()))
  return { event, json: `{${kept.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}` }
}

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

/** The faults of a whole event: one sentence for each field, which names it. */
export function faultsOfEvent(schema: EventSchema, event: UnknownRecord): string[] {
  return Object.entries(required[schema]).flatMap(([name, rule]) => {
    const fault = Object.hasOwn(event, name) ? rule(event[name]) : 'is missing'
    return fault === undefined ? [] : [`${name} ${fault}`]
  })
}

export interface WireEvent extends EventTrace {
  readonly id: string
  /**
   * The event as JSON, with exactly the given attributes and those of the trace. An event that was given as text stays that text.
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

/** What a caller may have meant otherwise: a warning. */
export interface PayloadDoubt {
  readonly message: string
  readonly fields: LogFields
  /** Doubts of one message with the same word are said once in 30 s; the others are counted. */
  readonly word?: string
}

/** Doubts about data: an event in an array that begins with something else, or what has members of an event. */
function doubtsOfData(value: unknown): readonly PayloadDoubt[] {
  if (!Array.isArray(value)) return looksLikeEvent(value) ? [{ message: likeAnEvent, fields: {} }] : []
  const event = value.findIndex(isEvent)
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

/** Names that runtimes add by themselves. */
const ofTrace: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage'])

/** Doubts about names in the metadata of a call that do nothing. Beside a whole event these are all but the trace's. */
function unusedMetadata(
  metadata: Readonly<Record<string, unknown>>,
  { isWhole }: { readonly isWhole: boolean },
): readonly PayloadDoubt[] {
  return Object.entries(metadata).flatMap(([given, value]) => {
    const lower = given.toLowerCase()
    const isUsed = ofTrace.has(lower) || (!isWhole && metadataNames.has(lower))
    if (isUsed || value === '' || value === undefined) return []
    const name = oneLine(given, 100)
    const fix = isWhole
      ? 'the payload is a whole event, which is published unchanged: write it there, or publish data alone'
      : `create knows ${[...metadataNames].join(', ')}`
    return [{ message: 'a name in the metadata of a create does nothing', fields: { name, fix }, word: name }]
  })
}
