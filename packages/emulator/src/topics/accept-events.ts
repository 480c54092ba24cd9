/** Where the events of a request occur, whether the topic takes so many, and which of them no event subscription wants. */
import {
  type AcceptedEvent,
  eventId,
  eventType,
  mappedEvent,
  type SourcedEvents,
  type Untaken,
} from '../model/events/accepted-event.ts'
import type { Domain, Publishable } from '../model/resources/resource.ts'
import type { Clock } from '../model/time/clock.ts'
import { type PublishSummary, publishSummary, untakenBy } from '../records/record-types.ts'

export interface Acceptance {
  /**
   * Takes events. Returns those that an event subscription wants, and which event subscriptions do not get which event. Throws if the
   * events cannot be persisted: then none is taken.
   */
  distribute(accepted: readonly SourcedEvents[]): {
    readonly wanted: ReadonlySet<AcceptedEvent>
    readonly untaken: readonly Untaken[]
  }
}

/** @param topic what the summary names as the source */
export function acceptEvents(intake: Acceptance, topic: string, sourced: readonly SourcedEvents[]): PublishSummary {
  const { wanted, untaken: all } = intake.distribute(sourced)
  const events = sourced.flatMap((one) => one.events)
  const unwanted = events.filter((event) => !wanted.has(event))
  const untaken = all.filter(({ event }) => !wanted.has(event))
  const unserved = untakenBy(untaken.filter(({ matches }) => matches))
  const unmatched = untakenBy(untaken.filter(({ matches }) => !matches))
  return {
    ...publishSummary(topic, events, unwanted, (event) => ({ type: eventType(event), id: eventId(event) })),
    ...(unserved.length > 0 && { unserved }),
    ...(unmatched.length > 0 && { unmatched }),
  }
}

/**
 * The id of the domain topic that a text names: the name alone, or the resource id. Undefined for any other text, an
 * absolute URL for instance (Azure/azure-sdk-for-net issue 25510). The domain topic need not exist.
 */
export function domainTopicId({ id }: Pick<Domain, 'id'>, text: string): string | undefined {
  const parent = `${id}/topics/`
  const name = text.toLowerCase().startsWith(parent.toLowerCase()) ? text.slice(parent.length) : text
  return /^[^/:?#\s]{1,128}$/.test(name) ? `${parent}${name}` : undefined
}

/** The events of one publish request by their sources. An event of a domain occurs at its domain topic and at the domain. */
export function sourcedEvents(target: Publishable, events: readonly AcceptedEvent[]): SourcedEvents[] {
  if (target.type === 'topics') return [{ sources: [target.id], events }]
  const byTopic = Map.groupBy(events, (event) => domainTopicId(target, topicOf(event)) ?? target.id)
  return [...byTopic].map(([topic, own]) => ({ sources: [topic, target.id], events: own }))
}

/** A CloudEvent has no topic: its source names the domain topic (MicrosoftDocs/azure-docs issue 112147). */
function topicOf(event: AcceptedEvent): string {
  return String(event.schema === 'CloudEventSchemaV1_0' ? event.body.value.source : mappedEvent(event).value.topic)
}

/** The limits of a custom topic per second; an event counts once per 64 KB (Event Grid: quotas-limits). */
export const topicRate = { events: 5000, bytes: 5 * 1024 * 1024, step: 64 * 1024 } as const

export type TopicRates = ReturnType<typeof createTopicRates>

/** Counts events and bytes per topic and second. */
export function createTopicRates(clock: Clock) {
  const seconds = new Map<string, { readonly start: number; events: number; bytes: number }>()
  return {
    /** Whether the topic accepts these events in this second; counts them if so. @param sizes in bytes */
    take(topicId: string, sizes: readonly number[]): boolean {
      const now = clock.now()
      let second = seconds.get(topicId)
      if (!second || now - second.start >= 1000) {
        second = { start: now, events: 0, bytes: 0 }
        seconds.set(topicId, second)
      }
      const events = sizes.reduce((sum, size) => sum + Math.max(Math.ceil(size / topicRate.step), 1), 0)
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      if (second.events + events > topicRate.events || second.bytes + bytes > topicRate.bytes) return false
      second.events += events
      second.bytes += bytes
      return true
    },
    /** Begins anew. */
    clear: (): void => seconds.clear(),
  }
}
