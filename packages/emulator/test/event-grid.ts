import { randomUUID } from 'node:crypto'
import type { ServerOptions } from 'node:https'
import { fastify } from 'fastify'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { resolveOptions } from '../src/config/options.ts'
import { createDeliveryEngine, type DeliveryEngine } from '../src/delivery/delivery-engine.ts'
import { type DeliverySettings, deliverySettings } from '../src/delivery/delivery-options.ts'
import type { Ingress } from '../src/delivery/send/ingress.ts'
import { createDirectory, type Directory } from '../src/entra/directory.ts'
import { createTokenIssuer, type TokenIssuer } from '../src/entra/token-issuer.ts'
import type { WebHookProperties } from '../src/model/resources/destination.ts'
import type { EventSubscription, EventSubscriptionProperties } from '../src/model/resources/event-subscription.ts'
import type { Topic } from '../src/model/resources/resource.ts'
import { createStore, type Store } from '../src/model/resources/store.ts'
import { ManualClock } from '../src/model/time/clock.ts'
import { createPendingBound } from '../src/model/time/pending-bound.ts'
import { createWorkCounter } from '../src/model/time/work-counter.ts'
import { createRecords, type Records } from '../src/records/record-types.ts'
import { createFaults, type Faults } from '../src/server/faults.ts'
import { type Journal, noJournal } from '../src/state/journal.ts'
import { raisedEvents } from '../src/topics/raise.ts'
import { registerTopicRoutes } from '../src/topics/topic-routes.ts'
import { type Subscriber, startSubscriber } from './subscriber.ts'

/** The public address of the subscriber, which the ingress map sends to a local port. */
export const publicUrl = 'https://subscriber.example/api/events?code=s3cret'

const keys = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')] as const

/** The delivery half of the emulator, without ARM and Entra's routes. */
export interface EventGrid {
  readonly clock: ManualClock
  readonly store: Store
  readonly directory: Directory
  readonly faults: Faults
  readonly records: Records
  readonly engine: DeliveryEngine
  readonly tokens: TokenIssuer
  readonly topic: Topic
  /** Where events are published, by http. */
  readonly endpoint: string
  readonly subscriber: Subscriber
  /** Raises events as the emulator's `raise` does. */
  raise(sourceId: string, events: readonly unknown[]): void
  /** Stores a subscription as ARM does once its handshake is done. */
  subscribe(
    properties?: Omit<EventSubscriptionProperties, 'destination'> & { readonly webhook?: Partial<WebHookProperties> },
    place?: { readonly scope?: string; readonly name?: string },
  ): EventSubscription
}

/** What may differ from test to test. */
export interface EventGridOptions {
  readonly topic?: Partial<Topic>
  readonly delivery?: Partial<DeliverySettings>
  readonly journal?: Journal
  readonly random?: () => number
  readonly ingress?: Ingress
  readonly trustedCertificates?: readonly string[]
  /** Has the subscriber served by https. */
  readonly tls?: ServerOptions
}

/** Opens it on a free port with a clock that stands still; the test's end closes it. */
export async function openEventGrid(options: EventGridOptions = {}): Promise<EventGrid> {
  const subscriber = await startSubscriber(options.tls)
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 14, 7, 9))
  const records = createRecords()
  const tokens = lateTokenIssuer(clock)
  const store = createStore()
  const shared = {
    clock,
    store,
    directory: createDirectory(resolveOptions({}), store),
    tokens,
    records,
    faults: createFaults(),
    baseUrl: () => baseUrl,
  }
  const settings = deliverySettings(options.delivery)
  const engine = createDeliveryEngine({
    ...shared,
    random: options.random ?? (() => 0),
    ingress: options.ingress ?? ((url) => (url.hostname === 'subscriber.example' ? subscriber.url : undefined)),
    trustedCertificates: options.trustedCertificates ?? [],
    deliveryTokenVersion: '1.0',
    settings,
    work: createWorkCounter(),
    bound: createPendingBound(settings),
    journal: options.journal ?? noJournal,
  })
  clock.settleWith(async () => void (await engine.quiet()))
  const app = fastify({ genReqId: () => randomUUID() })
  app.decorateRequest('outcome')
  app.addHook('onRequest', async (request) => {
    request.outcome = {}
  })
  registerTopicRoutes(app, { ...shared, intake: { ...engine, unserved: () => [] } })
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await engine.close()
    app.server.closeAllConnections()
    await app.close()
  })
  const group = '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg'
  const topic: Topic = {
    type: 'topics',
    label: 'orders',
    id: `${group}/providers/Microsoft.EventGrid/topics/orders`,
    name: 'orders',
    subscriptionId: '33333333-3333-4333-8333-333333333333',
    resourceGroup: 'rg',
    location: 'westeurope',
    inputSchema: 'CloudEventSchemaV1_0',
    keys,
    disableLocalAuth: false,
    ...options.topic,
  }
  shared.store.putResource(topic)
  return {
    ...shared,
    engine,
    topic,
    endpoint: `${baseUrl}/topics/${topic.name}/api/events`,
    subscriber,
    raise(sourceId, events) {
      engine.accept(raisedEvents(shared.store, sourceId, events, clock.now()))
    },
    subscribe({ webhook, ...properties } = {}, { scope = topic.id, name = 'Sub1' } = {}) {
      const subscription: EventSubscription = {
        id: `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/${name}`,
        scope,
        name,
        createdAt: clock.now(),
        provisioningState: 'Succeeded',
        properties: {
          eventDeliverySchema: 'CloudEventSchemaV1_0',
          destination: { endpointType: 'WebHook', properties: { endpointUrl: publicUrl, ...webhook } },
          ...properties,
        },
      }
      shared.store.subscriptions.put(subscription)
      engine.subscriptionChanged(subscription)
      return subscription
    },
  }
}

/** An issuer that makes its key, which takes a while, only for a test that needs a token. */
function lateTokenIssuer(clock: ManualClock): TokenIssuer {
  let made: TokenIssuer | undefined
  const issuer = () => {
    made ??= createTokenIssuer(clock)
    return made
  }
  return {
    issueClientToken: (request) => issuer().issueClientToken(request),
    issueDeliveryToken: (request) => issuer().issueDeliveryToken(request),
    verifyToken: (bearer, expected) => issuer().verifyToken(bearer, expected),
    keySet: (name) => issuer().keySet(name),
    rotateKeys: (options) => issuer().rotateKeys(options),
    expireTokens: () => issuer().expireTokens(),
  }
}

/** A CloudEvent to publish. */
export const cloudEvent = (changes: Readonly<Record<string, unknown>> = {}) => ({
  specversion: '1.0',
  id: 'e1',
  source: '/orders/1',
  type: 'Order.Placed',
  data: { amount: 5 },
  ...changes,
})

/** An event of the Event Grid schema to publish. */
export const gridEvent = (changes: Readonly<Record<string, unknown>> = {}) => ({
  id: 'e1',
  subject: 'orders/1',
  eventType: 'Order.Placed',
  eventTime: '2026-01-05T14:07:09.1234567Z',
  dataVersion: '1.0',
  data: { amount: 5 },
  ...changes,
})

/** Publishes JSON (or a text as it is) with the topic's first key. */
export function publish(
  grid: EventGrid,
  body: unknown,
  request: { readonly headers?: Record<string, string>; readonly query?: string; readonly method?: string } = {},
): Promise<Response> {
  return fetch(`${grid.endpoint}${request.query ?? '?api-version=2018-01-01'}`, {
    method: request.method ?? 'POST',
    headers: {
      'aeg-sas-key': grid.topic.keys[0],
      'content-type': 'application/cloudevents-batch+json; charset=utf-8',
      ...request.headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

const errorBody = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    details: z.tuple([z.strictObject({ code: z.string(), message: z.string() })]),
  }),
})

/** The error of a refused publish request; throws unless its body has Azure's shape and nothing else. */
export async function errorOf(answer: Response): Promise<z.infer<typeof errorBody>['error']> {
  return errorBody.parse(await answer.json()).error
}
