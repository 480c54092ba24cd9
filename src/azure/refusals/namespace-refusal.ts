/** What a refusal of a namespace to receive or settle means, and what to do about it. */

import type { PullMetadata } from '../../metadata/typed/metadata.ts'
import { shellWord } from '../../support/text/text.ts'
import { roleRemedy } from './remedies.ts'

export interface NamespaceRefusal {
  /** Absent where there was no answer. */
  readonly status?: number
  readonly reason: string
}

/** What to do about a refusal of the namespace; `undefined` where its status tells nothing. */
export function explainNamespaceRefusal(failure: NamespaceRefusal, pull: PullMetadata): string | undefined {
  const { namespaceTopic, namespaceKey, clientId } = pull
  const { subscriptionId, resourceGroup, namespace } = namespaceTopic
  const { status } = failure
  if (status === 401 && namespaceKey) {
    const line =
      `az eventgrid namespace list-key --name ${shellWord(namespace)} ` +
      `--resource-group ${shellWord(resourceGroup)} --subscription ${subscriptionId}`
    return `check namespaceKey:\n${line}`
  }
  if (status === 401 || status === 403) {
    return roleRemedy('EventGrid Data Receiver', clientId, shellWord(namespaceTopic.namespaceId))
  }
  if (status === 404 || status === 410) return whatIsMissing(failure, pull)
  return undefined
}

/**
 * Event Grid documents 410 for a missing topic when publishing, and was seen to answer 404 to all calls: the words tell what is
 * missing.
 */
function whatIsMissing({ reason }: NamespaceRefusal, pull: PullMetadata): string {
  const { namespaceTopic, eventSubscriptionName, credential } = pull
  const { id, subscriptionId, resourceGroup, namespace, topic } = namespaceTopic
  const checkTopic =
    `check namespaceTopic and namespaceEndpoint; this line shows the topic ${topic}:\n` +
    `az eventgrid namespace topic show --name ${shellWord(topic)} --namespace-name ${shellWord(namespace)} ` +
    `--resource-group ${shellWord(resourceGroup)} --subscription ${subscriptionId}`
  const create =
    `create the event subscription ${eventSubscriptionName} of ${id} with delivery mode Queue` +
    (credential ? '' : ', or give tenantId, clientId and clientSecret so that it is created here')
  const namesSubscription = /subscription/i.test(reason)
  if (namesSubscription) return create
  return /topic/i.test(reason) ? checkTopic : `${create}. If it exists, ${checkTopic}`
}
