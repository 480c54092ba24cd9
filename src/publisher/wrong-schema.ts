import type { EventSchema, OutputMetadata } from '../metadata/metadata.ts'

/** What Event Grid calls the schemas in its answer to a publisher. */
const schemaByName: ReadonlyMap<string | undefined, EventSchema> = new Map([
  ['CloudEventV10', 'CloudEventSchemaV1_0'],
  ['EventGridEvent', 'EventGridSchema'],
])

const mismatch: Readonly<Record<EventSchema, string>> = {
  CloudEventSchemaV1_0: 'this topic takes CloudEvents, and an Event Grid event was sent',
  EventGridSchema: 'this topic takes Event Grid events, and a CloudEvent was sent',
}

const whole: Readonly<Record<EventSchema, string>> = {
  CloudEventSchemaV1_0: '{ specversion, id, source, type, data }',
  EventGridSchema: '{ id, subject, eventType, eventTime, data, dataVersion }',
}

/** What to do where a topic refused events for their schema (pure); `undefined` where its answer names no other than the one sent. */
export function wrongSchemaFix(
  message: string,
  sent: EventSchema,
  topicSchema: OutputMetadata['topicSchema'],
): string | undefined {
  const taken = schemaByName.get(/'(\w+)' schema/.exec(message)?.[1])
  if (taken === undefined || taken === sent) return undefined
  // With `auto` data becomes a CloudEvent.
  const isSet = topicSchema === taken || (topicSchema === 'auto' && taken === 'CloudEventSchemaV1_0')
  return `${mismatch[taken]}: ${isSet ? '' : `set topicSchema to ${taken}, and `}publish data alone or ${whole[taken]}`
}
