/** What many probes ask alike: an event, an event subscription, a refusal. */
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { nameOf } from '../../plan/names.ts'
import type { Arm, ArmOptions } from '../../wire/arm.ts'
import type { WireAnswer } from '../../wire/wire.ts'
import type { ProbeWorld } from '../probe.ts'

export const cloudSchema = 'CloudEventSchemaV1_0'
export const gridSchema = 'EventGridSchema'

/** A CloudEvent of a type that no other probe has. */
export const cloudEvent = (type: string, more: object = {}) => ({
  ...{ specversion: '1.0', id: 'one', source: '/probe', type, time: '2026-01-05T14:07:09.1234567Z' },
  data: { amount: 5 },
  ...more,
})

/** The same of the Event Grid schema. */
export const gridEvent = (eventType: string, more: object = {}) => ({
  ...{ id: 'one', subject: 'probe', eventType, eventTime: '2026-01-05T14:07:09.1234567Z', dataVersion: '1' },
  data: { amount: 5 },
  ...more,
})

/** Properties of an event subscription that gets events of one type alone, so that probes do not disturb each other. */
export const forType = (type: string, destination: object, more: object = {}) => ({
  ...{ destination, eventDeliverySchema: cloudSchema },
  ...more,
  filter: { includedEventTypes: [type], ...(isRecord(more) && isRecord(more.filter) ? more.filter : {}) },
})

/** Writes an event subscription, by default of the CloudEvents topic, and waits for the end of the operation. */
export async function putSubscription(
  { arm, made, subscriptionAt }: ProbeWorld,
  properties: object,
  { source = made.cloud.id, ...options }: Parameters<Arm['write']>[2] & { readonly source?: string | undefined } = {},
) {
  const id = subscriptionAt(source)
  return { id, ...(await arm.write('PUT', id, { body: { properties }, ...options })) }
}

/** The same for a queue of its own, which gets all events. */
export async function putQueue(world: ProbeWorld, options: ArmOptions = {}) {
  const { destination } = await world.openQueue()
  return putSubscription(world, { destination, eventDeliverySchema: cloudSchema }, options)
}

/** Makes an event subscription, and throws where it is not made. Its id. */
export async function subscribe(world: ProbeWorld, properties: object, source?: string): Promise<string> {
  const { id, first, end, error } = await putSubscription(world, properties, { source })
  if (end === 'Succeeded') return id
  const { code = '', message = '' } = error ?? {}
  throw new Error(`the event subscription was not made: ${first.status} ${end} ${code} ${message}`)
}

/** The first answer to an event subscription of the CloudEvents topic that should be refused. */
export const refusedSubscription = (
  { arm, made, subscriptionAt }: ProbeWorld,
  properties: object,
  name?: string,
): Promise<WireAnswer> => arm.send('PUT', subscriptionAt(made.cloud.id, name), { body: { properties } })

/** A webhook that a refused event subscription names; nobody is there. */
export const somewhere = { endpointType: 'WebHook', properties: { endpointUrl: 'https://nobody.invalid/api/events' } }
export const webhookAt = (endpointUrl: string, more: object = {}) => ({
  endpointType: 'WebHook',
  properties: { endpointUrl, ...more },
})

export const propertiesOf = (body: unknown): Readonly<Record<string, unknown>> =>
  isRecord(body) && isRecord(body.properties) ? body.properties : {}

/** The state of a resource. */
export const stateOf = async ({ arm }: ProbeWorld, id: string) =>
  propertiesOf((await arm.send('GET', id)).body).provisioningState

/** The name of an event subscription as deliveries and dead letters have it. */
export const loudNameOf = (id: string) => nameOf(id).toUpperCase()

/** The ids of events, sorted. */
export const idsOf = (events: readonly unknown[]) =>
  events.map((event) => (isRecord(event) ? String(event.id) : '')).toSorted()
