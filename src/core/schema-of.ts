/** Which schema an event has: each is told by a member that the other does not have. */
import type { UnknownRecord } from '../support/text/is-record.ts'

/** `undefined` where it is no event. */
export function schemaOf(value: UnknownRecord): 'CloudEventSchemaV1_0' | 'EventGridSchema' | undefined {
  if (Object.hasOwn(value, 'specversion')) return 'CloudEventSchemaV1_0'
  return Object.hasOwn(value, 'eventType') ? 'EventGridSchema' : undefined
}
