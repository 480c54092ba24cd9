/** What the OpenAPI document says of each answer: a public interface has a schema here for each of its members. */
import { z } from 'zod'
import { inputSchemas } from '../model/resources/resource.ts'
import type { Members } from '../model/schemas.ts'
import { fateStates, type TrailedAttempt } from '../records/event-fate.ts'
import {
  type EventList,
  type PublishSummary,
  type ReceiveSummary,
  type RequestRecord,
  requestRoutes,
  type UntakenBy,
} from '../records/record-types.ts'
import type { DeadLetter, PublishedEvent, PublishedEvents, SubscriptionFate } from './published-events.ts'
import { eventFates } from './requests.ts'

/** A field that may be left out. */
const maybe = <Schema extends z.ZodType>(schema: Schema) => z.exactOptional(schema)
/** The same of a field whose value may be undefined, which JSON leaves out. */
const some = <Schema extends z.ZodType>(schema: Schema) => z.optional(schema)
const text = z.string()
const count = z.int().min(0)
const time = z.number().describe("Milliseconds since 1970, by the emulator's clock")
const anything = z.unknown()

const attempt = z.strictObject({
  at: time,
  status: maybe(z.int()),
  error: maybe(text.describe('Why there was no answer, or what it means')),
  outcome: z.enum(['delivered', 'retry', 'dead-lettered', 'dropped']),
  durationMs: z.number(),
  nextTryAt: maybe(time),
} satisfies Members<TrailedAttempt>)

const subscriptionFate = z.strictObject({
  name: text,
  id: text,
  state: z
    .enum(eventFates)
    .describe(
      'unmatched: reason says why not; unserved: the event matches, and is not delivered, for the reason that is given',
    ),
  tries: count,
  attempts: z.array(attempt),
  nextTryAt: maybe(time),
  reason: maybe(text),
  blobPath: maybe(text),
} satisfies Members<SubscriptionFate>)

export const publishedEvent = z.strictObject({
  key: count.describe('Ascending in the order of arrival'),
  at: time,
  topic: text.describe('Its name; of a namespace topic {namespace}/{topic}'),
  topicId: text,
  id: text,
  type: text,
  subject: text,
  schema: z.enum(inputSchemas),
  event: anything.describe('The event as it was sent'),
  body: text.describe('The same as JSON text'),
  subscriptions: z.array(subscriptionFate),
  furtherSubscriptions: count,
} satisfies Members<PublishedEvent>)

export const eventsAnswer = z.strictObject({
  events: z.array(publishedEvent).describe('Oldest first'),
  leftOut: count.describe('Events that are no longer kept'),
} satisfies Members<PublishedEvents>)

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
      } satisfies Members<DeadLetter>),
    )
    .describe('Oldest first'),
})

const eventList = z.strictObject({
  count,
  first: z.array(z.strictObject({ type: text, id: text })),
} satisfies Members<EventList>)

const untakenBy = z.strictObject({ subscriptionName: text, because: text } satisfies Members<UntakenBy>)

const publishSummary = z.strictObject({
  topic: text,
  isCheck: maybe(z.literal(true)),
  events: maybe(eventList),
  unwanted: maybe(eventList),
  unserved: maybe(z.array(untakenBy)),
  unmatched: maybe(z.array(untakenBy).describe('Event subscriptions that do not match events which none takes')),
} satisfies Members<PublishSummary>)

export const requestsAnswer = z.strictObject({
  requests: z
    .array(
      z.strictObject({
        at: time,
        route: z.enum(requestRoutes),
        method: text,
        url: text,
        headers: z.record(z.string(), z.union([text, z.array(text)])),
        body: maybe(anything),
        status: z.int(),
        code: maybe(text),
        message: maybe(text),
        publish: maybe(publishSummary),
        receive: maybe(
          z.strictObject({
            ...{ topic: text, subscriptionName: text, events: eventList, deliveryCount: count },
          } satisfies Members<ReceiveSummary>),
        ),
        clientId: maybe(text),
        requestId: text,
      } satisfies Members<RequestRecord>),
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

const resource = { name: text, id: text }

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
  schema: z.enum(inputSchemas),
  body: text.describe('The event as JSON text'),
  unmatched: z
    .array(z.strictObject({ subscriptionId: text, name: text, because: text }))
    .describe('Event subscriptions that the event does not match, and why'),
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
    .describe('Events that the state does not list'),
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

export const subscriptionAnswer = z.strictObject({
  ...{ ...address, scope: text, state: text, schema: text, filters: z.array(text), retry: text },
  ...{ batching: some(text), deadLetter: some(text), expires: some(text), entra: some(text) },
  attributes: z.array(z.strictObject({ name: text, value: text })),
  handshake: some(
    z.strictObject({ at: time, method: text, outcome: text, status: some(z.int()), message: some(text) }),
  ),
  ...{ warning: some(text), heldUntil: some(time), waits: z.boolean() },
})

export const subscriptionsAnswer = z.strictObject({ subscriptions: z.array(subscriptionAnswer) })

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
  subscriptions: z.array(subscriptionAnswer),
  queues: z.array(
    z.strictObject({
      ...{ ...resource, topic: text, deadLettered: count },
      ...{ available: some(count), locked: some(count), delayed: some(count) },
    }),
  ),
  more: z.strictObject({ topics: count, subscriptions: count, queues: count }).describe('How many are not listed'),
  ...figures,
  stream: z.strictObject({ clients: count }),
  refused: z
    .array(z.strictObject({ at: time, status: z.int(), code: some(text), topic: text, message: some(text) }))
    .describe('The latest 20 refused publishes, newest first'),
  events: z.array(listedEvent).describe('Newest first; GET /emulator/events has all that are kept'),
  limit: count.describe('The most events that are listed'),
})

export const publishAnswer = z
  .strictObject({ status: z.int(), code: some(text), message: some(text) })
  .describe('What the topic answered')

export const endpointsAnswer = z.strictObject({
  ...{ resourceManager: text, authorityHost: text, topics: text },
  ca: text.describe('The certificate authority, PEM'),
})

export const documentAnswer = z.looseObject({ openapi: text })
