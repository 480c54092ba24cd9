import { expect, onTestFinished } from 'vitest'
import { EventGridEmulator, type EventGridEmulatorOptions } from '../../packages/emulator/src/index.ts'
import {
  Binding,
  type BindingOptions,
  type InitOptions,
  type ReceivedEvent,
  type UpdateOptions,
} from '../../src/index.ts'
import { type CapturedLog, captureLog } from './captured-log.ts'
import { eventually } from './eventually.ts'
import { quickRetries } from './quick-retries.ts'

/** What a flat record of metadata fields may be in a test: `undefined` leaves the field out. */
export type Fields = Readonly<Record<string, unknown>>

/** An emulator, and one binding that is set up for its topic `orders`, not yet initialised. */
export interface World {
  readonly emulator: EventGridEmulator
  readonly binding: Binding
  readonly log: CapturedLog
  /** Metadata fields of both sides. */
  readonly fields: Readonly<Record<string, string>>
  /** The events that the handler was given and that it resolved for. */
  readonly handled: readonly ReceivedEvent[]
  /** Initialises the binding with `fields`, those given here over them. */
  init(fields?: Fields, options?: InitOptions): Promise<void>
  /** Updates the binding to `fields`, those given here over them. */
  update(fields?: Fields, options?: UpdateOptions): Promise<void>
  /** Publishes an event by `create`, and resolves when the handler has handled it: both sides work. */
  roundTrip(): Promise<void>
  /** The event subscription as ARM holds it. */
  subscription(): ReturnType<EventGridEmulator['eventSubscription']>
}

/** The fields of the input side alone. */
export const inputFields = [
  'tenantId',
  'subscriptionId',
  'clientId',
  'clientSecret',
  'subscriberEndpoint',
  'handshakePort',
  'scope',
] as const

/** The fields of the output side alone. */
export const outputFields = ['accessKey', 'topicEndpoint'] as const

/** Leaves out the named fields. */
export const without = (...names: readonly string[]): Readonly<Record<string, undefined>> =>
  Object.fromEntries(names.map((name) => [name, undefined]))

/** Changes that leave the output side alone. */
export const outputOnly = without(...inputFields, 'eventSubscriptionName')

export const publicUrl = 'https://orders.example.com/api/events'

/** Both sides of a component for the emulator's topic `orders` and its own client. */
export function fieldsFor(emulator: EventGridEmulator) {
  const { tenantId, subscriptionId, clientId, clientSecret } = emulator
  const { id: scope, endpoint: topicEndpoint, key: accessKey } = emulator.topic('orders')
  return {
    ...{ tenantId, subscriptionId, clientId, clientSecret, subscriberEndpoint: publicUrl, handshakePort: '0' },
    ...{ scope, eventSubscriptionName: 'orders', topicEndpoint, accessKey },
  }
}

/** Opens an emulator and a binding; the test's end closes both. */
export async function openWorld(
  options: { readonly emulator?: EventGridEmulatorOptions; readonly binding?: BindingOptions } = {},
): Promise<World> {
  const emulator = await EventGridEmulator.start({
    retrySchedule: quickRetries,
    deadLetterDelay: 0,
    ...options.emulator,
  })
  const log = captureLog()
  const handled: ReceivedEvent[] = []
  const onEvent = options.binding?.onEvent
  const binding = new Binding({
    endpoints: emulator.endpoints,
    logger: log,
    ...options.binding,
    async onEvent(event) {
      await onEvent?.(event)
      handled.push(event)
    },
  })
  onTestFinished(async () => {
    await binding.close()
    await emulator.close()
  })
  const topic = emulator.topic('orders')
  emulator.setIngress(({ pathname, search }) => `http://127.0.0.1:${binding.address()?.port ?? 1}${pathname}${search}`)
  const fields = fieldsFor(emulator)
  const merged = (changes: Fields) =>
    Object.fromEntries(Object.entries({ ...fields, ...changes }).filter(([, value]) => value !== undefined))
  return {
    emulator,
    binding,
    log,
    fields,
    handled,
    init: (changes = {}, initOptions) => binding.init(merged(changes), initOptions),
    update: (changes = {}, updateOptions) => binding.update(merged(changes), updateOptions),
    async roundTrip() {
      await eventually(() => expect(binding.health().status).toBe('healthy'))
      const { ids } = await binding.invoke('create', {})
      await eventually(() => expect(handled.map(({ cloudEvent }) => cloudEvent.id)).toContain(ids[0]))
    },
    subscription: () => emulator.eventSubscription(topic.id, 'orders'),
  }
}
