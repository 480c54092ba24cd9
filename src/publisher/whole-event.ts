/** The schema of a whole event; whether a value is a dead letter, how it holds its event, and that event as it was published. */
import type { EventSchema } from '../metadata/typed/metadata.ts'
import { isRecord, type UnknownRecord } from '../support/text/json-text.ts'

/** The schema of an event; `undefined` for a value that is no event. */
export function schemaOf(value: UnknownRecord): EventSchema | undefined {
  if (Object.hasOwn(value, 'specversion')) return 'CloudEventSchemaV1_0'
  return Object.hasOwn(value, 'eventType') ? 'EventGridSchema' : undefined
}

/**
 * Where a dead letter holds its event. `holds: 'event'`: in the member `event`. A set: the event and the members that Event Grid added
 * stand side by side; the set has the lower-case names of the added members. `added`: the added values, by lower-case name.
 */
export interface DeadLetterForm {
  readonly holds: 'event' | ReadonlySet<string>
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

/** Those of a namespace topic (dead-letter-event-subscriptions-namespace-topics). */
const namespaceFields: ReadonlySet<string> = new Set([
  'deadletterproperties',
  'brokerproperties',
  'customdeliveryproperties',
])

/** The form of a dead letter (pure). No attribute of an event is an object, so no event has the members of a namespace itself. */
export function deadLetterForm(value: UnknownRecord): DeadLetterForm | undefined {
  if (Object.hasOwn(value, 'deadLetterReason') || Object.hasOwn(value, 'deadletterreason')) {
    return { holds: topicFields, added: inLowerCase(value) }
  }
  const added = propertiesOf(value)
  return added && { holds: isBeside(value) ? 'event' : namespaceFields, added }
}

/** Whether the event is a member of the dead letter. */
const isBeside = (value: UnknownRecord) =>
  isRecord(value.event) && schemaOf(value.event) !== undefined && schemaOf(value) === undefined

function propertiesOf(value: UnknownRecord): UnknownRecord | undefined {
  let found: UnknownRecord | undefined
  for (const name of Object.keys(value)) {
    const member = value[name]
    if (!isRecord(member) || !namespaceFields.has(name.toLowerCase())) continue
    if (/^deadletter/i.test(name)) return inLowerCase(member)
    // The page calls them so in its prose. An event that was received has such a member too, with its lock.
    const properties = inLowerCase(member)
    if (Object.hasOwn(properties, 'deadletterreason')) found = properties
  }
  return found
}

/** The event of a dead letter; any other value as it is. */
export function withoutDeadLetter(value: UnknownRecord): UnknownRecord {
  const holds = deadLetterForm(value)?.holds
  if (holds === undefined) return value
  if (holds === 'event') return isRecord(value.event) ? value.event : value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !holds.has(name.toLowerCase())))
}

const inLowerCase = (value: UnknownRecord): UnknownRecord =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toLowerCase(), member]))
