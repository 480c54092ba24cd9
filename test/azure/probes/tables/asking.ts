/** What many probes ask alike: an event, an event subscription, a refusal. */
import { isRecord } from '../../../../src/support/text/is-record.ts'
import type { ArmOptions } from '../../wire/arm.ts'
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

/** Makes an event subscription of the CloudEvents topic. Throws where it is not made. */
export async function subscribe(
  { arm, made, subscriptionAt }: ProbeWorld,
  properties: object,
  source = made.cloud.id,
): Promise<string> {
  const id = subscriptionAt(source)
  const { first, end, error } = await arm.write('PUT', id, { body: { properties } })
  if (end === 'Succeeded') return id
  throw new Error(
    `the event subscription was not made: ${first.status} ${end} ${error?.code ?? ''} ${error?.message ?? ''}`,
  )
}

/** The first answer to an event subscription of the CloudEvents topic that should be refused. */
export async function refusedSubscription(
  { arm, made, subscriptionAt }: ProbeWorld,
  properties: object,
  { name, ...options }: ArmOptions & { readonly name?: string } = {},
): Promise<WireAnswer> {
  const id = name === undefined ? subscriptionAt(made.cloud.id) : subscriptionAt(made.cloud.id, name)
  return arm.send('PUT', id, { body: { properties }, ...options })
}

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

/** The ids of events, sorted. */
export const idsOf = (events: readonly unknown[]) =>
  events.map((event) => (isRecord(event) ? String(event.id) : '')).toSorted()
