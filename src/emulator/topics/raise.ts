import { randomUUID } from 'node:crypto'
import { isRecord } from '../../support/is-record.ts'
import { nearestName } from '../../support/nearest-name.ts'
import type { AcceptedEvent } from '../model/accepted-event.ts'
import { asAcceptedEvent } from '../model/convert-schema.ts'
import { preciseTime } from '../model/event-grid-time.ts'
import type { JsonObject } from '../model/json-object.ts'
import type { Store } from '../model/store.ts'
import { checkPublishedEvent } from './published-event.ts'

/** Events, and the source whose subscriptions get them. */
export interface RaisedEvents {
  readonly source: string
  readonly accepted: readonly AcceptedEvent[]
}

/**
 * Prepares events that Azure would raise at a source. For a custom topic they are checked as if published. For other
 * sources a missing `id`, `topic` (or `source`), time or version is added. Events of Azure Resource Manager
 * (`Microsoft.Resources.*`) also go to the resource group and the subscription that contain the source. Throws a
 * TypeError for an invalid event.
 */
export function raisedEvents(store: Store, sourceId: string, events: readonly unknown[], now: number): RaisedEvents[] {
  const topic = store.topicById(sourceId)
  if (topic) {
    const accepted = events.map((event, index) => {
      const checked = checkPublishedEvent(event, topic, now)
      if ('fault' in checked) throw new TypeError(`event ${index}: ${checked.fault.message}`)
      return checked.event
    })
    return [{ source: sourceId, accepted }]
  }
  const sources = new Map<string, AcceptedEvent[]>()
  for (const event of events) {
    if (!isRecord(event)) throw new TypeError('a raised event must be an object')
    const above = typeOf(event).startsWith('Microsoft.Resources.') ? ancestors(sourceId) : []
    for (const source of [sourceId, ...above]) {
      const accepted = asAcceptedEvent(stamped(event, source, now))
      if (!accepted) throw new TypeError('a raised event needs eventType and subject, or specversion, type and source')
      sources.set(source, [...(sources.get(source) ?? []), accepted])
    }
  }
  return [...sources].map(([source, accepted]) => ({ source, accepted }))
}

/**
 * The resource id of a source, which may be given as resource id, with or without its leading slash, or as the name of
 * a custom topic. Throws a TypeError for another type than string, and a RangeError for an unknown source.
 */
export function sourceIdOf(store: Store, source: string): string {
  if (typeof source !== 'string') throw new TypeError(`the source must be a resource id or the name of a custom topic`)
  if (source.startsWith('/')) return source
  const topic = store.topic(source)
  if (topic) return topic.id
  if (/^(subscriptions|providers)\//i.test(source)) return `/${source}`
  const names = store.topics().map(({ name }) => name)
  const meant = nearestName(source, names)
  const there = meant === undefined ? `the topics are ${names.join(', ') || 'none'}` : `did you mean ${meant}?`
  throw new RangeError(
    `${JSON.stringify(source.slice(0, 200))} is neither a resource id, which begins with a slash, nor the name of a custom topic; ${there}`,
  )
}

function typeOf(event: JsonObject): string {
  return String(event.eventType ?? event.type ?? '')
}

function stamped(event: JsonObject, source: string, now: number): JsonObject {
  const time = preciseTime(now)
  if (event.specversion !== undefined) return { id: randomUUID(), source, time, ...event }
  const known = { id: randomUUID(), eventTime: time, dataVersion: '', metadataVersion: '1', ...event }
  return { ...known, topic: typeOf(event).startsWith('Microsoft.Resources.') ? source : (event.topic ?? source) }
}

/** The resource group and the subscription that contain a resource. */
function ancestors(sourceId: string): string[] {
  const parts = /^(\/subscriptions\/[^/]+)(\/resourceGroups\/[^/]+)?(\/.*)?$/i.exec(sourceId)
  if (!parts) return []
  const [, subscription = '', group = '', rest] = parts
  if (group) return rest ? [`${subscription}${group}`, subscription] : [subscription]
  return rest ? [subscription] : []
}
