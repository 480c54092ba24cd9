/** Which settings an event subscription may be given by a PUT, a PATCH or a configuration. */
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import { canConvert } from '../../model/events/accepted-event.ts'
import { ownField } from '../../model/events/event-text.ts'
import { type Destination, deliveryAttributesOf } from '../../model/resources/destination.ts'
import {
  type DeliverySchema,
  destinationOf,
  type EventSubscriptionProperties,
  eventSubscriptionSettings,
} from '../../model/resources/event-subscription.ts'
import { type InputSchema, sameName } from '../../model/resources/resource.ts'
import { memberNames, plainWords, spelledMembers } from '../../model/schemas.ts'
import { knownTo } from '../call/api-versions.ts'
import { withoutEmptyExpiry, withoutNulls } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'

/** Headers that a request needs as they are: an attribute of such a name would break the delivery. */
const reservedHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['host', 'content-length', 'content-type', 'content-encoding'],
])

/** The names of all settings of an event subscription, at any depth, for a did-you-mean. */
export const settingNames = (): readonly string[] => memberNames(eventSubscriptionSettings)

export interface DeclaredEventSubscription {
  readonly name: string
  /** The URL of its webhook. @default the one in `properties.destination` */
  readonly endpoint?: string
  /** All other settings, in ARM's shape. */
  readonly properties?: Readonly<Record<string, unknown>>
}

export interface WriteContext {
  /** What is younger than it is left out. @default all is taken */
  readonly apiVersion?: string
  readonly name: string
  /** The existing settings, for PATCH. */
  readonly existing?: EventSubscriptionProperties | undefined
  /** The input schema of a custom topic; undefined for other sources, which send Event Grid events. */
  readonly inputSchema?: InputSchema | undefined
  readonly now: number
}

/**
 * Reads the settings of a PUT body (`{ properties }`) or a PATCH body (fields at top level). PATCH replaces whole
 * top-level fields; null counts as absent. Throws an ArmError.
 */
export function parseEventSubscription(
  method: 'PUT' | 'PATCH',
  body: unknown,
  context: WriteContext,
): EventSubscriptionProperties {
  if (!/^[A-Za-z0-9-]{3,64}$/.test(context.name)) {
    throw armErrors.invalidRequest(
      'Invalid event subscription name. It must be between 3 and 64 characters long and can only contain letters, digits and hyphens.',
    )
  }
  const given = parseSettings(method, body, context)
  const merged = method === 'PATCH' ? merge(context.existing ?? {}, given) : given
  checkSettings(merged, given, context)
  return { ...merged, eventDeliverySchema: merged.eventDeliverySchema ?? defaultDeliverySchema(context.inputSchema) }
}

/** The settings of an event subscription that options declare. Throws an ArmError that says what is wrong with them. */
export function declaredProperties(
  { name, endpoint, properties = {} }: DeclaredEventSubscription,
  inputSchema: InputSchema | undefined,
  now: number,
): EventSubscriptionProperties {
  const destination = ownField(properties, 'destination')
  const more = ownField(destination, 'properties')
  const webhook = {
    endpointType: 'WebHook',
    properties: { ...(isRecord(more) && more), ...(endpoint !== undefined && { endpointUrl: endpoint }) },
  }
  const merged = { ...properties, destination: endpoint === undefined ? destination : webhook }
  return parseEventSubscription('PUT', { properties: merged }, { name, inputSchema, now })
}

function parseSettings(
  method: 'PUT' | 'PATCH',
  body: unknown,
  { apiVersion, existing }: WriteContext,
): EventSubscriptionProperties {
  const whole = spelledMembers(eventSubscriptionSettings, withoutNulls(body))
  const clean = apiVersion === undefined ? whole : knownTo(apiVersion, whole)
  if (!isRecord(clean)) throw armErrors.invalidEventSubscription('the request body is missing.')
  const wrapped = method === 'PUT' ? clean.properties : clean
  if (method === 'PATCH' && 'properties' in clean) {
    throw armErrors.invalidContent(
      "Could not find member 'properties' on object of type 'EventSubscriptionUpdateParameters'",
    )
  }
  if (!isRecord(wrapped)) throw armErrors.invalidEventSubscription('properties cannot be null.')
  const wanted = withoutEmptyExpiry(wrapped)
  refusePartner(wanted)
  const parsed = eventSubscriptionSettings.safeParse(method === 'PATCH' ? withStoredUrl(wanted, existing) : wanted, {
    error: plainWords,
  })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const at = (issue?.path ?? []).map((part) => (typeof part === 'number' ? part : String(part)))
  throw armErrors.invalidProperty(at, issue?.message ?? 'is not taken')
}

/** Partner destinations stand in previews of the API alone. Throws an ArmError. */
function refusePartner({ destination }: Readonly<Record<string, unknown>>): void {
  const type = ownField(destination, 'endpointType')
  if (typeof type === 'string' && sameName(type, 'PartnerDestination')) {
    throw armErrors.notSupported('destinations of the type PartnerDestination')
  }
}

/** A PATCH whose webhook has no URL keeps the stored URL: `az eventgrid event-subscription update` sends none. */
function withStoredUrl(
  given: Readonly<Record<string, unknown>>,
  existing: EventSubscriptionProperties | undefined,
): Readonly<Record<string, unknown>> {
  const stored = existing && destinationOf(existing)
  if (stored?.endpointType !== 'WebHook') return given
  const { endpointUrl } = stored.properties
  const filled = (destination: unknown): unknown => {
    if (!isRecord(destination) || !sameName(String(destination.endpointType), 'WebHook')) return destination
    const { properties } = destination
    return { ...destination, properties: { endpointUrl, ...(isRecord(properties) && properties) } }
  }
  const { destination, deliveryWithResourceIdentity: delivery } = given
  return {
    ...given,
    ...(destination !== undefined && { destination: filled(destination) }),
    ...(isRecord(delivery) && {
      deliveryWithResourceIdentity: { ...delivery, destination: filled(delivery.destination) },
    }),
  }
}

function merge(existing: EventSubscriptionProperties, given: EventSubscriptionProperties): EventSubscriptionProperties {
  const merged = { ...existing, ...given }
  // A destination with an identity excludes one without.
  if (given.destination) delete merged.deliveryWithResourceIdentity
  if (given.deliveryWithResourceIdentity) delete merged.destination
  if (given.deadLetterDestination) delete merged.deadLetterWithResourceIdentity
  if (given.deadLetterWithResourceIdentity) delete merged.deadLetterDestination
  return merged
}

/** Checks what a schema can't say. Throws an ArmError. */
function checkSettings(
  merged: EventSubscriptionProperties,
  given: EventSubscriptionProperties,
  { apiVersion, inputSchema, now }: WriteContext,
): void {
  const target = destinationOf(merged)
  if (!target) throw armErrors.invalidEventSubscription('the destination cannot be null.')
  if (target.endpointType === 'WebHook') {
    if (!isHttpsUrl(target.properties.endpointUrl)) {
      // The newest version has other words (recorded, .NET 2025).
      throw armErrors.invalidEventSubscription(
        apiVersion !== undefined && apiVersion >= '2025-07'
          ? 'The endpoint URL is invalid as it should be specified and cannot be null or empty and should follow the proper https ' +
              'URL format (e.g., https://www.example.com).'
          : 'Supplied URL is invalid. It cannot be null or empty and should be a proper HTTPS URL like https://www.example.com.',
      )
    }
  }
  checkAttributeNames(target)
  if (given.expirationTimeUtc !== undefined && !(Date.parse(given.expirationTimeUtc) > now)) {
    throw armErrors.invalidRequest('Invalid expiration time.')
  }
  const { eventDeliverySchema: schema = defaultDeliverySchema(inputSchema) } = merged
  if (!canConvert(inputSchema ?? 'EventGridSchema', schema)) {
    throw armErrors.invalidRequest(
      `The specified EventDeliverySchema value "${schema}" cannot be used in combination with the topic's input schema ` +
        `of ${inputSchema ?? 'EventGridSchema'}.`,
    )
  }
  if (target.endpointType === 'NamespaceTopic' && schema !== 'CloudEventSchemaV1_0') {
    throw armErrors.invalidEventSubscription(
      `the event delivery schema of a destination of the type NamespaceTopic must be CloudEventSchemaV1_0, not ${schema}.`,
    )
  }
}

function checkAttributeNames(target: Destination): void {
  const names = (deliveryAttributesOf(target) ?? []).map(({ name }) => name.toLowerCase())
  if (new Set(names).size < names.length) {
    throw armErrors.invalidEventSubscription('delivery attribute names must be unique.')
  }
  const isWebhook = target.endpointType === 'WebHook'
  const [reserved] = names.filter((name) => reservedHeaders.has(name))
  if (reserved !== undefined && (isWebhook || target.endpointType === 'AzureFunction')) {
    throw armErrors.invalidEventSubscription(
      `the delivery attribute name '${reserved}' is that of a header which belongs to the connection or to the message itself.`,
    )
  }
  const isSecured = isWebhook && target.properties.azureActiveDirectoryApplicationIdOrUri !== undefined
  if (names.some((name) => name.startsWith('aeg-')) || (isSecured && names.includes('authorization'))) {
    throw armErrors.invalidEventSubscription(
      "delivery attribute names cannot start with 'aeg-', and " +
        "cannot be 'Authorization' when Microsoft Entra ID secures the delivery.",
    )
  }
}

/** By default events are delivered in their input schema (az eventgrid event-subscription create). */
function defaultDeliverySchema(input: InputSchema = 'EventGridSchema'): DeliverySchema {
  return input === 'CustomEventSchema' ? 'CustomInputSchema' : input
}

function isHttpsUrl(value: string): boolean {
  const url = URL.parse(value)
  return url?.protocol === 'https:' && url.hostname !== '' && !/\s/.test(value)
}
