/** Where an event that Azure itself raises occurs, and what Event Grid adds to the event. */
import { randomUUID } from 'node:crypto'
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { suggestName } from '../../../../src/support/text/nearest-name.ts'
import type { Directory } from '../entra/directory.ts'
import { asAcceptedEvent, type SourcedEvents } from '../model/events/accepted-event.ts'
import { eventOf, type JsonObject, jsonTextOf } from '../model/events/event-text.ts'
import type { NamespaceStore } from '../model/resources/namespace.ts'
import {
  asResourceId,
  isPublishable,
  named,
  parentId,
  resourceGroupId,
  sameName,
  trackedTypes,
} from '../model/resources/resource.ts'
import { publisherOf, type Store, sourceOf } from '../model/resources/store.ts'
import { preciseTime } from '../model/wording.ts'
import { sourcedEvents } from './accept-events.ts'
import { checkPublishedEvent } from './check-published-event.ts'
import { PublishFault } from './publish-fault.ts'

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

/** Where events can occur. */
export interface Sources {
  readonly store: Store
  readonly namespaces: NamespaceStore
  readonly directory: Directory
}

/**
 * The resource id of a source, which may be given as resource id, with or without its leading slash, or as the name of
 * a custom topic, a domain, a system topic or a namespace topic. Throws a TypeError for another type than string, and a RangeError for an
 * unknown name.
 */
export function sourceIdOf({ store, namespaces }: Pick<Sources, 'store' | 'namespaces'>, source: string): string {
  if (typeof source !== 'string')
    throw new TypeError(`the source must be a resource id or the name of a topic or domain`)
  if (/^\/|^(subscriptions|providers)\//i.test(source)) return asResourceId(source)
  const all = [...store.tracked(), ...namespaces.topics.all()]
  const found = store.published(source) ?? named(all, source)
  if (found) return found.id
  throw unknown(
    `${shown(source)} is neither a resource id, which begins with a slash, nor the name of a topic or domain`,
    source,
    all.map(nameOf),
  )
}

/**
 * The same for a source that events are raised at: a RangeError also for a resource id whose Azure subscription, resource group, topic,
 * domain or namespace does not exist. Resources of other providers are taken as existing.
 */
export function existingSourceIdOf(sources: Sources, source: string): string {
  const { store, namespaces, directory } = sources
  const id = sourceIdOf(sources, source)
  // What a system topic is declared for exists, wherever it is.
  if (store.resources('systemTopics').some((one) => sameName(one.source, id))) return id
  const [, subscription, group, resource] =
    /^\/subscriptions\/([^/]+)(?:\/resourceGroups\/([^/]+))?(?:\/providers\/([^/]+(?:\/[^/]+\/[^/]+)+))?$/i.exec(id) ??
    []
  if (subscription === undefined)
    throw new RangeError(`${shown(id)} is no resource id: /subscriptions/{id}/resourceGroups/{name}/providers/...`)
  const azure = directory.azureSubscriptions().map((one) => one.id)
  if (!directory.azureSubscription(subscription))
    throw unknown(`there is no Azure subscription ${shown(subscription)}`, subscription, azure)
  const groups = directory.groups.of(subscription).map(nameOf)
  if (group !== undefined && !directory.groups.get(resourceGroupId(subscription, group)))
    throw unknown(`there is no resource group ${shown(group)} in this Azure subscription`, group, groups)
  const [provider, type = ''] = resource?.split('/') ?? []
  const isKnownType = [...trackedTypes, 'namespaces'].some((one) => sameName(one, type))
  if (!sameName(provider, 'Microsoft.EventGrid') || !isKnownType) return id
  // The topics of a namespace have to exist, those of a domain need not.
  const wanted = resource?.split('/').length === 5 && sameName(type, 'domains') ? parentId(id) : id
  const known = [...store.tracked(), ...namespaces.namespaces.all(), ...namespaces.topics.all()]
  if (known.some((one) => sameName(one.id, wanted))) return id
  throw unknown(`there is no ${shown(wanted)}`, nameIn(wanted), known.map(nameOf))
}

const nameIn = (id: string) => id.slice(id.lastIndexOf('/') + 1)
const nameOf = ({ name }: { readonly name: string }) => name

const shown = (text: string) => JSON.stringify(text.slice(0, 200))

const unknown = (what: string, written: string, names: readonly string[]) =>
  new RangeError(`${what}; ${suggestName(written, names)}`)

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
