/** The requests and answers of the interface. What is checked, and what its OpenAPI document says, follows from these schemas. */
import { z } from 'zod'
import { inputSchemas } from '../model/resources/input-schema.ts'
import { faultRoutes } from '../server/faults.ts'
import { publishLimits } from '../topics/parse-published.ts'
import { durationForm } from './durations.ts'

/** A field that may be left out. */
const maybe = <Schema extends z.ZodType>(schema: Schema) => z.exactOptional(schema)
const text = z.string()
const count = z.int().min(0)
const time = z.number().describe("Milliseconds since 1970, by the emulator's clock")
const name = z.string().min(1).max(4096)
const duration = z.string().max(100).regex(durationForm, 'must be a duration, such as 10s or 1h30m')
const anything = z.unknown()

/** The most events that a request may ask for: as many as the page may keep. */
const mostEvents = 5000

const requestRoutes = z.enum(['arm', 'entra', 'topic', 'namespace', 'blob'])

// Requests.

export const eventsQuery = z.strictObject({
  topic: maybe(name.describe('Name or resource id of a topic, domain or system topic, or {namespace}/{topic}')),
  type: maybe(name.describe('The type of the event')),
  subject: maybe(text.max(4096).describe('The subject of the event')),
  limit: maybe(z.int().min(1).max(mostEvents).describe('The newest so many events. Default: all that are kept')),
})

export const requestsQuery = z.strictObject({
  route: maybe(requestRoutes.describe('The part of the emulator that answered')),
})

export const settleRequest = z.strictObject({
  timeout: maybe(duration.describe('How long to wait, in real time, 10m at most. Default: 10s')),
})

export const resetRequest = z.strictObject({
  resources: maybe(
    z.boolean().describe('Whether topics, event subscriptions, clients and roles become what the options declare'),
  ),
})

export const faultRequest = z.strictObject({
  route: z.enum(faultRoutes),
  matches: maybe(
    z
      .strictObject({
        method: maybe(name.describe('In any letter case')),
        url: maybe(name.describe('A part of path and query; of the whole URL for delivery')),
      })
      .describe('Only these calls. Default: every call'),
  ),
  times: maybe(z.int().min(1).max(1_000_000_000).describe('How many calls. Default: 1')),
  status: maybe(z.int().min(200).max(599).describe('Answer with this status')),
  code: maybe(text.max(200).describe("Error code of that answer's body, or of the operation")),
  message: maybe(text.max(2000).describe("Error message of that answer's body")),
  details: maybe(
    z
      .array(z.strictObject({ code: text.max(200), target: maybe(text.max(2000)), message: text.max(2000) }))
      .max(20)
      .describe("Details of an operation's error"),
  ),
  retryAfter: maybe(z.number().min(0).max(1_000_000_000).describe('Retry-After of that answer, in seconds')),
  delayMs: maybe(z.number().min(0).max(1_000_000_000).describe("Wait so long first, by the emulator's clock")),
  drop: maybe(z.boolean().describe('Close the connection without an answer')),
})

export const clockRequest = z.strictObject({
  advance: duration.describe('By how much, 400d at most'),
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

export const roleQuery = z.strictObject({
  clientId: maybe(client),
  role: maybe(role.describe('Name or id of a built-in role. Default: all roles, at every scope')),
  scope: maybe(scope.describe('Where the role was given. Default: /')),
})

export const rotateRequest = z.strictObject({
  forget: maybe(z.boolean().describe('Whether older tokens become invalid. Default: false')),
})

// Answers.

const attempt = z.strictObject({
  at: time,
  status: maybe(z.int()),
  error: maybe(text.describe('Why there was no answer, or what it means')),
  outcome: z.enum(['delivered', 'retry', 'dead-lettered', 'dropped']),
  durationMs: z.number(),
  nextTryAt: maybe(time),
})

const subscriptionFate = z.strictObject({
  name: text,
  id: text,
  state: z
    .enum(['delivered', 'pending', 'dead-lettered', 'dropped', 'unmatched', 'unserved'])
    .describe('unserved: the event matches, and is not delivered, for the reason that is given'),
  tries: count,
  attempts: z.array(attempt),
  nextTryAt: maybe(time),
  reason: maybe(text),
  blobPath: maybe(text),
})

const publishedEvent = z.strictObject({
  key: count.describe('Ascending in the order of arrival'),
  at: time,
  topic: text.describe('Its name; of a namespace topic {namespace}/{topic}'),
  topicId: text,
  id: text,
  type: text,
  subject: text,
  schema: z.enum(inputSchemas),
  event: maybe(anything).describe('The event as it was sent; absent where body is cut'),
  body: text.describe('The same as JSON text, cut after 16,384 bytes'),
  truncated: z.boolean().describe('Whether body is cut'),
  subscriptions: z.array(subscriptionFate),
  furtherSubscriptions: count,
})

export const eventsAnswer = z.strictObject({
  events: z.array(publishedEvent).describe('Oldest first'),
  leftOut: count.describe('Events that are no longer kept'),
})

export const deadLettersAnswer = z.strictObject({
  deadLetters: z
    .array(
      z.strictObject({
        at: time,
        subscription: text,
        subscriptionId: text,
        reason: text,
        blobPath: maybe(text.describe('Absent where the event was dropped')),
        event: anything.describe('As the blob has it'),
      }),
    )
    .describe('Oldest first'),
})

const eventList = z.strictObject({ count, first: z.array(z.strictObject({ type: text, id: text })) })

const publishSummary = z.strictObject({
  topic: text,
  isCheck: maybe(z.literal(true)),
  events: maybe(eventList),
  unwanted: maybe(eventList),
  unserved: maybe(z.array(z.strictObject({ subscriptionName: text, because: text }))),
})

export const requestsAnswer = z.strictObject({
  requests: z
    .array(
      z.strictObject({
        at: time,
        route: requestRoutes,
        method: text,
        url: text,
        headers: z.record(z.string(), z.union([text, z.array(text)])),
        body: maybe(anything),
        status: z.int(),
        code: maybe(text),
        message: maybe(text),
        publish: maybe(publishSummary),
        receive: maybe(
          z.strictObject({ topic: text, subscriptionName: text, events: eventList, deliveryCount: count }),
        ),
        clientId: maybe(text),
        requestId: text,
      }),
    )
    .describe('Oldest first, secrets masked'),
})

export const settleAnswer = z.strictObject({ settled: z.literal(true) })
export const clockAnswer = z.strictObject({ now: time })
export const raiseAnswer = z.strictObject({ raised: count })

export const rolesAnswer = z.strictObject({
  roles: z.array(z.strictObject({ role: text, scope: text })).describe('The roles that the client has now'),
})

const language = z.strictObject({ variables: z.record(z.string(), z.string()), notes: z.array(text) })
const resource = { name: text, id: text }
const published = z.strictObject({
  ...resource,
  endpoint: text,
  httpEndpoint: text,
  ownEndpoint: maybe(text),
  key: text,
})

export const environmentAnswer = z.strictObject({
  http: text.describe('Base URL of topics over http, of this interface, and the CONNECT proxy'),
  https: text.describe('Base URL of Resource Manager, Entra and topics'),
  ca: text.describe('The certificate authority, PEM'),
  caFile: maybe(text.describe('A file that holds it')),
  clock: z.enum(['machine', 'manual']),
  subscriptionId: text,
  clients: z.array(z.strictObject({ tenantId: text, clientId: text, clientSecret: text })),
  topics: z.array(published),
  domains: z.array(published),
  systemTopics: z.array(z.strictObject({ ...resource, source: text })),
  namespaceTopics: z.array(z.strictObject({ ...resource, namespaceEndpoint: text, endpoint: text, key: text })),
  languages: z.strictObject({ python: language, go: language, java: language, node: language, sh: language }),
})

export const documentAnswer = z.looseObject({ openapi: text })

/** RFC 9457. */
export const problem = z.strictObject({
  type: text,
  title: text,
  status: z.int(),
  detail: text,
  errors: maybe(
    z
      .array(z.strictObject({ field: text, message: text }))
      .describe('The faults of the request, by the names of its fields; empty for the body itself'),
  ),
  pending: maybe(
    z
      .array(z.strictObject({ subscription: text, subscriptionId: text, topic: text, detail: text }))
      .describe('What was pending when the time was over'),
  ),
})
