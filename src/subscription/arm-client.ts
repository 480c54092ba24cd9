import { EventGridManagementClient } from '@azure/arm-eventgrid'
import type { TokenCredential } from '@azure/core-auth'
import type { PipelinePolicy } from '@azure/core-rest-pipeline'
import { createAnswerLimitPolicy, maxAnswerBytes } from '../core/answer-limit.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import { trustPolicies } from '../core/trust.ts'
import type { AzureEnvironment } from '../metadata/azure-environment.ts'
import { ArmFailureError } from './arm-failure.ts'
import { createTimeLimitPolicy } from './time-limit.ts'

export interface ArmClientOptions {
  readonly environment: AzureEnvironment
  readonly subscriptionId: string
  readonly credential: TokenCredential
  readonly endpoints: Endpoints
}

/**
 * The base URL of Azure Resource Manager, without a trailing slash.
 *
 * @throws BindingError METADATA_INVALID where it is not https
 */
export function resourceManagerOf(endpoints: Endpoints, environment: AzureEnvironment): string {
  const resourceManager = (endpoints.resourceManager ?? environment.resourceManager).replace(/(?<!\/)\/+$/, '')
  if (/^https:\/\//i.test(resourceManager)) return resourceManager
  throw new BindingError('METADATA_INVALID', {
    what: 'the endpoint of Azure Resource Manager is not https',
    fix: 'give endpoints.resourceManager, or AZURE_RESOURCE_MANAGER_URL, as an https URL',
  })
}

/**
 * Connects to ARM. Retries are the caller's: the SDK's own are off, so that they do not multiply. `first` are policies that
 * see each call before the others.
 *
 * @throws BindingError METADATA_INVALID where the endpoint of ARM is not https
 */
export function connectArm(
  options: ArmClientOptions,
  first: readonly PipelinePolicy[] = [],
): EventGridManagementClient {
  const { environment, subscriptionId, credential, endpoints } = options
  const resourceManager = resourceManagerOf(endpoints, environment)
  const perRetry = [
    createOwnHostPolicy(resourceManager),
    ...trustPolicies(endpoints),
    createAnswerLimitPolicy({ maxBytes: maxAnswerBytes, longer: 'fail' }),
  ]
  return new EventGridManagementClient(credential, subscriptionId, {
    endpoint: resourceManager,
    credentialScopes: environment.resourceManagerScope,
    retryOptions: { maxRetries: 0 },
    userAgentOptions: { userAgentPrefix: 'eventgrid-binding' },
    additionalPolicies: [
      ...[...first, createTimeLimitPolicy()].map((policy) => ({ policy, position: 'perCall' as const })),
      ...perRetry.map((policy) => ({ policy, position: 'perRetry' as const })),
    ],
  })
}

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
