/** The topic that takes replayed events: its name in a ledger, its schema, and publishing an event in that schema. */

import type { OutputSide } from '../../binding/sides/output-side.ts'
import { BindingError } from '../../core/errors.ts'
import { readEvent } from '../../dispatch/events.ts'
import { isNamespaceTopic } from '../../metadata/fields/addresses.ts'
import type { EventSchema, OutputMetadata } from '../../metadata/typed/metadata.ts'
import { publishUrl } from '../../publisher/topic.ts'
import type { UnknownRecord } from '../../support/text/json-text.ts'
import type { DeadLetter } from './dead-letters.ts'

/**
 * The name of a topic in a ledger: where events are posted, the same for all ways to write that address, without a query, which may
 * be secret. What an emulator takes in its place is a rehearsal, so `emulator`, its URL, belongs to the name.
 */
export function targetName(topicEndpoint: string, emulator: string | undefined): string {
  const { protocol, hostname, port, pathname } = publishUrl(topicEndpoint)
  // A dot at the end names the same host.
  const host = `${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`
  const path = pathname.replace(/(?<!\/)\/+$/, '')
  const address = `${protocol}//${host}${path}`
  return emulator === undefined ? address : `${address}@emulator:${URL.parse(emulator)?.origin ?? ''}`
}

export function targetTopic({
  topicEndpoint,
  topicSchema,
}: Pick<OutputMetadata, 'topicEndpoint' | 'topicSchema'>): TargetTopic {
  const { origin, pathname } = new URL(topicEndpoint)
  const isNamespace = topicSchema === 'auto' && isNamespaceTopic(topicEndpoint)
  return {
    topicSchema: isNamespace ? ('CloudEventSchemaV1_0' as const) : topicSchema,
    defaultSource: `${origin}${pathname}`,
  }
}

export interface TargetTopic {
  /** The schema of the topic. `auto`: not known; the first answers of the topic show the schema. */
  readonly topicSchema: OutputMetadata['topicSchema']
  /** The source of a CloudEvent that is made of an Event Grid event without a topic. */
  readonly defaultSource: string
}

/** How an event was published; a text says why it can't be published. */
export type Published = { readonly converted: boolean } | string

export function createEitherPublisher(output: Pick<OutputSide, 'publish'>, topic: TargetTopic) {
  let taken: EventSchema | undefined = topic.topicSchema === 'auto' ? undefined : topic.topicSchema

  async function send(letter: DeadLetter, converted: boolean): Promise<Published> {
    const event = converted ? convertEvent(letter, topic.defaultSource) : letter.event
    if (typeof event === 'string') return event
    try {
      await output.publish(JSON.stringify(event))
      return { converted }
    } catch (error) {
      if (error instanceof BindingError && isAboutEvent(error)) return error.what
      throw error
    }
  }

  return {
    isSchemaKnown: () => taken !== undefined,
    /** Rejects where the fault is not the event's: then no other would be published either. */
    async publish(letter: DeadLetter): Promise<Published> {
      if (taken !== undefined) return send(letter, taken !== letter.schema)
      const asItIs = await send(letter, false)
      const published = typeof asItIs === 'string' ? await send(letter, true) : asItIs
      // The event itself is at fault, and the next one tells.
      if (typeof published === 'string') return asItIs
      taken =
        published.converted === (letter.schema === 'CloudEventSchemaV1_0') ? 'EventGridSchema' : 'CloudEventSchemaV1_0'
      return published
    },
  }
}

/** What would become of a dead letter, as far as that is known without asking the topic (pure). */
export function decideUnpublished(letter: DeadLetter, { topicSchema, defaultSource }: TargetTopic): Published {
  const converted = topicSchema !== 'auto' && topicSchema !== letter.schema
  const event = converted ? convertEvent(letter, defaultSource) : letter.event
  return typeof event === 'string' ? event : { converted }
}

/** Or about all events that this topic is sent. */
const isAboutEvent = (error: BindingError) =>
  error.code === 'PAYLOAD_INVALID' ||
  error.code === 'PAYLOAD_TOO_LARGE' ||
  (error.code === 'PUBLISH_REJECTED' && error.details.status === 400)

/** The event in the other schema, or why that schema has no form for it (pure). `source`: for a CloudEvent, where the event has none. */
export function convertEvent(letter: DeadLetter, source: string): UnknownRecord | string {
  return letter.schema === 'CloudEventSchemaV1_0' ? toEventGridEvent(letter) : toCloudEvent(letter, source)
}

/** The versions have no place in a CloudEvent. Event Grid drops them too, when it delivers a CloudEvent. */
function toCloudEvent({ event }: DeadLetter, topic: string): UnknownRecord | string {
  const reading = readEvent({ topic, ...event })
  return 'invalid' in reading ? reading.invalid : { ...reading.cloudEvent }
}

/** Attributes that are left out. Event Grid sets the topic itself, in place of `source`. The event goes without its trace context. */
const leftOut: ReadonlySet<string> = new Set(['specversion', 'source', 'traceparent', 'tracestate'])
const carried: ReadonlySet<string> = new Set(['id', 'type', 'subject', 'time', 'data', 'datacontenttype'])
const heldMediaType = /^(?:text\/plain|application\/(?:[\w.-]+\+)?json)\s*(?:;|$)/i

function toEventGridEvent({ event, publishTime }: DeadLetter): UnknownRecord | string {
  const { id, type, data, datacontenttype: mediaType } = event
  const time = event.time ?? publishTime
  const strays = Object.keys(event).filter((name) => event[name] !== null && !leftOut.has(name) && !carried.has(name))
  if (strays.length > 0) return `the Event Grid schema has no place for ${strays.join(', ')}`
  if (typeof mediaType === 'string' && !heldMediaType.test(mediaType)) {
    return `the Event Grid schema holds JSON and text, and its datacontenttype is ${mediaType}`
  }
  if (time === undefined) return 'the Event Grid schema needs a time, and it has none'
  // As Event Grid converts the other way: an empty subject is none.
  return { id, eventType: type, subject: event.subject ?? '', eventTime: time, ...(data !== undefined && { data }) }
}
