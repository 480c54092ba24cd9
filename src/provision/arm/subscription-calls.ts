// Which SDK methods are called for an ordinary, system topic or partner topic subscription.
import type { EventGridManagementClient, EventSubscriptions } from '@azure/arm-eventgrid'
import type { SubscriptionPath } from './subscription-path.ts'

type Get = Parameters<EventSubscriptions['get']>[2]
type Body<Begin extends 'beginCreateOrUpdate' | 'beginUpdate'> = Parameters<EventSubscriptions[Begin]>[2]
/** What is used of the SDK's poller. */
export type Poller = Pick<
  Awaited<ReturnType<EventSubscriptions['beginCreateOrUpdate' | 'beginUpdate']>>,
  'poll' | 'isDone'
>

/** The SDK's calls for one event subscription, whichever path it is kept under. */
export interface SubscriptionCalls {
  get(options: Get): ReturnType<EventSubscriptions['get']>
  getFullUrl(options: Get): ReturnType<EventSubscriptions['getFullUrl']>
  getDeliveryAttributes(options: Get): ReturnType<EventSubscriptions['getDeliveryAttributes']>
  beginCreateOrUpdate(body: Body<'beginCreateOrUpdate'>, options: Get): Promise<Poller>
  beginUpdate(body: Body<'beginUpdate'>, options: Get): Promise<Poller>
}

export function bindSubscriptionCalls(
  client: EventGridManagementClient,
  path: SubscriptionPath,
  name: string,
): SubscriptionCalls {
  if (path.kind === 'extension') {
    const { eventSubscriptions: calls } = client
    const { scope } = path
    return {
      get: (options) => calls.get(scope, name, options),
      getFullUrl: (options) => calls.getFullUrl(scope, name, options),
      getDeliveryAttributes: (options) => calls.getDeliveryAttributes(scope, name, options),
      beginCreateOrUpdate: (body, options) => calls.beginCreateOrUpdate(scope, name, body, options),
      beginUpdate: (body, options) => calls.beginUpdate(scope, name, body, options),
    }
  }
  const { resourceGroup, topic } = path
  const calls =
    path.kind === 'systemTopic' ? client.systemTopicEventSubscriptions : client.partnerTopicEventSubscriptions
  return {
    get: (options) => calls.get(resourceGroup, topic, name, options),
    getFullUrl: (options) => calls.getFullUrl(resourceGroup, topic, name, options),
    getDeliveryAttributes: (options) => calls.getDeliveryAttributes(resourceGroup, topic, name, options),
    beginCreateOrUpdate: (body, options) => calls.beginCreateOrUpdate(resourceGroup, topic, name, body, options),
    beginUpdate: (body, options) => calls.beginUpdate(resourceGroup, topic, name, body, options),
  }
}
