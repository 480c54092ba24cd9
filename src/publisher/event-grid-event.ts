import { isDateTime } from './date-time.ts'
import { isPlainText, kindOf } from './json-kind.ts'

const required = ['id', 'subject', 'eventType', 'eventTime'] as const
const optional = ['topic', 'data', 'dataVersion', 'metadataVersion'] as const
const known: ReadonlySet<string> = new Set<string>([...required, ...optional])

/**
 * The faults of an event of the Event Grid schema: one sentence for each field, which names it.
 * Event Grid: event-schema. Fields it does not know are faults, since Event Grid refuses the request for them.
 */
export function faultsOfEventGridEvent(event: Readonly<Record<string, unknown>>): readonly string[] {
  const faults: string[] = []
  for (const name of required) {
    if (!Object.hasOwn(event, name)) faults.push(`${name} is missing`)
  }
  for (const [name, value] of Object.entries(event)) {
    const fault = faultOf(name, value)
    if (fault !== undefined) faults.push(`${name.slice(0, 64)} ${fault}`)
  }
  return faults
}

function faultOf(name: string, value: unknown): string | undefined {
  if (!known.has(name)) return 'is not a field of the Event Grid schema: put it into data'
  if (name === 'data') return undefined
  if (typeof value !== 'string') return `must be a string, not ${kindOf(value)}`
  if (!isPlainText(value)) return 'must hold no control characters and no half of a surrogate pair'
  if (name === 'metadataVersion') return value === '1' ? undefined : 'must be "1"'
  if (name === 'eventTime') {
    return isDateTime(value, { anyZone: true }) ? undefined : 'must be a date and time, as 2026-01-31T12:00:00Z'
  }
  return (name === 'id' || name === 'eventType') && value === '' ? 'must not be empty' : undefined
}
