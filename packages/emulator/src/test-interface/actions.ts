/** What a caller may do with an event: publish it, deliver it again, try it now, wait for it; and when that is refused. */
import { randomUUID } from 'node:crypto'
import { isRecord, readJson } from '../../../../src/support/text/json-text.ts'
import { suggestName } from '../../../../src/support/text/nearest-name.ts'
import { realTimers } from '../../../../src/support/time/clock.ts'
import { dataPlaneAudience } from '../entra/token-request.ts'
import { type EventText, eventSlices, eventText, textOf, withMembers } from '../model/events/event-text.ts'
import { type InputSchema, type Publishable, sameName } from '../model/resources/resource.ts'
import { dataPlaneVersions } from '../namespaces/namespace-calls.ts'
import { endedStates } from '../records/event-trail.ts'
import { existingSourceIdOf, raisedEvents } from '../topics/raise.ts'
import { publishApiVersion } from '../topics/topic-routes.ts'
import type { LiveSources, LiveView } from './live-view.ts'
import { UnservedError } from './pending-work.ts'
import { TestInterfaceProblem } from './problem.ts'
import { namespaceTopicName, viewEventDetail, viewHeld } from './shown-resources.ts'

const goneEvent = () => new TestInterfaceProblem(404, 'the event is no longer kept')

/** Delivers an event to an event subscription once more. Throws a TestInterfaceProblem where that cannot be. */
export function redeliver({ trail, engine }: LiveSources, key: string, subscription: string | undefined): void {
  const { event, fate } = fateOf(trail, key, subscription)
  if (!endedStates.has(fate.state)) throw new TestInterfaceProblem(409, 'the event is still being delivered')
  if (!engine.redeliver(fate.subscriptionId, event)) {
    throw new TestInterfaceProblem(409, 'the event subscription takes no events')
  }
}

/** Makes the next attempt of an event at once. Throws a TestInterfaceProblem where it waits for none. */
export function tryEventNow({ trail, engine }: LiveSources, key: string, subscription: string | undefined): void {
  const { event, fate } = fateOf(trail, key, subscription)
  if (!engine.tryNow(fate.subscriptionId, event)) throw nothingWaits()
}

/** The same for all events that wait for an event subscription, whose endpoint is no longer held back. */
export function tryAllNow({ store, engine }: LiveSources, subscription: string): void {
  const found = subscriptionIn(store.subscriptions.all(), subscription)
  if (!engine.tryNow(found.id)) throw nothingWaits()
}

const nothingWaits = () => new TestInterfaceProblem(409, 'no event waits for an attempt')

/** The most events of a queue that are shown: the oldest. */
const peekedEvents = 50

/** The oldest events of a Queue event subscription, which stay there. Throws a TestInterfaceProblem for an unknown one. */
export function peekQueue({ namespaces, queues }: LiveSources, subscription: string) {
  const { id } = subscriptionIn(namespaces.subscriptions.all(), subscription)
  return (queues.queue(id)?.peek(peekedEvents) ?? []).map(viewHeld)
}

/** An event subscription by its resource id, or by its name where no other one has that. */
function subscriptionIn<S extends { readonly id: string; readonly name: string }>(
  all: readonly S[],
  wanted: string,
): S {
  const found = all.filter(({ id, name }) => sameName(id, wanted) || sameName(name, wanted))
  const [first] = found
  if (first && found.length === 1) return first
  const names = all.map(({ name }) => name)
  throw first
    ? new TestInterfaceProblem(409, `there are ${found.length} event subscriptions ${wanted}: give the resource id`)
    : new TestInterfaceProblem(404, `there is no such event subscription; ${suggestName(wanted, names)}`)
}

/** What became of a kept event at an event subscription, which may be left out where there is only one. */
function fateOf(trail: LiveSources['trail'], key: string, subscription: string | undefined) {
  const kept = trail.find(Number(key))
  if (!kept) throw goneEvent()
  const fates = [...kept.fates.values()].map((fate) => ({ id: fate.subscriptionId, name: fate.subscriptionName, fate }))
  const [only] = fates
  if (subscription === undefined && fates.length !== 1) {
    throw new TestInterfaceProblem(409, `the event went to ${fates.length} event subscriptions: name one`)
  }
  const { fate } = subscription === undefined && only ? only : subscriptionIn(fates, subscription ?? '')
  return { event: kept.event, fate }
}

/** Everything about a kept event. Throws a TestInterfaceProblem for one that is not kept. */
export function eventDetail({ trail }: LiveSources, key: string) {
  const kept = trail.find(Number(key))
  if (!kept) throw goneEvent()
  return viewEventDetail(kept)
}

/**
 * Makes the request that publishes an event, or a list of events, in the topic's schema, as a client of the topic would send it. A
 * missing id or time is added, so that a sample can be published twice. The topic checks everything else. Throws a TestInterfaceProblem
 * for an unknown topic, and for what is no JSON.
 */
export async function requestToPublish(options: LiveSources, name: string, text: string) {
  const topic = await addressed(options, name)
  if (!topic) throw new TestInterfaceProblem(404, 'there is no such topic')
  const events = readJson(text)
  if (events === undefined) throw new TestInterfaceProblem(400, 'the event is not valid JSON')
  const { schema, url, headers } = topic
  const time = new Date(options.clock.now()).toISOString()
  const bytes = Buffer.from(text)
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
    method: 'POST' as const,
    url,
    headers: { 'content-type': contentType, ...headers },
    payload: isCloudEvents && !isList ? completed.join() : `[${completed.join(',')}]`,
  }
}

/** Where and with what credential a client publishes to a topic, a domain or a namespace topic. */
async function addressed(options: LiveSources, name: string) {
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
  { directory, tokens }: LiveSources,
  topic: Publishable,
): Promise<Readonly<Record<string, string>>> {
  const [client] = directory.clients
  if (!topic.disableLocalAuth || !client) return { 'aeg-sas-key': topic.keys[0] }
  const token = await tokens.issueClientToken({ ...client, audience: dataPlaneAudience, lifetimeSeconds: 60 })
  return { authorization: `Bearer ${token}` }
}

/** Has the endpoints asked that have not consented yet, before events are raised at their sources. Throws what `raise` throws. */
export async function askSources(sources: LiveSources, name: string, events: readonly unknown[]) {
  const { store, namespaces, clock, askAgain } = sources
  const id = existingSourceIdOf(sources, name)
  // Receivers ask by themselves.
  if (namespaces.topics.get(id)) return
  const raised = raisedEvents(store, id, events, clock.now())
  await askAgain(raised.flatMap((one) => one.sources))
}

/** How often a wait looks again where something changed, in real milliseconds. */
const lookEveryMs = 25

/** Resolves when `found` finds so many events, or when the time is over; with what it finds then. Rejects with what `found` throws. */
export async function awaitEvents<Event>(
  { trail }: Pick<LiveSources, 'trail'>,
  {
    count,
    timeoutMs,
    found,
  }: { readonly count: number; readonly timeoutMs: number; readonly found: () => readonly Event[] },
): Promise<readonly Event[]> {
  let events = found()
  let isChanged = false
  const changed = () => {
    isChanged = true
  }
  const stop = trail.listen({ changed, gone: changed, cleared: changed })
  const over = realTimers.abortAfter(timeoutMs)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const look = () => {
    try {
      if (isChanged) events = found()
    } catch (error) {
      // The topic of the query may be gone meanwhile.
      return reject(error)
    }
    isChanged = false
    if (events.length >= count || over.aborted) resolve()
  }
  const timer = realTimers.setInterval(look, lookEveryMs)
  // The emulator may be closed meanwhile: then nobody waits any more.
  timer.unref()
  try {
    if (events.length < count) await promise
  } finally {
    realTimers.clearInterval(timer)
    stop()
  }
  return events
}

/** The event subscriptions that matched kept events and did not get them, with the reason. */
export function unservedSubscriptions({ trail }: Pick<LiveSources, 'trail'>) {
  const fates = trail.events().flatMap((event) => [...event.fates.values()].filter(({ state }) => state === 'unserved'))
  return [...Map.groupBy(fates, ({ subscriptionId }) => subscriptionId)].map(([subscriptionId, own]) => ({
    ...{ subscription: own[0]?.subscriptionName ?? '', subscriptionId, because: own[0]?.reason ?? '' },
    events: own.length,
  }))
}

/** The event subscription that is made, as it is shown. */
export async function madeSubscription(
  { subscriptions }: Pick<LiveView, 'subscriptions'>,
  made: Promise<{ readonly id: string }>,
) {
  try {
    const { id } = await made
    const shown = subscriptions().find((one) => one.id === id)
    if (shown) return shown
  } catch (error) {
    if (!(error instanceof UnservedError)) throw error
    throw new TestInterfaceProblem(409, error.message)
  }
  throw new TestInterfaceProblem(409, 'the event subscription was removed meanwhile')
}
