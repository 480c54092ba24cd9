/** Publishing in traces and metrics: the spans of calls and requests, and what is counted. Asked only where the process has an SDK. */
import { type Attributes, type Context, type Link, ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api'
import { BindingError } from '../core/errors.ts'
import {
  activeContext,
  attribute,
  bounded,
  dropErrors,
  endSpan,
  errorType,
  instruments,
  messagingSystem,
  otherError,
  remoteSpan,
  runInContext,
  startSpan,
  type TraceContext,
  traceContextOf,
  withSpan,
} from '../core/telemetry.ts'
import { topicName } from '../metadata/fields/addresses.ts'
import { type WireEvent, withTraceContext } from './events.ts'
import type { TopicAnswer } from './rejection.ts'

interface SentCall {
  readonly context: Context | undefined
}

type Send = () => Promise<TopicAnswer>

export type PublishTracing = ReturnType<typeof createPublishTracing>

/** One call of `create`, in traces and metrics. */
export type CallTrace = ReturnType<PublishTracing['call']>

/** A span keeps no more links by default. */
const maxLinks = 128

/** Makes the traces and metrics of the topic at a URL. */
export function createPublishTracing(url: URL, maxEventBytes: number) {
  const destination = bounded(topicName(url) ?? url.hostname)
  const common: Attributes = {
    [attribute.system]: messagingSystem,
    [attribute.operationName]: 'publish',
    [attribute.operationType]: 'send',
    [attribute.destination]: destination,
    [attribute.serverAddress]: bounded(url.hostname),
    ...(url.port !== '' && { [attribute.serverPort]: Number(url.port) }),
  }
  const name = `publish ${destination}`

  function beginSpan(events: readonly WireEvent[]): Span | undefined {
    const [first] = events
    const single: Attributes = first ? { [attribute.messageId]: bounded(first.id) } : {}
    const several = events.length > 1
    return startSpan(name, {
      kind: several ? SpanKind.CLIENT : SpanKind.PRODUCER,
      attributes: { ...common, ...(several ? { [attribute.batchCount]: events.length } : single) },
      links: linksTo(events),
    })
  }

  return {
    call() {
      let count = 0
      let span: Span | undefined
      return {
        /** Begins the span `publish {topic}`. Gives its context, and the events: an event without a context gets that one. */
        begin(events: readonly WireEvent[]) {
          count = events.length
          span = beginSpan(events)
          if (!span) return { events, context: undefined }
          const added = traceContextOf(span)
          const traced = events.map((event) =>
            added && event.takesTrace ? withTraceContext(event, added, maxEventBytes) : event,
          )
          return { events: traced, context: withSpan(activeContext(), span) }
        },
        /** @param error what the call was rejected with */
        end(error?: unknown) {
          const failed = error === undefined ? 0 : failedOf(error, count)
          const type = error === undefined ? undefined : typeOf(error)
          const sent = instruments()?.sentMessages
          if (count > failed) sent?.add(count - failed, common)
          if (failed > 0) sent?.add(failed, { ...common, ...errorType(type) })
          // A payload that is not an event has no span yet.
          endSpan(span ?? beginSpan([]), type)
        },
      }
    },
    /** Sends a request. A request of several calls has a span of its own, which is linked to the spans of the calls. */
    async request(calls: readonly SentCall[], events: number, send: Send): Promise<TopicAnswer> {
      const links = calls.slice(0, maxLinks).flatMap(linkToCall)
      const attributes = { ...common, [attribute.batchCount]: events }
      const joint =
        calls.length < 2 ? undefined : startSpan(name, { kind: SpanKind.CLIENT, attributes, links }, ROOT_CONTEXT)
      const own = joint ? withSpan(ROOT_CONTEXT, joint) : (calls[0]?.context ?? ROOT_CONTEXT)
      const since = performance.now()
      const answer = await runInContext(own, send, undefined)
      const error = errorOf(answer)
      const seconds = (performance.now() - since) / 1000
      instruments()?.operationDuration.record(seconds, { ...common, ...errorType(error) })
      endSpan(joint, error)
      return answer
    },
  }
}

/** Links to the contexts that the events bring, each once. */
function linksTo(events: readonly WireEvent[]): Link[] {
  const origins = new Map<string, TraceContext>()
  for (const { origin } of events) if (origin && origins.size < maxLinks) origins.set(origin.traceparent, origin)
  return [...origins.values()].map((origin) => ({ context: remoteSpan(origin) }))
}

function linkToCall({ context: own }: SentCall): Link[] {
  const linked = own && dropErrors(() => trace.getSpanContext(own))
  return linked ? [{ context: linked }] : []
}

function failedOf(error: unknown, count: number): number {
  const ids = error instanceof BindingError && 'ids' in error.details ? error.details.ids : undefined
  return Math.min(count, Array.isArray(ids) ? ids.length : count)
}

const typeOf = (error: unknown): string => (error instanceof BindingError ? error.code : otherError)

/** `error.type` of a request: the status, or why there was none. */
function errorOf(answer: TopicAnswer): string | undefined {
  if (answer.kind === 'accepted') return undefined
  return answer.kind === 'answered' ? String(answer.status) : answer.kind
}
