/** What a whole event must have to be published, of either schema, and what metadata may give to a new one. Event Grid judges the rest. */
import type { EventSchema } from '../../metadata/typed/metadata.ts'
import { kindOf } from '../payload.ts'

type Event = Readonly<Record<string, unknown>>

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
export function faultsOfEvent(schema: EventSchema, event: Event): string[] {
  return Object.entries(required[schema]).flatMap(([name, rule]) => {
    const fault = Object.hasOwn(event, name) ? rule(event[name]) : 'is missing'
    return fault === undefined ? [] : [`${name} ${fault}`]
  })
}

const uri = (value: string) => (/\s/.test(value) ? 'must be a URI reference, without spaces' : undefined)

/** What metadata gives to a new event is ours to write, so it must have the form that its attribute has. */
const metadataRules: Readonly<Record<string, (value: string, schema: EventSchema) => string | undefined>> = {
  source: uri,
  dataschema: uri,
  time: (value, schema) =>
    isDateTime(value, { anyZone: schema === 'EventGridSchema' })
      ? undefined
      : 'must be a date and time of RFC 3339, as 2026-01-31T12:00:00Z',
}

/** Is a text free of control characters, lone surrogates and noncharacters? CloudEvents 1.0.2, section 3.1. */
function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(text)
}

/** The faults of what metadata gives to a new event. */
export function faultsOfMetadata(given: ReadonlyMap<string, string>, schema: EventSchema): string[] {
  return [...given].flatMap(([name, value]) => {
    const fault = isPlainText(value)
      ? metadataRules[name]?.(value, schema)
      : 'must hold no control characters and no half of a surrogate pair'
    return fault === undefined ? [] : [`metadata ${name} ${fault}`]
  })
}

const time = /(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?/
const zone = /[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d/
const dateTime = new RegExp(`^(\\d{4}-\\d{2}-\\d{2})[Tt]${time.source}(${zone.source})?$`)

/**
 * Is a text a moment as RFC 3339 writes it? Any number of fraction digits; a leap second is fine.
 * `anyZone` takes one without an offset too, as Event Grid does in its own schema.
 */
export function isDateTime(text: string, { anyZone = false } = {}): boolean {
  const [, date = '', offset] = dateTime.exec(text) ?? []
  return (anyZone || offset !== undefined) && isDate(date)
}

/** `Date` takes 30 February for 2 March, so the date must come back as it was. */
function isDate(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
