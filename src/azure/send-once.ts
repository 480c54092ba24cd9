/** Requests to Azure that no SDK sends: by the SDK's pipeline, without its retries, its redirects and its decompression. */
import {
  createDefaultHttpClient,
  createPipelineFromOptions,
  decompressResponsePolicyName,
  type PipelinePolicy,
  type PipelineRequest,
  type PipelineResponse,
} from '@azure/core-rest-pipeline'

/** Of clients whose callers try again themselves. A redirect would carry the credential elsewhere. */
export const sentOnce = { retryOptions: { maxRetries: 0 }, redirectOptions: { maxRetries: 0 } }

/** @param policies see the request in this order, after the choice of a proxy */
export function createSendOnce(policies: readonly PipelinePolicy[]) {
  const client = createDefaultHttpClient()
  const userAgentOptions = { userAgentPrefix: 'eventgrid-binding' }
  const pipeline = createPipelineFromOptions({ ...sentOnce, userAgentOptions })
  for (const policy of policies) pipeline.addPolicy(policy, { afterPhase: 'Retry' })
  // The bounds of answers are on bytes as they arrive.
  pipeline.removePolicy({ name: decompressResponsePolicyName })
  return (request: PipelineRequest): Promise<PipelineResponse> => pipeline.sendRequest(client, request)
}
