/** The connection to Azure Resource Manager: what each call is bound by, and calls that the SDK lacks. */

import { EventGridManagementClient, type EventSubscriptionsGetOptionalParams } from '@azure/arm-eventgrid'
import {
  createPipelineRequest,
  type HttpMethods,
  type PipelinePolicy,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline'
import { createAnswerLimitPolicy, maxAnswerBytes } from '../../azure/answer-limit.ts'
import { refuseUnusableProxy } from '../../azure/proxy.ts'
import { ArmFailureError } from '../../azure/read-failure.ts'
import { createRefusedTokenPolicy } from '../../azure/refused-token.ts'
import type { RenewableCredential } from '../../azure/token-keeper.ts'
import { trustPolicies } from '../../azure/trust.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import type { AzureEnvironment } from '../../metadata/fields/azure-environment.ts'
import { metadataInvalid } from '../../metadata/typed/metadata-invalid.ts'
import { readJson } from '../../support/text/json-text.ts'
import { withLimit } from '../../support/time/clock.ts'

export interface ArmClientOptions {
  readonly environment: AzureEnvironment
  readonly subscriptionId: string
  readonly credential: RenewableCredential
  readonly endpoints: Endpoints
  /** Written into each request. @default that of the request, which for the SDK's own operations is an old one */
  readonly apiVersion?: string
}

/**
 * The base URL of Azure Resource Manager, without a trailing slash.
 *
 * @throws BindingError METADATA_INVALID where it is not https
 */
export function resourceManagerOf(endpoints: Endpoints, environment: AzureEnvironment): string {
  const resourceManager = (endpoints.resourceManager ?? environment.resourceManager).replace(/(?<!\/)\/+$/, '')
  if (/^https:\/\//i.test(resourceManager)) return resourceManager
  const fix = 'give it, or AZURE_RESOURCE_MANAGER_URL, as an https URL'
  const issue = { field: 'endpoints.resourceManager', rule: 'must be an https URL', fix }
  throw metadataInvalid('the endpoint of Azure Resource Manager is not https', [issue])
}

/**
 * Connects to ARM. Retries are the caller's: the SDK's own are off, so that they do not multiply. `first` are policies that
 * see each call before the others.
 *
 * @throws BindingError METADATA_INVALID where the endpoint of ARM is not https, or would be asked through a proxy of an unknown kind
 */
export function connectArm(
  options: ArmClientOptions,
  first: readonly PipelinePolicy[] = [],
): EventGridManagementClient {
  const { environment, subscriptionId, credential, endpoints, apiVersion } = options
  const resourceManager = resourceManagerOf(endpoints, environment)
  refuseUnusableProxy(resourceManager)
  const perRetry = [
    createRefusedTokenPolicy(credential, environment.resourceManagerScope),
    createOwnHostPolicy(resourceManager),
    ...trustPolicies(endpoints),
    createAnswerLimitPolicy({ maxBytes: maxAnswerBytes, longer: 'fail' }),
  ]
  return new EventGridManagementClient(credential, subscriptionId, {
    endpoint: resourceManager,
    $host: resourceManager,
    ...(apiVersion && { apiVersion }),
    credentialScopes: environment.resourceManagerScope,
    retryOptions: { maxRetries: 0 },
    userAgentOptions: { userAgentPrefix: 'eventgrid-binding' },
    additionalPolicies: [
      ...[...first, createTimeLimitPolicy()].map((policy) => ({
        policy,
        position: 'perCall' as const,
      })),
      ...perRetry.map((policy) => ({ policy, position: 'perRetry' as const })),
    ],
  })
}

/** What limits one request, as the SDK's methods take it. */
export type CallOptions = Pick<EventSubscriptionsGetOptionalParams, 'abortSignal' | 'requestOptions'>

/** A request to ARM that the SDK for Event Grid has no method for. */
export interface ArmRequest extends CallOptions {
  readonly method: HttpMethods
  /** A path that begins with a slash, or a URL of ARM, as in a `nextLink`. May have an `api-version` already. */
  readonly path: string
  /** @default that of the client */
  readonly apiVersion?: string
  readonly body?: object
}

/** Sends a request by the SDK's own pipeline. Rejects as the SDK's methods do: `readFailure` reads it. */
export async function sendToArm(client: EventGridManagementClient, given: ArmRequest): Promise<PipelineResponse> {
  const { method, path, apiVersion = client.apiVersion, abortSignal, requestOptions, body } = given
  const url = new URL(path, `${client.$host}/`)
  if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', apiVersion)
  const timeout = requestOptions?.timeout ?? 0
  const request = createPipelineRequest({ url: url.href, method, timeout, ...(abortSignal && { abortSignal }) })
  if (body) {
    request.body = JSON.stringify(body)
    request.headers.set('content-type', 'application/json')
  }
  const response = await client.sendRequest(request)
  const { status: statusCode } = response
  if (statusCode < 400) return response
  throw new RestError(`Azure Resource Manager answered ${statusCode}`, { statusCode, request, response })
}

/** The JSON of what a GET answers; `undefined` where it has none. Rejects as {@link sendToArm}. */
export const getFromArm = async (client: EventGridManagementClient, given: Omit<ArmRequest, 'method' | 'body'>) =>
  readJson((await sendToArm(client, { ...given, method: 'GET' })).bodyAsText)

/**
 * A policy that sends requests to Azure Resource Manager only. The SDK follows any URL that an answer names
 * (`Azure-AsyncOperation`, `Location`, `nextLink`) and would send the token there.
 */
function createOwnHostPolicy(resourceManager: string): PipelinePolicy {
  const own = new URL(resourceManager).origin
  return {
    name: 'eventgrid-binding-own-host',
    async sendRequest(request, next) {
      const { origin, host } = new URL(request.url)
      if (origin === own) return next(request)
      const message = `it names another host, ${host}; the token is sent to ${own} only`
      throw new ArmFailureError({ kind: 'lost', message })
    },
  }
}

/**
 * A pipeline policy that enforces `timeout` by a signal, so that it includes the time for a token. The SDK's own timer
 * outlives an aborted request and keeps the process alive.
 */
export function createTimeLimitPolicy(): PipelinePolicy {
  return {
    name: 'eventgrid-binding-time-limit',
    sendRequest(request, next) {
      const { abortSignal, timeout } = request
      if (timeout <= 0) return next(request)
      request.timeout = 0
      // The SDK's type allows for signals that are not the platform's; ours always are.
      const signal = abortSignal instanceof AbortSignal ? abortSignal : undefined
      return withLimit({ ms: timeout, signal }, (limited) => {
        request.abortSignal = limited
        return next(request)
      })
    },
  }
}
