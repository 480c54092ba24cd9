import { pullRemedy } from '../binding/pull-remedy.ts'
import type { RequestFailure } from '../receiver/namespace-client.ts'
import { readFailure } from '../subscription/arm-failure.ts'
import type { CheckId } from './check-ids.ts'
import { type Finding, failed, ok, warning } from './finding.ts'
import type { PullWorld, ReachedNamespace } from './pull-world.ts'
import type { Check } from './run-checks.ts'

/** Asks to receive no events: the request is refused for its form once the credential and the names are judged. */
export function pullReceiveCheck(world: PullWorld): Check {
  const { credential, namespaceTopic, eventSubscriptionName } = world.pull
  return {
    id: 'pull/receive',
    needs: ['files/metadata', 'files/secrets', 'files/names', ...(credential ? (['azure/credential'] as const) : [])],
    // Longer than an empty queue is waited for, in case 0 events count as a request.
    limitMs: 15_000,
    async run(signal) {
      const namespace = await reach(world)
      if ('finding' in namespace) return namespace.finding
      const answer = await namespace.client.receive({ maxEvents: 0, maxWaitSeconds: 10, signal })
      if ('failure' in answer && answer.failure.status !== 400) return refusal(world, namespace, answer.failure)
      if ('events' in answer) await giveBack(namespace, answer.events, signal)
      return ok(`${eventSubscriptionName} of ${namespaceTopic.id} may be received from with ${proofOf(world)}`)
    },
  }
}

/** Acknowledges a lock token that nobody has: the answer names it as failed, and no event is touched. */
export function pullSettleCheck(world: PullWorld): Check {
  return {
    id: 'pull/settle',
    needs: ['pull/receive'],
    async run(signal) {
      const namespace = await reach(world)
      if ('finding' in namespace) return namespace.finding
      const lockTokens = ['eventgrid-binding-check']
      const answer = await namespace.client.settle({ operation: 'acknowledge', lockTokens, signal })
      if ('failure' in answer && answer.failure.status !== 400) return refusal(world, namespace, answer.failure)
      return ok(`events may be acknowledged with ${proofOf(world)}`)
    },
  }
}

const proofOf = ({ pull }: PullWorld) => (pull.namespaceKey ? 'namespaceKey' : 'the token')

async function reach(world: PullWorld): Promise<ReachedNamespace | { readonly finding: Finding }> {
  try {
    return await world.namespace()
  } catch (error) {
    const { message, status } = readFailure(error, Date.now())
    const { namespaceId } = world.pull.namespaceTopic
    return {
      finding: failed(`Resource Manager does not tell the host of ${namespaceId}: ${message}`, {
        remedy: 'check namespaceTopic and the role of the client, or give namespaceEndpoint',
        belongsTo: status === 403 ? 'azure/permission' : about(status),
      }),
    }
  }
}

/** The check of Azure that reports the cause, if it failed too. */
function about(status: number | undefined): CheckId | undefined {
  return status === 404 || status === 410 ? 'azure/scope' : undefined
}

function refusal(world: PullWorld, { endpoint }: ReachedNamespace, failure: RequestFailure): Finding {
  const { pull } = world
  const { host } = new URL(endpoint)
  const { status } = failure
  const isMissing = status === 404 && /event ?subscription/i.test(failure.reason)
  if (isMissing && pull.credential) {
    return warning(`there is no event subscription ${pull.eventSubscriptionName} yet: init creates it`)
  }
  const what =
    failure.status === undefined
      ? `${host} gives no answer: ${failure.reason}`
      : `${host} answered with ${failure.reason}`
  const remedy =
    failure.fix ??
    pullRemedy(failure, pull, endpoint) ??
    (failure.status === undefined ? 'check namespaceEndpoint, the network and a proxy (HTTPS_PROXY)' : 'run it again')
  const belongsTo = failure.noToken ? 'azure/credential' : about(status)
  return failed(what, { remedy, belongsTo })
}

/** Releases what was received all the same. */
async function giveBack(
  { client }: ReachedNamespace,
  events: readonly { readonly lockToken: string }[],
  signal: AbortSignal,
): Promise<void> {
  if (events.length === 0) return
  const lockTokens = events.map(({ lockToken }) => lockToken)
  await client.settle({ operation: 'release', lockTokens, signal })
}
