// Headers of a delivery (`aeg-event-type`, `aeg-delivery-count`), content type, delivery attributes, batch body.
import { type AcceptedEvent, eventDataVersion } from '../../model/events/accepted-event.ts'
import { fieldAt, plainTextAt } from '../../model/events/event-text.ts'
import { placeByKey } from '../../model/events/filters.ts'
import type { DeliveryAttributeMapping, WebHookProperties } from '../../model/resources/destination.ts'
import { type DeliverySchema, destinationOf, type EventSubscription } from '../../model/resources/event-subscription.ts'
import { secretValuesOf, withoutValues } from '../../records/shown-request.ts'

/** Event Grid's name for itself, in the public cloud (Event Grid: end-point-validation-cloud-events-schema). */
export const eventGridOrigin = 'eventgrid.azure.net'

/** The maximum size of a delivery attribute's value, in bytes (Event Grid: delivery-properties). */
const attributeLimitBytes = 4096

const secretText = '(redacted)'

export function webhookOf(subscription: EventSubscription): WebHookProperties | undefined {
  const found = destinationOf(subscription.properties)
  return found?.endpointType === 'WebHook' ? found.properties : undefined
}

export function deliverySchemaOf(subscription: EventSubscription): DeliverySchema {
  return subscription.properties.eventDeliverySchema ?? 'EventGridSchema'
}

/** The batching of a webhook; undefined without batching, which needs `maxEventsPerBatch` above 1. */
export function batchingOf(webhook: WebHookProperties): { maxEvents: number; preferredBytes: number } | undefined {
  const { maxEventsPerBatch: maxEvents = 1, preferredBatchSizeInKilobytes = 64 } = webhook
  return maxEvents > 1 ? { maxEvents, preferredBytes: preferredBatchSizeInKilobytes * 1024 } : undefined
}

/** The body's media type. For batches of CloudEvents it is that of their specification; no capture of one was found. */
function contentTypeOf(schema: DeliverySchema, form: 'single' | 'batch'): string {
  if (schema !== 'CloudEventSchemaV1_0') return 'application/json; charset=utf-8'
  return `application/cloudevents${form === 'batch' ? '-batch' : ''}+json; charset=utf-8`
}

/** The body: an array, or a single CloudEvent without batching. */
export function bodyOf(schema: DeliverySchema, form: 'single' | 'batch', events: readonly string[]): string {
  return form === 'single' && schema === 'CloudEventSchemaV1_0' ? events.join() : `[${events.join(',')}]`
}

/** The headers of a delivery, in the spelling of the captures (Event Grid: message-headers). */
export function deliveryHeaders(delivery: {
  readonly subscription: EventSubscription
  readonly form: 'single' | 'batch'
  /** The first event of the batch, for `aeg-data-version` and the dynamic attributes. */
  readonly event: AcceptedEvent
  /** Number of attempts before this one. */
  readonly deliveryCount: number
  readonly bearerToken?: string | undefined
}): Record<string, string> {
  const { subscription, event, bearerToken } = delivery
  const schema = deliverySchemaOf(subscription)
  const cloudEvents = schema === 'CloudEventSchemaV1_0'
  const headers: Record<string, string> = {
    'content-type': contentTypeOf(schema, delivery.form),
    'accept-encoding': 'gzip, deflate',
    'aeg-subscription-name': subscription.name.toUpperCase(),
    'aeg-delivery-count': String(delivery.deliveryCount),
    'aeg-data-version': cloudEvents ? '' : eventDataVersion(event),
    'aeg-metadata-version': '1',
    'aeg-event-type': 'Notification',
  }
  if (cloudEvents) headers.origin = eventGridOrigin
  for (const mapping of webhookOf(subscription)?.deliveryAttributeMappings ?? []) {
    const value = attributeValue(mapping, event)
    if (value !== undefined) headers[mapping.name] = value
  }
  if (bearerToken !== undefined) headers.authorization = `Bearer ${bearerToken}`
  return headers
}

/**
 * The value of a delivery attribute; undefined unless it is a string, number or boolean of at most 4,096 bytes that a
 * header can hold.
 */
function attributeValue(mapping: DeliveryAttributeMapping, event: AcceptedEvent): string | undefined {
  const text = mapping.type === 'Static' ? mapping.properties.value : sourceField(event, mapping.properties.sourceField)
  if (text === undefined) return undefined
  return Buffer.byteLength(text) <= attributeLimitBytes && /^[\t\x20-\x7e\x80-\xff]*$/.test(text) ? text : undefined
}

function sourceField(event: AcceptedEvent, field: string): string | undefined {
  const path = field.split('.')
  const place = fieldAt(event.body.value, path) === undefined ? placeByKey(event, path) : { event: event.body, path }
  return place && plainTextAt(place.event, place.path)
}

/** Names of a webhook's headers, in lower case, whose values are redacted in records. */
export function secretHeadersOf({ deliveryAttributeMappings = [] }: WebHookProperties): ReadonlySet<string> {
  const secrets = deliveryAttributeMappings.filter(({ type, properties }) => type === 'Static' && properties.isSecret)
  return new Set(['authorization', ...secrets.map(({ name }) => name.toLowerCase())])
}

/** The headers for records: the token and the values of secret attributes are redacted. */
export function shownSentHeaders(
  headers: Readonly<Record<string, string>>,
  secret: ReadonlySet<string>,
): Record<string, string> {
  const shown = { ...headers }
  for (const name of Object.keys(shown)) if (secret.has(name.toLowerCase())) shown[name] = secretText
  return shown
}

/** The URL for records: user info and query may hold a key. */
export function shownUrl({ origin, pathname, search }: URL): string {
  return search ? `${origin}${pathname}?${secretText}` : `${origin}${pathname}`
}

/** What a subscriber answered, for records: cookies, and what it repeats of the queries of its URLs, are redacted. */
export function shownAnswer(
  { headers, body }: { readonly headers?: Readonly<Record<string, string>>; readonly body?: string },
  urls: readonly URL[],
) {
  const secrets = urls.flatMap(secretValuesOf)
  const shown = (text: string) => withoutValues(text, secrets)
  return {
    ...(headers && {
      responseHeaders: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, name === 'set-cookie' ? secretText : shown(value)]),
      ),
    }),
    ...(body !== undefined && { responseBody: shown(body) }),
  }
}
