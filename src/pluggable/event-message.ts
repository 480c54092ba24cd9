import type { ReceivedEvent } from '../core/event.ts'
import type { EventMessage, Texts } from './contract.ts'

/**
 * The metadata that the application gets. Dapr makes each a header of its request, whatever its name, so this is an allow-list. The
 * listener has removed credentials already.
 */
const allowed = /^(?:aeg-[\w-]+|traceparent|tracestate)$/

/** The parts of an event that a message needs. The parsed event may be thirty times as large. */
export type SentEvent = Pick<ReceivedEvent, 'data' | 'metadata' | 'contentType'>

/** The message of an event: its own bytes and the allowed metadata. */
export function eventMessage({ data, metadata, contentType }: SentEvent, messageId: string): EventMessage {
  return { data, metadata: allowedMetadata(metadata), contentType, messageId }
}

function allowedMetadata(metadata: Texts): Texts {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => allowed.test(name)))
}
