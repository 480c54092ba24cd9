/** Publishing an event in the schema that the topic takes: as it is, or converted; which one, the topic's first answers show. */
import type { OutputSide } from '../../binding/sides/output-side.ts'
import { BindingError } from '../../core/errors.ts'
import type { EventSchema, OutputMetadata } from '../../metadata/typed/metadata.ts'
import { convertEvent } from './convert-event.ts'
import type { DeadLetter } from './dead-letter.ts'

export interface TargetTopic {
  /** The schema that it takes. `auto`: not known; its first answers show it. */
  readonly topicSchema: OutputMetadata['topicSchema']
  /** The source of a CloudEvent that is made of an Event Grid event without a topic. */
  readonly defaultSource: string
}

/** How an event was published; a text says why it can't be. */
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

/** What would become of it, as far as that is known without asking the topic (pure). */
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
