/** One dead letter as Azure writes it: its event without the dead-letter fields, its time, and the key that makes it the same event. */
import { hash } from 'node:crypto'
import { schemaOf } from '../../core/schema-of.ts'
import { deadLetterForm, withoutDeadLetter } from '../../publisher/dead-letter-fields.ts'
import { isRecord, type UnknownRecord } from '../../support/text/is-record.ts'

export type DeadLetter = Exclude<ReturnType<typeof readDeadLetter>, string>

/** Reads one entry of a dead-letter file (pure). A text says why it is no event. */
export function readDeadLetter(value: unknown) {
  if (!isRecord(value)) return 'it is not a JSON object'
  const whole = withoutDeadLetter(value)
  const schema = schemaOf(whole)
  if (schema === undefined) return 'it has neither specversion nor eventType'
  const isCloudEvent = schema === 'CloudEventSchemaV1_0'
  const { id } = whole
  const type = isCloudEvent ? whole.type : whole.eventType
  if (typeof id !== 'string' || typeof type !== 'string') return 'its id or its type is not a text'
  // Event Grid stamps the topic, and refuses that of another topic.
  const event: UnknownRecord = isCloudEvent
    ? whole
    : Object.fromEntries(Object.entries(whole).filter(([name]) => name !== 'topic'))
  const { added = {} } = deadLetterForm(value) ?? {}
  // Of a topic, or of a namespace topic.
  const publishTime = added.publishtime ?? added.publishutc
  const died = added.lastdeliveryattempttime ?? added.deliveryattemptutc
  const times = [died, publishTime, isCloudEvent ? whole.time : whole.eventTime]
  return {
    schema,
    /** The event as it was published. */
    event,
    id,
    type,
    /** When it was published, as the dead letter has it; `undefined` where it does not say. */
    publishTime,
    /** When it became a dead letter, as far as it tells, in ms; `undefined` where it has no time. */
    time: times.map((text) => Date.parse(String(text))).find((ms) => !Number.isNaN(ms)),
    /** Equal for two dead letters of one event. An event that was published twice has two keys, by the times of publishing. */
    key: hash('sha256', JSON.stringify([publishTime, event]), 'base64url'),
  }
}
