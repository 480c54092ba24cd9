import type { ReceivedEvent } from '../core/event.ts'
import type { EventMessage, Texts } from './contract.ts'

/**
 * What is handed on of an event's metadata. Dapr makes each a header of its request to the application, whatever it is, so this is
 * a list of what may pass, and not of what may not. The listener has kept back credentials already.
 */
const passed = /^(?:aeg-[\w-]+|traceparent|tracestate)$/

/** Tracing that is off: handed on, it would end up as the trace of many events. */
const noTrace = /^[\da-f]{2}-0{32}-/

/** What a message takes of an event; not what it was parsed to, which may be thirty times as large. */
export type SentEvent = Pick<ReceivedEvent, 'data' | 'metadata' | 'contentType'>

/** The message for an event: its own bytes, and the metadata that may pass. */
export function eventMessage({ data, metadata, contentType }: SentEvent, messageId: string): EventMessage {
  return { data, metadata: passingMetadata(metadata), contentType, messageId }
}

function passingMetadata(metadata: Texts): Texts {
  const untraced = noTrace.test(metadata.traceparent ?? '')
  const passing: Record<string, string> = {}
  for (const [name, value] of Object.entries(metadata)) {
    if (!passed.test(name) || (untraced && name.startsWith('trace'))) continue
    passing[name] = value
  }
  return passing
}
