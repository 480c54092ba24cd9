/** What a request of the interface may hold: its check and its OpenAPI document follow from these schemas. */
import { z } from 'zod'
import { eventSubscription } from '../config/resource-fields.ts'
import type { Members } from '../model/schemas.ts'
import { requestRoutes } from '../records/record-types.ts'
import { publishLimits } from '../topics/parse-published.ts'

/** The form of a duration: whole numbers, each with its unit. */
const durationForm = /^(?:\d{1,9}(?:ms|s|m|h|d))+$/

/** A field that may be left out. */
const maybe = <Schema extends z.ZodType>(schema: Schema) => z.exactOptional(schema)
const text = z.string()
const name = z.string().min(1).max(4096)
const anything = z.unknown()

const duration = (most: string) =>
  z
    .string()
    .max(100)
    .regex(durationForm, 'must be a duration, such as 10s or 1h30m')
    .refine((text) => durationMs(text) <= durationMs(most), `must be ${most} or less`)

export const eventFates = ['delivered', 'pending', 'dead-lettered', 'dropped', 'unmatched', 'unserved'] as const

/** Which events are wanted; by default all. */
export interface EventQuery {
  /** Name or resource id of a topic, domain or system topic; of a namespace topic `{namespace}/{topic}`. */
  readonly topic?: string | undefined
  readonly type?: string | undefined
  readonly subject?: string | undefined
  /** The newest so many of them. */
  readonly limit?: number | undefined
}

export const eventsQuery = z.strictObject({
  topic: maybe(name.describe('Name or resource id of a topic, domain or system topic, or {namespace}/{topic}')),
  type: maybe(name.describe('The type of the event')),
  subject: maybe(text.max(4096).describe('The subject of the event')),
  limit: maybe(z.int().min(1).describe('The newest so many events. Default: all that are kept')),
} satisfies Members<EventQuery>)

export const searchQuery = z.strictObject({ text: text.max(4096).describe('What a body has to hold') })

export const eventActionRequest = z.strictObject({
  subscription: maybe(
    name.describe('Name or resource id of an event subscription. Default: the only one that the event went to'),
  ),
})

export const publishRequest = z.strictObject({
  events: text.describe('An event, or a list of events, as a JSON text: numbers keep their digits'),
})

export const requestsQuery = z.strictObject({
  route: maybe(z.enum(requestRoutes).describe('The part of the emulator that answered')),
})

export const settleRequest = z.strictObject({
  timeout: maybe(duration('10m').describe('How long to wait, in real time, 10m at most. Default: 10s')),
})

export const waitRequest = eventsQuery.extend({
  count: maybe(z.int().min(1).describe('How many events at least. Default: 1')),
  fate: maybe(
    z.enum(eventFates).describe('What became of the event at one event subscription at least. Default: anything'),
  ),
  ...settleRequest.shape,
})

/** What may be reset besides events, queues, records and faults. */
export interface ResetOptions {
  /**
   * Whether topics, event subscriptions, clients and roles become those that the options declare: what was changed or deleted comes back,
   * what was made besides is removed. @default false
   */
  readonly resources?: boolean | undefined
}

export const resetRequest = z.strictObject({
  resources: maybe(
    z.boolean().describe('Whether topics, event subscriptions, clients and roles become what the options declare'),
  ),
} satisfies Members<ResetOptions>)

export const clockRequest = z.strictObject({
  advance: duration('400d').describe('By how much, 400d at most'),
})

const object = z.record(z.string(), anything)

export const raiseRequest = z
  .union([object, z.array(object).max(publishLimits.events)])
  .describe('An event, or a list of events')

const role = name.describe('Name or id of a built-in role')
const scope = z.string().startsWith('/', 'must begin with a slash').max(4096)
const client = name.describe('An application id. Default: that of the first client')

export const roleRequest = z.strictObject({
  clientId: maybe(client),
  role,
  scope: maybe(scope.describe('Where the role applies, and below. Default: /, everywhere')),
})

export const assertionRequest = z.strictObject({ clientId: maybe(client) })

export const roleQuery = z.strictObject({
  clientId: maybe(client),
  role: maybe(role.describe('Name or id of a built-in role. Default: all roles, at every scope')),
  scope: maybe(scope.describe('Where the role was given. Default: /')),
})

export const subscriptionRequest = eventSubscription.extend({
  endpoint: maybe(
    text
      .max(4096)
      .describe('URL of its webhook: https, or an http URL of this machine. Default: that of properties.destination'),
  ),
})

export const subscriptionQuery = subscriptionRequest.pick({ name: true, topic: true, scope: true })

export const rotateRequest = z.strictObject({
  forget: maybe(z.boolean().describe('Whether older tokens become invalid. Default: false')),
})

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** The milliseconds of a duration that a schema of the interface took. */
export const durationMs = (text: string): number =>
  [...text.matchAll(/(\d{1,9})(ms|s|m|h|d)/g)].reduce(
    (ms, [, count, unit = '']) => ms + Number(count) * (units[unit] ?? 0),
    0,
  )

/** The JSON Schema of a schema of the interface, in the dialect of OpenAPI 3.1. */
export function jsonSchemaOf(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema)
  return rest
}
