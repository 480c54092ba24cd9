// Advice when a namespace refuses receiving (401, 403, 404, 410): `az` lines, role.
import { emulatorFixes, fixFor, roleFix } from '../../azure/emulator-fix.ts'
import type { PullMetadata } from '../../metadata/typed/metadata.ts'
import type { RequestFailure } from '../../receiver/namespace-client.ts'
import { shellWord } from '../../support/text/text.ts'

/** What to do about a refusal of the namespace; `undefined` where its status tells nothing. */
export function pullRemedy(
  failure: Pick<RequestFailure, 'status' | 'reason'>,
  pull: PullMetadata,
  namespaceEndpoint: string,
): string | undefined {
  const { namespaceTopic, namespaceKey, clientId } = pull
  const { subscriptionId, resourceGroup, namespace } = namespaceTopic
  const { status } = failure
  if (status === 401 && namespaceKey) {
    const line =
      `az eventgrid namespace list-key --name ${shellWord(namespace)} ` +
      `--resource-group ${shellWord(resourceGroup)} --subscription ${subscriptionId}`
    return fixFor(namespaceEndpoint, emulatorFixes.key('namespaceKey'), `check namespaceKey:\n${line}`)
  }
  if (status === 401 || status === 403) {
    return roleFix(namespaceEndpoint, 'EventGrid Data Receiver', clientId, shellWord(namespaceTopic.namespaceId))
  }
  if (status === 404 || status === 410) return whatIsMissing(failure, pull)
  return undefined
}

/** Event Grid documents 410 for a missing topic when publishing. Which status says what for receiving is not documented. */
function whatIsMissing({ status, reason }: Pick<RequestFailure, 'status' | 'reason'>, pull: PullMetadata): string {
  const { namespaceTopic, eventSubscriptionName, credential } = pull
  const { id, subscriptionId, resourceGroup, namespace, topic } = namespaceTopic
  const checkTopic =
    `check namespaceTopic and namespaceEndpoint; this line shows the topic ${topic}:\n` +
    `az eventgrid namespace topic show --name ${shellWord(topic)} --namespace-name ${shellWord(namespace)} ` +
    `--resource-group ${shellWord(resourceGroup)} --subscription ${subscriptionId}`
  const create =
    `create the event subscription ${eventSubscriptionName} of ${id} with delivery mode Queue` +
    (credential ? '' : ', or give tenantId, clientId and clientSecret so that it is created here')
  const namesSubscription = /event ?subscription/i.test(reason)
  if (namesSubscription) return create
  return status === 410 || /topic/i.test(reason) ? checkTopic : `${create}. If it exists, ${checkTopic}`
}
