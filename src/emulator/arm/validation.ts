import { z } from 'zod'
import { isRecord } from '../../support/is-record.ts'
import { canConvert } from '../model/convert-schema.ts'
import { ownField } from '../model/json-object.ts'
import {
  type AdvancedFilter,
  type DeliverySchema,
  destinationOf,
  type EventSubscriptionProperties,
  type InputSchema,
} from '../model/model.ts'
import { type ArmError, armErrors } from './errors.ts'

/** Most advanced filters, and most values in all of them, of one event subscription (Event Grid: event-filtering). */
const mostAdvancedFilters = 25
const longestFilterText = 512
const mostDeliveryAttributes = 10
const longestAttributeBytes = 4096

const text = z.string()
const filterText = text.max(longestFilterText, `must be no longer than ${longestFilterText} characters`)
const endpointTypes = [
  'EventHub',
  'StorageQueue',
  'HybridConnection',
  'ServiceBusQueue',
  'ServiceBusTopic',
  'AzureFunction',
  'MonitorAlert',
  'NamespaceTopic',
] as const

const deliveryAttribute = z.discriminatedUnion('type', [
  z.object({
    name: text.min(1),
    type: z.literal('Static'),
    properties: z.object({
      value: text.refine((value) => Buffer.byteLength(value) <= longestAttributeBytes, {
        message: `must be no longer than ${longestAttributeBytes} bytes`,
      }),
      isSecret: z.exactOptional(z.boolean()),
    }),
  }),
  z.object({
    name: text.min(1),
    type: z.literal('Dynamic'),
    properties: z.object({ sourceField: text.min(1) }),
  }),
])

const webHook = z.object({
  // A missing or null URL gets the same answer as a malformed one, so it is looked at afterwards.
  endpointUrl: text.catch(''),
  maxEventsPerBatch: z.exactOptional(z.int().min(1).max(5000)),
  preferredBatchSizeInKilobytes: z.exactOptional(z.int().min(1).max(1024)),
  azureActiveDirectoryTenantId: z.exactOptional(text),
  azureActiveDirectoryApplicationIdOrUri: z.exactOptional(text),
  deliveryAttributeMappings: z.exactOptional(
    z.array(deliveryAttribute).max(mostDeliveryAttributes, `must have no more than ${mostDeliveryAttributes} items`),
  ),
  minimumTlsVersionAllowed: z.exactOptional(z.enum(['1.0', '1.1', '1.2'])),
})

const destination = z.discriminatedUnion('endpointType', [
  z.object({ endpointType: z.literal('WebHook'), properties: webHook.default({ endpointUrl: '' }) }),
  z.object({ endpointType: z.enum(endpointTypes), properties: z.record(text, z.unknown()).default({}) }),
])

const key = text.min(1)
const number = z.number()
const advancedFilter = z.discriminatedUnion('operatorType', [
  z.object({ operatorType: z.enum(['NumberIn', 'NumberNotIn']), key, values: z.array(number) }),
  z.object({
    operatorType: z.enum(['NumberInRange', 'NumberNotInRange']),
    key,
    values: z.array(z.tuple([number, number])),
  }),
  z.object({
    operatorType: z.enum([
      'NumberLessThan',
      'NumberGreaterThan',
      'NumberLessThanOrEquals',
      'NumberGreaterThanOrEquals',
    ]),
    key,
    value: number,
  }),
  z.object({
    operatorType: z.enum([
      'StringIn',
      'StringNotIn',
      'StringBeginsWith',
      'StringNotBeginsWith',
      'StringEndsWith',
      'StringNotEndsWith',
      'StringContains',
      'StringNotContains',
    ]),
    key,
    values: z.array(filterText),
  }),
  z.object({ operatorType: z.literal('BoolEquals'), key, value: z.boolean() }),
  z.object({ operatorType: z.enum(['IsNullOrUndefined', 'IsNotNull']), key }),
])

const filter = z.object({
  subjectBeginsWith: z.exactOptional(filterText),
  subjectEndsWith: z.exactOptional(filterText),
  includedEventTypes: z.exactOptional(z.array(filterText)),
  isSubjectCaseSensitive: z.exactOptional(z.boolean()),
  enableAdvancedFilteringOnArrays: z.exactOptional(z.boolean()),
  advancedFilters: z.exactOptional(
    z
      .array(advancedFilter)
      .max(mostAdvancedFilters, `must have no more than ${mostAdvancedFilters} items`)
      .refine((all) => all.reduce((sum, one) => sum + valuesOf(one), 0) <= mostAdvancedFilters, {
        message: `must have no more than ${mostAdvancedFilters} values in all`,
      }),
  ),
})

function valuesOf(one: AdvancedFilter): number {
  if ('values' in one) return one.values.length
  return 'value' in one ? 1 : 0
}

const deadLetterDestination = z.object({
  endpointType: z.literal('StorageBlob'),
  properties: z.object({ resourceId: text.min(1), blobContainerName: text.min(1) }),
})

const settings = z.object({
  destination: z.exactOptional(destination),
  deliveryWithResourceIdentity: z.exactOptional(z.object({ identity: z.exactOptional(z.unknown()), destination })),
  filter: z.exactOptional(filter),
  labels: z.exactOptional(z.array(text)),
  expirationTimeUtc: z.exactOptional(text),
  eventDeliverySchema: z.exactOptional(z.enum(['EventGridSchema', 'CustomInputSchema', 'CloudEventSchemaV1_0'])),
  retryPolicy: z.exactOptional(
    z.object({
      maxDeliveryAttempts: z.exactOptional(z.int().min(1).max(30)),
      eventTimeToLiveInMinutes: z.exactOptional(z.int().min(1).max(1440)),
    }),
  ),
  deadLetterDestination: z.exactOptional(deadLetterDestination),
  deadLetterWithResourceIdentity: z.exactOptional(
    z.object({ identity: z.exactOptional(z.unknown()), deadLetterDestination }),
  ),
})

/** An event subscription as options declare it. */
export interface DeclaredEventSubscription {
  readonly name: string
  /** The URL of its webhook. @default the one in `properties.destination` */
  readonly endpoint?: string
  /** All other settings, in ARM's shape. */
  readonly properties?: Readonly<Record<string, unknown>>
}

/** What a request to write an event subscription is checked against. */
export interface WriteContext {
  readonly name: string
  /** The settings that stand, for PATCH. */
  readonly existing?: EventSubscriptionProperties | undefined
  /** The source's input schema; undefined for a source that is no custom topic: it sends Event Grid events. */
  readonly inputSchema?: InputSchema | undefined
  readonly now: number
}

/**
 * The settings that a PUT body (`{ properties }`) or a PATCH body (fields at top level) asks for.
 * PATCH replaces each top-level field that it names whole; null counts as not named. Throws an ArmError.
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
  const given = parseSettings(method, body)
  const merged = method === 'PATCH' ? merge(context.existing ?? {}, given) : given
  const fault = faultOf(merged, given, context)
  if (fault) throw fault
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

function parseSettings(method: 'PUT' | 'PATCH', body: unknown): EventSubscriptionProperties {
  const clean = withoutNulls(body)
  if (!isRecord(clean))
    throw armErrors.invalidRequest('Invalid event subscription request: the request body is missing.')
  const wrapped = method === 'PUT' ? clean.properties : clean
  if (method === 'PATCH' && 'properties' in clean) {
    throw armErrors.invalidContent(
      "Could not find member 'properties' on object of type 'EventSubscriptionUpdateParameters'",
    )
  }
  if (!isRecord(wrapped))
    throw armErrors.invalidRequest('Invalid event subscription request: properties cannot be null.')
  const parsed = settings.safeParse(wrapped)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw armErrors.invalidRequest(
    `Invalid event subscription request: property '${issue?.path.join('.') ?? ''}' is invalid. ${issue?.message ?? ''}.`,
  )
}

function merge(existing: EventSubscriptionProperties, given: EventSubscriptionProperties): EventSubscriptionProperties {
  const merged = { ...existing, ...given }
  // The plain form and the one with an identity exclude each other.
  if (given.destination) delete merged.deliveryWithResourceIdentity
  if (given.deliveryWithResourceIdentity) delete merged.destination
  if (given.deadLetterDestination) delete merged.deadLetterWithResourceIdentity
  if (given.deadLetterWithResourceIdentity) delete merged.deadLetterDestination
  return merged
}

function faultOf(
  merged: EventSubscriptionProperties,
  given: EventSubscriptionProperties,
  { inputSchema, now }: WriteContext,
): ArmError | undefined {
  const target = destinationOf(merged)
  if (!target) {
    return armErrors.invalidRequest('Invalid event subscription request: the destination cannot be null.')
  }
  if (target.endpointType === 'WebHook') {
    if (!isHttpsUrl(target.properties.endpointUrl)) return armErrors.invalidUrl()
    const entra = target.properties.azureActiveDirectoryApplicationIdOrUri !== undefined
    const names = (target.properties.deliveryAttributeMappings ?? []).map(({ name }) => name.toLowerCase())
    if (new Set(names).size < names.length) {
      return armErrors.invalidRequest('Invalid event subscription request: delivery attribute names must be unique.')
    }
    if (names.some((name) => name.startsWith('aeg-')) || (entra && names.includes('authorization'))) {
      return armErrors.invalidRequest(
        "Invalid event subscription request: delivery attribute names cannot start with 'aeg-', and cannot be 'Authorization' when Microsoft Entra ID secures the delivery.",
      )
    }
  }
  if (given.expirationTimeUtc !== undefined && !(Date.parse(given.expirationTimeUtc) > now)) {
    return armErrors.invalidRequest('Invalid expiration time.')
  }
  const schema = merged.eventDeliverySchema
  if (schema && !canConvert(inputSchema ?? 'EventGridSchema', schema)) {
    return armErrors.invalidRequest(
      `Invalid event subscription request: event delivery schema ${schema} is not supported for a topic with input schema ${inputSchema ?? 'EventGridSchema'}.`,
    )
  }
  return undefined
}

/** The schema that events come in is the one that they go out in (az eventgrid event-subscription create). */
function defaultDeliverySchema(input: InputSchema = 'EventGridSchema'): DeliverySchema {
  return input === 'CustomEventSchema' ? 'CustomInputSchema' : input
}

function isHttpsUrl(value: string): boolean {
  const url = URL.parse(value)
  return url?.protocol === 'https:' && url.hostname !== '' && !/\s/.test(value)
}

/** As deep as Azure reads JSON. */
const deepestNest = 64

/** Without the members that are null, at any depth. */
function withoutNulls(value: unknown, depth = 0): unknown {
  if (depth > deepestNest) throw armErrors.invalidContent(`The reader's MaxDepth of ${deepestNest} has been exceeded`)
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth + 1))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, withoutNulls(member, depth + 1)]),
  )
}
