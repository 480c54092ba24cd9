import type { ServerOptions } from 'node:https'
import { expect } from 'vitest'
import { z } from 'zod'
import { startEmulator } from '../../../test/support/start-emulator.ts'
import {
  type EventGridEmulator,
  type EventGridEmulatorOptions,
  type EventSubscriptionOptions,
  type EventSubscriptionProperties,
  type Ingress,
  ManualClock,
  type Records,
  type TopicOptions,
  type TopicView,
} from '../src/index.ts'
import { type Subscriber, startSubscriber } from './subscriber.ts'

/** The public address of the subscriber, which the ingress map sends to a local port. */
export const publicUrl = 'https://subscriber.example/api/events?code=s3cret'

const keys = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')] as const

/** An emulator with the topic `orders`, whose clock stands still, and a webhook. */
export interface EventGrid {
  readonly emulator: EventGridEmulator
  readonly clock: ManualClock
  readonly records: Records
  readonly topic: TopicView
  readonly subscriber: Subscriber
  /** Declares an event subscription, or changes it. The handshake is made with somebody else, who consents. Returns its id. */
  subscribe(settings?: Settings, place?: { readonly scope?: string; readonly name?: string }): Promise<string>
}

/** Of an event subscription; `webhook` is more of its destination. */
type Settings = Omit<EventSubscriptionProperties, 'destination'> & { readonly webhook?: object }

/** What may differ from test to test. */
export interface EventGridOptions extends Omit<EventGridEmulatorOptions, 'clock' | 'ingress' | 'topics'> {
  readonly topic?: Omit<TopicOptions, 'name'>
  readonly ingress?: Ingress
  /** Has the subscriber served by https. */
  readonly tls?: ServerOptions
}

/** Opens it on free ports; the test's end closes it. */
export async function openEventGrid({ topic: settings, tls, ...options }: EventGridOptions = {}): Promise<EventGrid> {
  const [subscriber, consenting] = [await startSubscriber(tls), await startSubscriber()]
  const own: Ingress = ({ hostname }) => (hostname === 'subscriber.example' ? subscriber.url : undefined)
  const ingress = options.ingress ?? own
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 14, 7, 9))
  const given = { ...options, clock, ingress, topics: [{ name: 'orders', keys, ...settings }] }
  const emulator = await startEmulator(given)
  const topic = emulator.topic()
  const declared = new Map<string, EventSubscriptionOptions>()
  return {
    ...{ emulator, clock, topic, subscriber, records: emulator.records },
    async subscribe({ webhook, ...properties } = {}, { scope = topic.id, name = 'Sub1' } = {}) {
      const id = `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/${name}`
      const destination = { endpointType: 'WebHook', properties: { endpointUrl: publicUrl, ...webhook } }
      const eventDeliverySchema = 'CloudEventSchemaV1_0'
      declared.set(id, { name, scope, properties: { eventDeliverySchema, destination, ...properties } })
      const eventSubscriptions = [...declared.values()]
      emulator.reconfigure({ ...given, ingress: () => consenting.url, eventSubscriptions })
      await emulator.idle()
      emulator.setIngress(ingress)
      return id
    },
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
  request: {
    readonly headers?: Record<string, string> | undefined
    readonly query?: string | undefined
    readonly method?: string | undefined
  } = {},
): Promise<Response> {
  return fetch(`${grid.topic.httpEndpoint}${request.query ?? '?api-version=2018-01-01'}`, {
    method: request.method ?? 'POST',
    headers: {
      'aeg-sas-key': grid.topic.key,
      'content-type': 'application/cloudevents-batch+json; charset=utf-8',
      ...request.headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** Opens one whose event subscription gets the events: what came of them, the first request and the last record. */
export async function openDelivered(
  options: EventGridOptions = {},
  settings: Settings = {},
  events: readonly unknown[] = [cloudEvent()],
) {
  const grid = await openEventGrid(options)
  await grid.subscribe(settings)
  expect((await publish(grid, events)).status).toBe(200)
  await grid.emulator.idle()
  return { grid, request: grid.subscriber.deliveries()[0], record: grid.records.deliveries.last }
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
