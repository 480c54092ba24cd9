/** The requests for one event subscription: by the SDK's methods, and plain ones for a namespace topic, which the SDK does not know. */
import type { EventGridManagementClient, EventSubscriptionsGetOptionalParams as Get } from '@azure/arm-eventgrid'
import { LroEngine, type LroResponse } from '@azure/core-lro'
import { isRestError, type PipelinePolicy, type PipelineResponse } from '@azure/core-rest-pipeline'
import { readJson } from '../../support/text/json-text.ts'
import { type SubscriptionPlace, subscriptionIdOf } from '../decide/subscription-place.ts'
import { type ArmRequest, type CallOptions, getFromArm, sendToArm } from './arm-client.ts'

/** Receives each answer of a write and of its polls. */
export type OnResponse = (response: RawResponse) => void

export type RawResponse = Pick<PipelineResponse, 'status' | 'headers' | 'bodyAsText'>

/** What is used of the SDK's poller. */
export interface Poller {
  poll(): Promise<void>
  isDone(): boolean
}

/** A PUT holds the whole event subscription, a PATCH the top-level fields to replace. Holds secrets. */
export interface SubscriptionWrite {
  readonly method: 'PUT' | 'PATCH'
  readonly properties: Readonly<Record<string, unknown>>
}

/** The requests for one event subscription. The answers are ARM's own JSON. They reject with what the SDK throws. */
export interface SubscriptionCalls {
  get(options: CallOptions): Promise<unknown>
  getFullUrl(options: CallOptions): Promise<unknown>
  getDeliveryAttributes(options: CallOptions): Promise<unknown>
  /** One page of all event subscriptions of the source. */
  getPage(options: CallOptions, path: string): Promise<unknown>
  begin(write: SubscriptionWrite, options: CallOptions, onResponse: OnResponse): Promise<Poller>
}

/** @param connect makes a client of the SDK, with policies that see each call before the others */
export function bindSubscriptionCalls(
  connect: (first?: readonly PipelinePolicy[]) => EventGridManagementClient,
  place: SubscriptionPlace,
): SubscriptionCalls {
  const client = connect()
  const id = subscriptionIdOf(place)
  const getPage: SubscriptionCalls['getPage'] = (options, path) => getFromArm(client, { path, ...options })

  if (place.kind === 'namespaceTopic') {
    return {
      get: (options) => getPage(options, id),
      getFullUrl: async () => undefined,
      getDeliveryAttributes: async () => undefined,
      getPage,
      async begin({ method, properties }, options, onResponse) {
        const send = async (request: Omit<ArmRequest, keyof CallOptions>): Promise<LroResponse> => {
          const response = await sendToArm(client, { ...request, ...options })
          onResponse(response)
          const body = readJson(response.bodyAsText)
          return {
            flatResponse: body,
            rawResponse: { statusCode: response.status, headers: response.headers.toJSON(), body },
          }
        }
        const poller = new LroEngine({
          requestMethod: method,
          requestPath: id,
          sendInitialRequest: () => send({ method, path: id, body: { properties } }),
          sendPollRequest: (path) => send({ method: 'GET', path }),
        })
        await poller.poll()
        return poller
      },
    }
  }

  const { get, getFullUrl, getDeliveryAttributes } = sdkCalls(client, place)
  return {
    get: (options) => rawAnswer((onResponse) => get({ ...options, onResponse })),
    getFullUrl: (options) => rawAnswer((onResponse) => getFullUrl({ ...options, onResponse })),
    getDeliveryAttributes: (options) => rawAnswer((onResponse) => getDeliveryAttributes({ ...options, onResponse })),
    getPage,
    begin({ method, properties }, options, onResponse) {
      const body = method === 'PUT' ? { properties } : properties
      const writing = sdkCalls(connect([createBodyPolicy(body)]), place)
      return method === 'PUT'
        ? writing.beginCreateOrUpdate({ ...options, onResponse })
        : writing.beginUpdate({ ...options, onResponse })
    },
  }
}

/** The SDK's methods for the path. The bodies of its writes come from a policy. */
function sdkCalls(client: EventGridManagementClient, place: Exclude<SubscriptionPlace, { kind: 'namespaceTopic' }>) {
  const { name } = place
  if (place.kind === 'extension') {
    const { eventSubscriptions: calls } = client
    // With a leading slash the SDK would ask for //subscriptions/...
    const scope = place.sourceId.slice(1)
    return {
      get: (options: Get) => calls.get(scope, name, options),
      getFullUrl: (options: Get) => calls.getFullUrl(scope, name, options),
      getDeliveryAttributes: (options: Get) => calls.getDeliveryAttributes(scope, name, options),
      beginCreateOrUpdate: (options: Get) => calls.beginCreateOrUpdate(scope, name, {}, options),
      beginUpdate: (options: Get) => calls.beginUpdate(scope, name, {}, options),
    }
  }
  const { resourceGroup, topic } = place
  const calls =
    place.kind === 'systemTopic' ? client.systemTopicEventSubscriptions : client.partnerTopicEventSubscriptions
  return {
    get: (options: Get) => calls.get(resourceGroup, topic, name, options),
    getFullUrl: (options: Get) => calls.getFullUrl(resourceGroup, topic, name, options),
    getDeliveryAttributes: (options: Get) => calls.getDeliveryAttributes(resourceGroup, topic, name, options),
    beginCreateOrUpdate: (options: Get) => calls.beginCreateOrUpdate(resourceGroup, topic, name, {}, options),
    beginUpdate: (options: Get) => calls.beginUpdate(resourceGroup, topic, name, {}, options),
  }
}

/** The JSON of an answer as ARM sent it: the SDK's model drops the settings that it does not know. */
async function rawAnswer(call: (onResponse: OnResponse) => Promise<unknown>): Promise<unknown> {
  let text: string | null | undefined
  try {
    await call((response) => {
      text = response.bodyAsText
    })
  } catch (error) {
    // A good answer that the SDK cannot read; what is wrong with it is told by our own reading.
    if (!isRestError(error) || !error.response || error.response.status >= 400) throw error
    text = error.response.bodyAsText
  }
  return readJson(text)
}

/** Sends this body in place of the one that the SDK makes of its model. */
function createBodyPolicy(body: object): PipelinePolicy {
  return {
    name: 'eventgrid-binding-body',
    sendRequest(request, next) {
      if (request.method === 'PUT' || request.method === 'PATCH') request.body = JSON.stringify(body)
      return next(request)
    },
  }
}
