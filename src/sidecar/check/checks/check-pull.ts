/** Checks `pull/receive` and `pull/settle`: may the key or token receive and acknowledge? */
import { readFailure } from '../../../azure/read-failure.ts'
import { explainNamespaceRefusal } from '../../../azure/refusals/namespace-refusal.ts'
import type { PullMetadata } from '../../../metadata/typed/metadata.ts'
import {
  type NamespaceClient,
  probeReceive,
  type RequestFailure,
  whatRefuses,
} from '../../../receiver/namespace-client.ts'
import type { PullContext, ReachedNamespace } from '../context/pull-context.ts'
import { type Finding, failed, ok, warning } from '../finding.ts'
import type { CheckId } from '../report.ts'

export function tryReceive(context: PullContext, signal: AbortSignal): Promise<Finding> {
  const { namespaceTopic, eventSubscriptionName } = context.pull
  return ask(context, `${eventSubscriptionName} of ${namespaceTopic.id} may be received from`, (client) =>
    probeReceive(client, signal),
  )
}

/** Acknowledges a lock token that nobody has: the answer names it as failed, and no event is touched. */
export function trySettle(context: PullContext, signal: AbortSignal): Promise<Finding> {
  const lockTokens = ['eventgrid-binding-check']
  return ask(context, 'events may be acknowledged', async (client) =>
    whatRefuses(await client.settle({ operation: 'acknowledge', lockTokens, signal })),
  )
}

/** @param may what the client may do where the namespace does not refuse the request */
async function ask(
  context: PullContext,
  may: string,
  send: (client: NamespaceClient) => Promise<RequestFailure | undefined>,
): Promise<Finding> {
  const { namespaceTopic, namespaceKey } = context.pull
  let namespace: ReachedNamespace
  try {
    namespace = await context.namespace()
  } catch (error) {
    const { message, status } = readFailure(error, Date.now())
    return failed(`Resource Manager does not tell the host of ${namespaceTopic.namespaceId}: ${message}`, {
      remedy: 'check namespaceTopic and the role of the client, or give namespaceEndpoint',
      belongsTo: status === 403 ? 'azure/permission' : about(status),
    })
  }
  const failure = await send(namespace.client)
  if (failure) return refusal(context.pull, namespace.endpoint, failure)
  return ok(`${may} with ${namespaceKey ? 'namespaceKey' : 'the token'}`)
}

/** The check of Azure that reports the cause, if that check failed too. */
const about = (status: number | undefined): CheckId | undefined =>
  status === 404 || status === 410 ? 'azure/scope' : undefined

function refusal(pull: PullMetadata, endpoint: string, failure: RequestFailure): Finding {
  const { status, reason, fix, noToken } = failure
  const { host } = new URL(endpoint)
  if (pull.provisioning === 'manage' && pull.credential && status === 404 && /subscription/i.test(reason)) {
    return warning(`there is no event subscription ${pull.eventSubscriptionName} yet: init creates it`)
  }
  const isSilent = status === undefined
  const isOfOthers = isSilent || failure.isForeign
  const otherwise = isOfOthers ? 'check namespaceEndpoint, the network and a proxy (HTTPS_PROXY)' : 'run it again'
  return failed(isSilent ? `${host} gives no answer: ${reason}` : `${host} answered with ${reason}`, {
    remedy: fix ?? explainNamespaceRefusal(failure, pull) ?? otherwise,
    belongsTo: noToken ? 'azure/credential' : about(status),
  })
}
