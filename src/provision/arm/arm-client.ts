/** The connection to Azure Resource Manager: what each call is bound by, in one way for all that is asked and written. */

import { EventGridManagementClient } from '@azure/arm-eventgrid'
import {
  createHttpHeaders,
  createPipelineRequest,
  type HttpMethods,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline'
import { clientOptions, maxAnswerBytes } from '../../azure/http.ts'
import { refuseUnusableProxy } from '../../azure/proxy.ts'
import { ArmFailureError } from '../../azure/read-failure.ts'
import type { RenewableCredential } from '../../azure/token-keeper.ts'
import { createTrustPolicy } from '../../azure/trust.ts'
import { eventGridApiVersion } from '../../core/api-versions.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import type { AzureEnvironment } from '../../metadata/fields/azure-environment.ts'
import { metadataInvalid } from '../../metadata/typed/metadata-invalid.ts'
import { readJson } from '../../support/text/json-text.ts'
import { type SteadyClock, systemClock, withLimit } from '../../support/time/clock.ts'
import type { CallLimits } from './call-limits.ts'

export interface ArmOptions {
  readonly environment: AzureEnvironment
  readonly subscriptionId: string
  readonly credential: RenewableCredential
  readonly endpoints: Endpoints
  /** Longest that one request may take, the token for it included, in ms. @default 30_000 */
  readonly requestTimeoutMs?: number
  readonly clock?: SteadyClock
}

export interface ArmRequest {
  /** @default GET */
  readonly method?: HttpMethods
  /** A path that begins with a slash, or a URL of ARM, as in a `nextLink`. Its own `api-version` stays. */
  readonly path: string
  /** @default that of Event Grid's resources */
  readonly apiVersion?: string
  readonly body?: object
}

export type Arm = ReturnType<typeof connectArm>

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
 * Connects to ARM by the SDK's client. Retries are the caller's: the SDK's own are off, so that they do not multiply. Nor are its
 * operations for event subscriptions used: their model of 2022 has no namespaces, and drops from a body and from an answer what it does
 * not know.
 *
 * @throws BindingError METADATA_INVALID where the endpoint of ARM is not https, or would be asked through a proxy of an unknown kind
 */
export function connectArm(options: ArmOptions) {
  const { environment, subscriptionId, credential, endpoints, requestTimeoutMs = 30_000, clock = systemClock } = options
  const resourceManager = resourceManagerOf(endpoints, environment)
  refuseUnusableProxy(resourceManager)
  const own = new URL(resourceManager).origin
  const scope = environment.resourceManagerScope
  const client = new EventGridManagementClient(credential, subscriptionId, {
    ...clientOptions({
      connect: createTrustPolicy(endpoints),
      entra: { credential, scope },
      answerLimit: { maxBytes: maxAnswerBytes, longer: 'fail' },
    }),
    endpoint: resourceManager,
    credentialScopes: scope,
  })

  /** Sends one request. Rejects with a RestError where ARM refuses it, or as the SDK does: `readFailure` reads both. */
  async function send(given: ArmRequest, { signal, deadline }: CallLimits): Promise<PipelineResponse> {
    const { method = 'GET', path, apiVersion = eventGridApiVersion, body } = given
    const url = new URL(path.startsWith('/') ? resourceManager + path : path)
    if (url.origin !== own) {
      // A URL that an answer names (`Azure-AsyncOperation`, `Location`, `nextLink`) would get the token.
      const message = `it names another host, ${url.host}; the token is sent to ${own} only`
      throw new ArmFailureError({ kind: 'lost', message })
    }
    if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', apiVersion)
    const request = createPipelineRequest({
      url: url.href,
      method,
      headers: createHttpHeaders({ accept: 'application/json', ...(body && { 'content-type': 'application/json' }) }),
      ...(body && { body: JSON.stringify(body) }),
    })
    const ms = Math.max(1, Math.min(requestTimeoutMs, deadline - clock.elapsed()))
    // The SDK's own timer leaves out the token, outlives an aborted request and keeps the process alive.
    const response = await withLimit({ ms, signal }, (limited) => {
      request.abortSignal = limited
      return client.sendRequest(request)
    })
    const { status: statusCode } = response
    if (statusCode < 300) return response
    throw new RestError(`Azure Resource Manager answered ${statusCode}`, { statusCode, request, response })
  }

  return {
    resourceManager,
    clock,
    send,
    /** The JSON of the answer to a request; `undefined` where it has none. */
    ask: async (request: ArmRequest, limits: CallLimits) => readJson((await send(request, limits)).bodyAsText),
  }
}
