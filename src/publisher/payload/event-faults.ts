// Checks of an event before publishing, of either schema: attributes, fields, dates (RFC 3339), fault texts.
import type { EventSchema } from '../../metadata/typed/metadata.ts'
import { isPlainText, kindOf } from './json-kind.ts'

type Event = Readonly<Record<string, unknown>>

/** A rule for one field: what is wrong with its value, or `undefined`. */
type Rule = (value: unknown) => string | undefined

const plainText: Rule = (value) => {
  if (typeof value !== 'string') return `must be a string, not ${kindOf(value)}`
  return isPlainText(value) ? undefined : 'must hold no control characters and no half of a surrogate pair'
}

const nonEmpty: Rule = (value) => (value === '' ? 'must not be empty' : plainText(value))

const also =
  (first: Rule, test: (value: string) => boolean, fault: string): Rule =>
  (value) =>
    first(value) ?? (test(String(value)) ? undefined : fault)

const base64: Rule = (value) => {
  if (typeof value !== 'string') return plainText(value)
  return value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value) ? undefined : 'must be base64 with its padding'
}

const required: Readonly<Record<string, Rule>> = {
  specversion: (value) => (value === '1.0' ? undefined : 'must be "1.0"'),
  id: nonEmpty,
  source: also(nonEmpty, (value) => !/\s/.test(value), 'must be a URI reference, without spaces'),
  type: nonEmpty,
}

const requiredRules = Object.entries(required)

const optional: Readonly<Record<string, Rule>> = {
  subject: nonEmpty,
  time: also(nonEmpty, (value) => isDateTime(value), 'must be a date and time of RFC 3339, as 2026-01-31T12:00:00Z'),
  datacontenttype: also(nonEmpty, (value) => /^[^\s/;,]+\/[^\s/;,]+/.test(value), 'must be a media type'),
  dataschema: also(nonEmpty, (value) => !/\s/.test(value), 'must be a URI'),
}

/** Extension attributes take the types of the CloudEvents type system that JSON can write; null is an attribute not set. */
const extension: Rule = (value) => {
  if (value === null || typeof value === 'boolean') return undefined
  if (typeof value === 'string') return plainText(value)
  const isInteger = typeof value === 'number' && Number.isInteger(value) && Math.abs(value + 0.5) < 2 ** 31
  return isInteger ? undefined : `must be a string, a boolean or an integer of 32 bits, not ${kindOf(value)}`
}

/** CloudEvents 1.0.2, sections 3 and 4; JSON event format, sections 2 and 3. */
function faultsOfCloudEvent(event: Event): readonly string[] {
  const faults: string[] = []
  const check = (name: string, rule: Rule) => {
    const fault = rule(event[name])
    if (fault !== undefined) faults.push(`${name} ${fault}`)
  }
  for (const [name, rule] of requiredRules) {
    if (Object.hasOwn(event, name)) check(name, rule)
    else faults.push(`${name} is missing`)
  }
  for (const name of Object.keys(event)) {
    if (Object.hasOwn(required, name) || name === 'data') continue
    const rule = Object.hasOwn(optional, name) ? optional[name] : undefined
    if (rule) {
      // An attribute that is not set may be written as null.
      if (event[name] !== null) check(name, rule)
    } else if (name === 'data_base64') check(name, base64)
    else if (/^[a-z0-9]+$/.test(name)) check(name, extension)
    else faults.push(`${JSON.stringify(name.slice(0, 64))} is not an attribute name: use a-z and 0-9 only`)
  }
  if (Object.hasOwn(event, 'data') && Object.hasOwn(event, 'data_base64')) {
    faults.push('data and data_base64 must not both be there')
  }
  return faults
}

/** Event Grid: event-schema. */
const eventGridRules: ReadonlyMap<string, Rule> = new Map([
  ['id', nonEmpty],
  ['subject', plainText],
  ['eventType', nonEmpty],
  [
    'eventTime',
    also(
      plainText,
      (value) => isDateTime(value, { anyZone: true }),
      'must be a date and time, as 2026-01-31T12:00:00Z',
    ),
  ],
  ['topic', plainText],
  ['data', () => undefined],
  ['dataVersion', plainText],
  ['metadataVersion', also(plainText, (value) => value === '1', 'must be "1"')],
])

/** Fields that Event Grid does not know are faults, since it refuses the request for them. */
function faultsOfEventGridEvent(event: Event): readonly string[] {
  const faults = ['id', 'subject', 'eventType', 'eventTime']
    .filter((name) => !Object.hasOwn(event, name))
    .map((name) => `${name} is missing`)
  for (const [name, value] of Object.entries(event)) {
    const rule = eventGridRules.get(name)
    const fault = rule ? rule(value) : 'is not a field of the Event Grid schema: put it into data'
    if (fault !== undefined) faults.push(`${name.slice(0, 64)} ${fault}`)
  }
  return faults
}

/** The faults of an event: one sentence for each field, which names it. */
export const faultsOfEvent: Readonly<Record<EventSchema, (event: Event) => readonly string[]>> = {
  CloudEventSchemaV1_0: faultsOfCloudEvent,
  EventGridSchema: faultsOfEventGridEvent,
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
