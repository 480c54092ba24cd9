// Page's publish form, "deliver again" and "try now": added id and time, refusal texts.
import { randomUUID } from 'node:crypto'
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { readJson } from '../../../../src/support/text/json-text.ts'
import { dataPlaneAudience } from '../entra/token-request.ts'
import { type EventText, eventSlices, eventText, textOf, withMembers } from '../model/events/event-text.ts'
import { ownField } from '../model/events/json-object.ts'
import type { InputSchema } from '../model/resources/input-schema.ts'
import type { Publishable } from '../model/resources/resource.ts'
import { dataPlaneVersions } from '../namespaces/settle-lock-tokens.ts'
import { publishApiVersion } from '../topics/topic-routes.ts'
import { endedStates } from './event-trail.ts'
import type { PageSources } from './page-model.ts'
import { namespaceTopicName } from './page-view.ts'

const refusal = (status: number, message: string) => ({ refusal: { status, message } })

/** Delivers an event to one subscription again. Returns why it can't be delivered. */
export function redeliver({ trail, engine }: PageSources, form: unknown) {
  const event = trail.find(Number(ownField(form, 'key')))
  const subscriptionId = ownField(form, 'subscriptionId')
  const fate = typeof subscriptionId === 'string' ? event?.fates.get(subscriptionId.toLowerCase()) : undefined
  if (!event || !fate) return refusal(404, 'The event is no longer stored.')
  if (!event.event) return refusal(409, 'The event is too long to be delivered again.')
  if (!endedStates.has(fate.state)) return refusal(409, 'The event is still being delivered.')
  if (engine.redeliver(fate.subscriptionId, event.event)) return undefined
  return refusal(409, 'The event subscription does not accept events.')
}

/** Tries an event that waits for a subscription at once; without an event, all that wait. Returns why nothing is tried. */
export function tryNow({ trail, engine }: PageSources, form: unknown) {
  const [key, subscriptionId] = [ownField(form, 'key'), ownField(form, 'subscriptionId')]
  const trailed = key === undefined ? undefined : trail.find(Number(key))
  if (typeof subscriptionId !== 'string' || (key !== undefined && !trailed)) {
    return refusal(404, 'The event is no longer stored.')
  }
  if (trailed && !trailed.event) return refusal(409, 'The event is too long to be tried by itself.')
  return engine.tryNow(subscriptionId, trailed?.event) ? undefined : refusal(409, 'No event waits for a try.')
}

/**
 * Makes the request that publishes the form's event, or array of events, in the topic's schema, as a client of the topic would
 * send it. A missing id or time is added, so that a sample can be published twice. The topic checks everything else.
 */
export async function publishRequest(options: PageSources, form: unknown) {
  const name = ownField(form, 'topic')
  const text = ownField(form, 'event')
  const topic = typeof name === 'string' ? await addressed(options, name) : undefined
  if (!topic) return refusal(404, 'There is no such topic.')
  const events = typeof text === 'string' ? readJson(text) : undefined
  if (events === undefined) return refusal(400, 'The event is not valid JSON.')
  const { schema, url, headers } = topic
  const time = new Date(options.clock.now()).toISOString()
  const bytes = Buffer.from(String(text))
  const isList = Array.isArray(events)
  const slices = isList ? eventSlices(bytes, events.length) : [bytes]
  const completed = slices.map((slice, index) => {
    const value: unknown = isList ? events[index] : events
    return isRecord(value) ? textOf(stamped(eventText(slice, value), schema, time)) : slice.toString()
  })
  const isCloudEvents = schema === 'CloudEventSchemaV1_0'
  const media = isList ? 'cloudevents-batch' : 'cloudevents'
  const contentType = isCloudEvents ? `application/${media}+json; charset=utf-8` : 'application/json'
  return {
    request: {
      method: 'POST' as const,
      url,
      headers: { 'content-type': contentType, ...headers },
      payload: isCloudEvents && !isList ? completed.join() : `[${completed.join(',')}]`,
    },
  }
}

/** Where and with what credential a client publishes to a topic, a domain or a namespace topic. */
async function addressed(options: PageSources, name: string) {
  const topic = options.store.published(name)
  if (topic) {
    return {
      schema: topic.inputSchema,
      url: `/topics/${encodeURIComponent(topic.label)}/api/events?api-version=${publishApiVersion}`,
      headers: await credential(options, topic),
    }
  }
  const ofNamespace = options.namespaces.topics.all().find(({ id }) => namespaceTopicName(id) === name)
  if (!ofNamespace) return undefined
  const path = `/namespaces/${name.replace('/', '/topics/')}:publish`
  return {
    schema: 'CloudEventSchemaV1_0' as const,
    url: `${path}?api-version=${dataPlaneVersions.at(-1)}`,
    headers: { authorization: `SharedAccessKey ${ofNamespace.keys[0]}` },
  }
}

function stamped(event: EventText, schema: InputSchema, time: string): EventText {
  if (schema === 'CustomEventSchema') return event
  const timeName = schema === 'EventGridSchema' ? 'eventTime' : 'time'
  const { id = randomUUID(), [timeName]: at = time } = event.value
  return withMembers(event, { id, [timeName]: at })
}

/** The topic's key, or a token of the first client if the topic accepts no keys. */
async function credential(
  { directory, tokens }: PageSources,
  topic: Publishable,
): Promise<Readonly<Record<string, string>>> {
  const [client] = directory.clients
  if (!topic.disableLocalAuth || !client) return { 'aeg-sas-key': topic.keys[0] }
  const token = await tokens.issueClientToken({ ...client, audience: dataPlaneAudience, lifetimeSeconds: 60 })
  return { authorization: `Bearer ${token}` }
}
