/** The requests and answers of the interface. What is checked, and what its OpenAPI document says, follows from these schemas. */
import { z } from 'zod'
import { inputSchemas } from '../model/resources/input-schema.ts'
import { fateStates } from '../records/event-trail.ts'
import { faultRoutes } from '../server/faults.ts'
import { publishLimits } from '../topics/parse-published.ts'
import { durationForm } from './durations.ts'

/** A field that may be left out. */
const maybe = <Schema extends z.ZodType>(schema: Schema) => z.exactOptional(schema)
/** The same in an answer whose value may be undefined, which JSON leaves out. */
const some = <Schema extends z.ZodType>(schema: Schema) => z.optional(schema)
const text = z.string()
const count = z.int().min(0)
const time = z.number().describe("Milliseconds since 1970, by the emulator's clock")
const name = z.string().min(1).max(4096)
const duration = z.string().max(100).regex(durationForm, 'must be a duration, such as 10s or 1h30m')
const anything = z.unknown()

/** The most events that a request may ask for: as many as the page may keep. */
const mostEvents = 5000

const eventFates = ['delivered', 'pending', 'dead-lettered', 'dropped', 'unmatched', 'unserved'] as const

const requestRoutes = z.enum(['arm', 'entra', 'topic', 'namespace', 'blob'])

// Requests.

export const eventsQuery = z.strictObject({
  topic: maybe(name.describe('Name or resource id of a topic, domain or system topic, or {namespace}/{topic}')),
  type: maybe(name.describe('The type of the event')),
  subject: maybe(text.max(4096).describe('The subject of the event')),
  limit: maybe(z.int().min(1).max(mostEvents).describe('The newest so many events. Default: all that are kept')),
})

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
  route: maybe(requestRoutes.describe('The part of the emulator that answered')),
})

export const settleRequest = z.strictObject({
  timeout: maybe(duration.describe('How long to wait, in real time, 10m at most. Default: 10s')),
})

export const waitRequest = z.strictObject({
  topic: maybe(name.describe('Name or resource id of a topic, domain or system topic, or {namespace}/{topic}')),
  type: maybe(name.describe('The type of the event')),
  subject: maybe(text.max(4096).describe('The subject of the event')),
  count: maybe(z.int().min(1).max(mostEvents).describe('How many events at least. Default: 1')),
  fate: maybe(
    z.enum(eventFates).describe('What became of the event at one event subscription at least. Default: anything'),
  ),
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

export const assertionRequest = z.strictObject({ clientId: maybe(client) })

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
  state: z.enum(eventFates).describe('unserved: the event matches, and is not delivered, for the reason that is given'),
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

export const assertionAnswer = z.strictObject({ assertion: text })

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
  storage: z.array(z.strictObject({ account: text, id: text, blobEndpoint: text, azurite: text })),
  languages: z.strictObject({ python: language, go: language, java: language, node: language, sh: language }),
})

const fate = z.strictObject({
  subscriptionId: text,
  name: text,
  pull: z.boolean().describe('Whether a receiver pulls the event'),
  state: z.enum(fateStates),
  tries: count,
  nextTryAt: some(time),
  reason: some(text),
  answer: some(text.describe('The status of the last answer, or why there was none')),
  durationMs: some(z.number()),
})

const eventLine = {
  key: count,
  at: time,
  topic: text.describe('Resource id'),
  ...{ source: text, id: text, type: text, subject: text },
  further: some(count.describe('Number of further event subscriptions that match')),
}
const listedEvent = z.strictObject({ ...eventLine, fates: z.array(fate) })

const headers = z.record(z.string(), text)

export const eventAnswer = z.strictObject({
  ...eventLine,
  redeliverable: z.boolean(),
  schema: z.enum(inputSchemas),
  body: text.describe('The event as JSON text, cut after 16,384 bytes'),
  truncated: z.boolean(),
  fates: z.array(
    fate.extend({
      blobPath: some(text),
      attempts: z
        .array(
          z.strictObject({
            ...{ at: time, url: text, target: text, answer: text, deliveryCount: count, durationMs: z.number() },
            events: count.describe('How many events the request had'),
            ...{ headers, body: text, bodyCut: z.boolean() },
            ...{ responseHeaders: some(headers), responseBody: some(text) },
          }),
        )
        .describe('The last ten, oldest first'),
    }),
  ),
})

const heldEvent = z.strictObject({
  ...{ id: text, type: text, subject: text, deliveryCount: count },
  state: z.enum(['available', 'locked', 'delayed']),
  until: some(time),
})

export const queueAnswer = z.strictObject({ events: z.array(heldEvent).describe('Oldest first') })
export const searchAnswer = z.strictObject({ keys: z.array(count) })

const counts = {
  ...{ published: count, delivered: count, failed: count, deadLettered: count, dropped: count, refused: count },
  pending: count,
}

const figures = {
  now: time,
  trouble: some(text.describe('Why the state could not be written')),
  totals: z.strictObject(counts),
  leftOut: z
    .strictObject({ events: count, failed: count, waiting: count })
    .describe('Events whose records made room for others'),
  series: z
    .array(
      z.strictObject({
        ...{ at: time, published: count, delivered: count, failed: count },
        ...{ median: some(z.number()), p95: some(z.number()) },
      }),
    )
    .describe('The last 120 seconds, oldest first; median and p95 are milliseconds until answers came'),
}

export const figuresAnswer = z.strictObject(figures)

const address = { ...resource, endpoint: text }

export const stateAnswer = z.strictObject({
  topics: z
    .array(
      z.strictObject({
        ...address,
        ...{ schema: text, httpEndpoint: text, keys: z.boolean(), domainTopics: some(z.array(text)) },
      }),
    )
    .describe('Topics and domains'),
  systemTopics: z.array(z.strictObject({ ...resource, source: text })),
  namespaceTopics: z.array(z.strictObject(address)),
  subscriptions: z.array(
    z.strictObject({
      ...{ ...address, scope: text, state: text, schema: text, filters: z.array(text), retry: text },
      ...{ batching: some(text), deadLetter: some(text), expires: some(text), entra: some(text) },
      attributes: z.array(z.strictObject({ name: text, value: text })),
      handshake: some(
        z.strictObject({ at: time, method: text, outcome: text, status: some(z.int()), message: some(text) }),
      ),
      ...{ warning: some(text), heldUntil: some(time), waits: z.boolean() },
    }),
  ),
  queues: z.array(
    z.strictObject({
      ...{ ...resource, topic: text, deadLettered: count },
      ...{ available: some(count), locked: some(count), delayed: some(count) },
    }),
  ),
  more: z.strictObject({ topics: count, subscriptions: count, queues: count }).describe('How many are not listed'),
  ...figures,
  stream: z.strictObject({ clients: count, missed: count }),
  refused: z
    .array(z.strictObject({ at: time, status: z.int(), code: some(text), topic: text, message: some(text) }))
    .describe('The latest 20 refused publishes, newest first'),
  events: z.array(listedEvent).describe('Newest first'),
  limit: count.describe('The most events that are kept'),
})

export const publishAnswer = z
  .strictObject({ status: z.int(), code: some(text), message: some(text) })
  .describe('What the topic answered')

export const endpointsAnswer = z.strictObject({
  ...{ resourceManager: text, authorityHost: text, topics: text },
  ca: text.describe('The certificate authority, PEM'),
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
  unserved: maybe(
    z
      .array(z.strictObject({ subscription: text, subscriptionId: text, because: text, events: count }))
      .describe('The event subscriptions that did not get events that they match'),
  ),
  events: maybe(z.array(publishedEvent).describe('The events that were there when the time was over')),
})
