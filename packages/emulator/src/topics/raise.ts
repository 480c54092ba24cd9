// Events raised at any Azure source: added fields, resource group events, unknown source error.
import { randomUUID } from 'node:crypto'
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { didYouMean } from '../../../../src/support/text/nearest-name.ts'
import type { SourcedEvents } from '../model/events/accepted-event.ts'
import { asAcceptedEvent } from '../model/events/convert-schema.ts'
import { preciseTime } from '../model/events/event-grid-time.ts'
import { eventOf } from '../model/events/event-text.ts'
import { type JsonObject, jsonTextOf } from '../model/events/json-object.ts'
import { isPublishable } from '../model/resources/resource.ts'
import { named, sameName } from '../model/resources/resource-ids.ts'
import { publisherOf, type Store, sourceOf } from '../model/resources/store.ts'
import { checkPublishedEvent } from './check-published-event.ts'
import { PublishFault } from './publish-fault.ts'
import { sourcedEvents } from './sourced-events.ts'

/**
 * Prepares events that Azure would raise at a source. For a custom topic or a domain they are checked as if published. For
 * other sources a missing `id`, `topic` (or `source`), time or version is added. Events of a source also occur at its system
 * topic, and those of a domain topic at its domain. Events of Azure Resource Manager (`Microsoft.Resources.*`) also go to the
 * resource group and the subscription that contain the source. Throws a TypeError for an invalid event.
 */
export function raisedEvents(store: Store, scope: string, events: readonly unknown[], now: number): SourcedEvents[] {
  for (const [index, event] of events.entries()) jsonTextOf(event, `event ${index}`)
  const target = store.resource(scope)
  if (isPublishable(target)) {
    const accepted = events.map((event, index) => {
      try {
        return checkPublishedEvent(eventOf(objectOf(event)), target, now)
      } catch (error) {
        if (!(error instanceof PublishFault)) throw error
        throw new TypeError(`event ${index}: ${error.message}`)
      }
    })
    return sourcedEvents(target, accepted)
  }
  const sourceId = sourceOf(store, scope)
  return events.flatMap((event) => {
    const above = typeOf(objectOf(event)).startsWith('Microsoft.Resources.') ? ancestors(sourceId) : []
    return [sourceId, ...above].map((source): SourcedEvents => {
      const accepted = asAcceptedEvent(eventOf(stamped(objectOf(event), source, now)))
      if (!accepted) throw new TypeError('a raised event needs eventType and subject, or specversion, type and source')
      return { sources: [source, ...occursAt(store, source)], events: [accepted] }
    })
  })
}

function objectOf(event: unknown): JsonObject {
  if (isRecord(event)) return event
  throw new TypeError('a raised event must be an object')
}

/** The other resources whose event subscriptions get the events of a source: its domain, or its system topic. */
function occursAt(store: Store, source: string): string[] {
  const domain = publisherOf(store, source)
  if (domain) return [domain.id]
  const systemTopics = store.resources('systemTopics')
  return systemTopics.filter((one) => sameName(one.source, source)).map(({ id }) => id)
}

/**
 * The resource id of a source, which may be given as resource id, with or without its leading slash, or as the name of
 * a custom topic, a domain or a system topic. Throws a TypeError for another type than string, and a RangeError for an unknown source.
 */
export function sourceIdOf(store: Store, source: string): string {
  if (typeof source !== 'string')
    throw new TypeError(`the source must be a resource id or the name of a topic or domain`)
  if (source.startsWith('/')) return source
  const all = store.tracked()
  const found = store.published(source) ?? named(all, source)
  if (found) return found.id
  if (/^(subscriptions|providers)\//i.test(source)) return `/${source}`
  const names = all.map(({ name }) => name)
  const there = didYouMean(source, names) ?? `the topics are ${names.join(', ') || 'none'}`
  const given = JSON.stringify(source.slice(0, 200))
  throw new RangeError(
    `${given} is neither a resource id, which begins with a slash, nor the name of a topic or domain; ${there}`,
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
