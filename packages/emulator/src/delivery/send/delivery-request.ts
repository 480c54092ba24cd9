// Headers of a delivery (`aeg-event-type`, `aeg-delivery-count`), content type, delivery attributes, batch body.
import { type AcceptedEvent, eventDataVersion } from '../../model/events/accepted-event.ts'
import { fieldAt, plainTextAt } from '../../model/events/event-text.ts'
import { placeByKey } from '../../model/events/filters.ts'
import {
  type DeliveryAttributeMapping,
  deliveryAttributesOf,
  type WebHookProperties,
} from '../../model/resources/destination.ts'
import { type DeliverySchema, destinationOf, type EventSubscription } from '../../model/resources/event-subscription.ts'
import { secretValuesOf, withoutValues } from '../../records/shown-request.ts'
import type { PendingEvent } from './channel.ts'

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

/** The body's media type. For batches of CloudEvents it is that of their specification; no capture of one was found. */
export function contentTypeOf(schema: DeliverySchema, form: 'single' | 'batch'): string {
  if (schema !== 'CloudEventSchemaV1_0') return 'application/json; charset=utf-8'
  return `application/cloudevents${form === 'batch' ? '-batch' : ''}+json; charset=utf-8`
}

/** The body: an array, or a single CloudEvent without batching. */
export function bodyOf(schema: DeliverySchema, form: 'single' | 'batch', events: readonly string[]): string {
  return form === 'single' && schema === 'CloudEventSchemaV1_0' ? events.join() : `[${events.join(',')}]`
}

interface DeliveredEvent {
  readonly subscription: EventSubscription
  /** The first event of the batch, for `aeg-data-version` and the dynamic attributes. */
  readonly event: AcceptedEvent
  /** @default Notification */
  readonly eventType?: PendingEvent['type']
  /** Number of attempts before this one. */
  readonly deliveryCount: number
}

/** What each delivery says of its event, in the spelling of the captures (Event Grid: message-headers). */
export function eventHeaders({ subscription, event, eventType, deliveryCount }: DeliveredEvent) {
  const cloudEvents = deliverySchemaOf(subscription) === 'CloudEventSchemaV1_0'
  return {
    'aeg-subscription-name': subscription.name.toUpperCase(),
    'aeg-delivery-count': String(deliveryCount),
    'aeg-data-version': cloudEvents ? '' : eventDataVersion(event),
    'aeg-metadata-version': '1',
    'aeg-event-type': eventType ?? 'Notification',
  }
}

interface DeliveryRequest extends DeliveredEvent {
  readonly form: 'single' | 'batch'
  readonly bearerToken?: string | undefined
}

/** The headers of a delivery by HTTP. */
export function deliveryHeaders(delivery: DeliveryRequest): Record<string, string> {
  const { subscription, event, bearerToken } = delivery
  const schema = deliverySchemaOf(subscription)
  const headers: Record<string, string> = {
    'content-type': contentTypeOf(schema, delivery.form),
    'accept-encoding': 'gzip, deflate',
    ...eventHeaders(delivery),
  }
  if (schema === 'CloudEventSchemaV1_0') headers.origin = eventGridOrigin
  for (const { name, value } of deliveryAttributeValues(subscription, event)) {
    if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) headers[name] = value
  }
  if (bearerToken !== undefined) headers.authorization = `Bearer ${bearerToken}`
  return headers
}

/** The delivery attributes of an event: of those whose value is a string, number or boolean of at most 4,096 bytes. */
export function deliveryAttributeValues({ properties }: EventSubscription, event: AcceptedEvent) {
  return (deliveryAttributesOf(destinationOf(properties)) ?? []).flatMap((mapping) => {
    const value = attributeValue(mapping, event)
    return value === undefined || Buffer.byteLength(value) > attributeLimitBytes ? [] : [{ name: mapping.name, value }]
  })
}

function attributeValue({ type, properties }: DeliveryAttributeMapping, event: AcceptedEvent): string | undefined {
  return type === 'Static' ? properties.value : sourceField(event, properties.sourceField)
}

function sourceField(event: AcceptedEvent, field: string): string | undefined {
  const path = field.split('.')
  const place = fieldAt(event.body.value, path) === undefined ? placeByKey(event, path) : { event: event.body, path }
  return place && plainTextAt(place.event, place.path)
}

/** Names of the headers of a delivery, in lower case, whose values are redacted in records. */
export function secretHeadersOf({ properties }: EventSubscription): ReadonlySet<string> {
  const attributes = deliveryAttributesOf(destinationOf(properties)) ?? []
  const secrets = attributes.filter((attribute) => attribute.type === 'Static' && attribute.properties.isSecret)
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
export function shownUrl({ protocol, host, pathname, search }: URL): string {
  // A URL of the scheme sb has no origin.
  return `${protocol}//${host}${pathname}${search ? `?${secretText}` : ''}`
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
