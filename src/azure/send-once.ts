/** How each request to Azure goes, by a client of the SDKs or by their pipeline alone: once, in bounds, and with a token that is not refused. */
import {
  createDefaultHttpClient,
  createPipelineFromOptions,
  decompressResponsePolicyName,
  type PipelinePolicy,
  type PipelineRequest,
  type PipelineResponse,
} from '@azure/core-rest-pipeline'
import { type AnswerLimit, createAnswerLimitPolicy } from './answer-limit.ts'
import { createRefusedTokenPolicy } from './refused-token.ts'
import type { RenewableCredential } from './token-keeper.ts'

export interface RequestOptions {
  /** How it connects: `createTrustPolicy`, or the policy of `openConnections`. */
  readonly connect: PipelinePolicy
  /** Whose token is renewed where it is refused. */
  readonly entra?: { readonly credential: RenewableCredential; readonly scope: string } | undefined
  /** How much of an answer is read; absent where the caller reads it. */
  readonly answerLimit?: AnswerLimit
}

/** The policies of a request, in their order after the choice of a proxy. */
const policiesOf = ({ connect, entra, answerLimit }: RequestOptions): readonly PipelinePolicy[] => [
  ...(entra ? [createRefusedTokenPolicy(entra.credential, entra.scope)] : []),
  connect,
  ...(answerLimit ? [createAnswerLimitPolicy(answerLimit)] : []),
]

/** Callers try again themselves, and a redirect would carry the credential elsewhere. */
const sentOnce = {
  retryOptions: { maxRetries: 0 },
  redirectOptions: { maxRetries: 0 },
  userAgentOptions: { userAgentPrefix: 'eventgrid-binding' },
}

/** The options of a client of the SDKs. @param more further policies, which see the request last */
export const clientOptions = (options: RequestOptions, more: readonly PipelinePolicy[] = []) => ({
  ...sentOnce,
  additionalPolicies: [...policiesOf(options), ...more].map((policy) => ({ policy, position: 'perRetry' as const })),
})

/** Sends a request that no client of the SDKs sends. */
export function createSendOnce(options: RequestOptions) {
  const client = createDefaultHttpClient()
  const pipeline = createPipelineFromOptions(sentOnce)
  for (const policy of policiesOf(options)) pipeline.addPolicy(policy, { afterPhase: 'Retry' })
  // The bounds of answers are on bytes as they arrive.
  pipeline.removePolicy({ name: decompressResponsePolicyName })
  return (request: PipelineRequest): Promise<PipelineResponse> => pipeline.sendRequest(client, request)
}
