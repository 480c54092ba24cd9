import { isDeepStrictEqual } from 'node:util'
import { type PullMetadata, resetToDefault, type Setting } from '../metadata/metadata.ts'
import { isRecord, type UnknownRecord } from '../support/is-record.ts'
import { canonicalJson } from './canonical-json.ts'

/** What is to be done about the event subscription that forwards a scope's events to the namespace topic. */
export type ForwardingUpsert =
  | { readonly action: 'keep' }
  | { readonly action: 'wait'; readonly state: string }
  | { readonly action: 'refuse'; readonly because: string; readonly fix: string }
  | { readonly action: 'put'; readonly because: string; readonly properties: UnknownRecord }

const changing: readonly unknown[] = ['Creating', 'Updating', 'Deleting']

/**
 * Decides what the forwarding event subscription needs. What the operator set elsewhere stays, unless the metadata sets it.
 *
 * @param existing the `properties` that ARM holds; `undefined` where there is no event subscription
 */
export function decideForwarding(existing: UnknownRecord | undefined, pull: PullMetadata): ForwardingUpsert {
  const desired = desiredForwarding(pull)
  if (existing === undefined) return { action: 'put', because: 'there is none', properties: merge({}, desired) }
  // ARM fills these in; they are not written.
  const { provisioningState, topic: _topic, systemData: _systemData, ...properties } = existing
  if (changing.includes(provisioningState)) return { action: 'wait', state: String(provisioningState) }
  const destination = isRecord(properties.destination) ? properties.destination : {}
  if (destination.endpointType !== 'NamespaceTopic' && !pull.replaceDestination) {
    const because = `it delivers to ${String(destination.endpointType)} and not to a namespace topic`
    return {
      action: 'refuse',
      because,
      fix: 'set replaceDestination to "true", or choose another eventSubscriptionName',
    }
  }
  const merged = merge(properties, desired)
  const isSame = isDeepStrictEqual(canonicalJson(merged), canonicalJson(properties))
  if (isSame && provisioningState === 'Succeeded') return { action: 'keep' }
  const because = isSame ? `its state is ${String(provisioningState)}` : 'it differs from the metadata'
  return { action: 'put', because, properties: merged }
}

function desiredForwarding({ namespaceTopic, settings }: PullMetadata): UnknownRecord {
  return {
    destination: { endpointType: 'NamespaceTopic', properties: { resourceId: namespaceTopic.id } },
    eventDeliverySchema: 'CloudEventSchemaV1_0',
    filter: {
      ...set('includedEventTypes', settings.includedEventTypes),
      ...set('subjectBeginsWith', settings.subjectBeginsWith),
      ...set('subjectEndsWith', settings.subjectEndsWith),
      ...set('advancedFilters', settings.advancedFilters),
    },
  }
}

function merge(properties: UnknownRecord, desired: UnknownRecord): UnknownRecord {
  const filter = {
    ...(isRecord(properties.filter) && properties.filter),
    ...(isRecord(desired.filter) && desired.filter),
  }
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  return { ...properties, ...desired, filter: Object.fromEntries(given) }
}

/** A field that the metadata sets; `default` takes it out of what ARM holds. */
function set(name: string, setting: Setting<unknown> | undefined): UnknownRecord {
  return setting === undefined ? {} : { [name]: setting === resetToDefault ? undefined : setting }
}
