/** The spans and durations of the requests of pull delivery. */
import { type Attributes, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api'
import {
  attribute,
  bounded,
  endSpan,
  errorType,
  hasTelemetry,
  instruments,
  messagingSystem,
  remoteSpan,
  runInContext,
  startSpan,
  withSpan,
} from '../core/telemetry.ts'
import type {
  NamespaceClient,
  NamespaceClientOptions,
  ReceiveAnswer,
  SettleAnswer,
  SettleOperation,
  SettleRequest,
} from './namespace-client.ts'

/**
 * The same client, with spans where the process has an SDK: each request is a CLIENT span, `receive {event subscription}` or
 * the name of the settlement.
 */
export function traceClient(
  client: NamespaceClient,
  at: Pick<NamespaceClientOptions, 'namespaceEndpoint' | 'topicName' | 'eventSubscriptionName'>,
): NamespaceClient {
  const common: Attributes = {
    [attribute.system]: messagingSystem,
    [attribute.destination]: bounded(at.topicName),
    [attribute.eventSubscription]: bounded(at.eventSubscriptionName),
    [attribute.serverAddress]: bounded(new URL(at.namespaceEndpoint).hostname),
  }

  async function traced<Answer extends ReceiveAnswer | SettleAnswer>(
    name: 'receive' | SettleOperation,
    { signal, origins = [], lockTokens = [] }: Pick<SettleRequest, 'signal'> & Partial<SettleRequest>,
    send: () => Promise<Answer>,
  ): Promise<Answer> {
    if (!hasTelemetry()) return send()
    const type = name === 'receive' ? 'receive' : 'settle'
    const attributes = { ...common, [attribute.operationName]: name, [attribute.operationType]: type }
    const spanName = `${name} ${bounded(at.eventSubscriptionName)}`
    // Without a parent: requests go on long after what began them.
    const links = origins.map((origin) => ({ context: remoteSpan(origin) }))
    const span = startSpan(spanName, { kind: SpanKind.CLIENT, attributes, links }, ROOT_CONTEXT)
    const since = performance.now()
    const answer = await runInContext(withSpan(ROOT_CONTEXT, span), send, undefined)
    // A request that we end ourselves has not failed.
    const error = signal.aborted ? undefined : typeOf(answer)
    const seconds = (performance.now() - since) / 1000
    instruments()?.operationDuration.record(seconds, { ...attributes, ...errorType(error) })
    const { length } = 'events' in answer ? answer.events : lockTokens
    endSpan(span, error, { [attribute.batchCount]: length })
    return answer
  }

  return {
    receive: (ask) => traced('receive', ask, () => client.receive(ask)),
    settle: (request) => traced(request.operation, request, () => client.settle(request)),
    close: client.close,
  }
}

/** `error.type` of an answer: the status, or why there was none. */
function typeOf(answer: ReceiveAnswer | SettleAnswer): string | undefined {
  if (!('failure' in answer)) return undefined
  const { status, noToken } = answer.failure
  return status === undefined ? (noToken ? 'no-token' : 'unreachable') : String(status)
}
