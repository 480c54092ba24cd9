/** What Event Grid writes to Service Bus and Event Hubs: the body, the properties of each kind of broker, the message id. */
import { randomUUID } from 'node:crypto'
import { deliveredText } from '../../model/events/accepted-event.ts'
import type { EventSubscription } from '../../model/resources/event-subscription.ts'
import type { PendingEvent } from './channel.ts'
import { bodyOf, contentTypeOf, deliveryAttributeValues, deliverySchemaOf, eventHeaders } from './delivery-request.ts'

/** The kinds of broker. */
export type BrokerKind = 'serviceBus' | 'eventHubs'

/** A message in the form that the SDKs of both brokers take (`AmqpAnnotatedMessage`). */
export interface BrokerMessage {
  readonly body: Buffer
  readonly bodyType: 'data'
  readonly properties: Readonly<Record<string, string>>
  readonly applicationProperties: Readonly<Record<string, string>>
  readonly messageAnnotations: Readonly<Record<string, string>>
}

/** A message, and what records show of it. */
export interface ShownMessage {
  readonly message: BrokerMessage
  /** The body as text. */
  readonly text: string
  /** Its properties and annotations, by the names of delivery attributes. */
  readonly headers: Readonly<Record<string, string>>
}

/** A place in a message: `['properties', 'groupId']` is the session. */
type Place = readonly ['properties' | 'messageAnnotations', string]

const partitionKey: Place = ['messageAnnotations', 'x-opt-partition-key']

/** Delivery attributes that are no application properties, in lower case: names are taken without case (assumed). */
const places: Readonly<Record<BrokerKind, ReadonlyMap<string, Place>>> = {
  // Event Grid: delivery-properties, Service Bus example; Service Bus: service-bus-amqp-protocol-guide has the places.
  serviceBus: new Map<string, Place>([
    ['messageid', ['properties', 'messageId']],
    ['partitionkey', partitionKey],
    ['sessionid', ['properties', 'groupId']],
    ['correlationid', ['properties', 'correlationId']],
    ['label', ['properties', 'subject']],
    ['replyto', ['properties', 'replyTo']],
    ['replytosessionid', ['properties', 'replyToGroupId']],
    ['to', ['properties', 'to']],
    ['viapartitionkey', ['messageAnnotations', 'x-opt-via-partition-key']],
  ]),
  eventHubs: new Map([['partitionkey', partitionKey]]),
}

/**
 * The message of an event. Service Bus gets the event alone (azure-sdk issue 1553; App Configuration's client for .NET reads it so), Event
 * Hubs an array of one in both schemas (TriggerMesh's source reads that). The `aeg-` properties are those of a web hook's delivery.
 */
export function brokerMessageOf(
  kind: BrokerKind,
  subscription: EventSubscription,
  pending: PendingEvent,
): ShownMessage {
  const { event, attempts: deliveryCount } = pending
  const schema = deliverySchemaOf(subscription)
  const form = kind === 'serviceBus' ? 'single' : 'batch'
  const json = deliveredText(event, schema)
  const text = form === 'batch' ? bodyOf(schema, form, [json]) : json
  // The system's own id of the event, and so that of the message, is the same at each attempt (Event Grid: handler-service-bus).
  pending.systemId ??= randomUUID()
  const contentType = contentTypeOf(schema, form)
  const system = { ...eventHeaders({ subscription, event, deliveryCount }), 'aeg-output-event-id': pending.systemId }
  const attributes = deliveryAttributeValues(subscription, event)
  const placeOf = (name: string) => places[kind].get(name.toLowerCase())
  const placed = (section: Place[0]) =>
    attributes.flatMap(({ name, value }) => {
      const [at, field] = placeOf(name) ?? []
      return at === section && field !== undefined ? [[field, value] as const] : []
    })
  const others = attributes.flatMap(({ name, value }) => (placeOf(name) ? [] : [[name, value] as const]))
  return {
    message: {
      ...{ body: Buffer.from(text), bodyType: 'data' },
      properties: {
        contentType,
        ...(kind === 'serviceBus' && { messageId: pending.systemId }),
        ...Object.fromEntries(placed('properties')),
      },
      applicationProperties: { ...Object.fromEntries(others), ...system },
      messageAnnotations: Object.fromEntries(placed('messageAnnotations')),
    },
    text,
    headers: {
      ...{ 'content-type': contentType, ...system },
      ...Object.fromEntries(attributes.map(({ name, value }) => [name, value])),
    },
  }
}
