/** How each request to Azure goes, by a client of the SDKs or by their pipeline alone: once, in bounds, and with a token that is not refused. */
import { Readable } from 'node:stream'
import {
  createDefaultHttpClient,
  createPipelineFromOptions,
  decompressResponsePolicyName,
  type PipelinePolicy,
  type PipelineRequest,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline'
import type { RenewableCredential } from './token-keeper.ts'

/** The policies of a request: one each for connection, token and bound. */
export interface RequestOptions {
  /** How it connects, also through a proxy: `createTrustPolicy`, or the policy of `openConnections`. */
  readonly connect: PipelinePolicy
  /** Whose token is renewed where it is refused. */
  readonly entra?: { readonly credential: RenewableCredential; readonly scope: string } | undefined
  /** How much of an answer is read; absent where the caller reads it. */
  readonly answerLimit?: AnswerLimit
}

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

/** In their order after the choice of a proxy. */
const policiesOf = ({ connect, entra, answerLimit }: RequestOptions): readonly PipelinePolicy[] => [
  ...(entra ? [createRefusedTokenPolicy(entra.credential, entra.scope)] : []),
  connect,
  ...(answerLimit ? [createAnswerLimitPolicy(answerLimit)] : []),
]

/**
 * A policy that has a refused token renewed and sends the request once more, where the next token is another. To be added for each
 * retry: so it stands behind the SDK's own policies that ask for the first token and make an error of the answer.
 */
export function createRefusedTokenPolicy(credential: RenewableCredential, scope: string): PipelinePolicy {
  return {
    name: 'eventgrid-binding-refused-token',
    async sendRequest(request, next) {
      const response = await next(request)
      const [, refused] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? []
      if (response.status !== 401 || refused === undefined || !credential.renew(refused)) return response
      // An answer that nobody reads would keep its connection.
      const { readableStreamBody: unread } = response
      if (unread) await readBounded(unread, { maxBytes: maxAnswerBytes, longer: 'cut' })
      const { abortSignal } = request
      const token = await credential.getToken(scope, abortSignal && { abortSignal })
      request.headers.set('authorization', `Bearer ${token.token}`)
      return next(request)
    },
  }
}

/** The most bytes of an answer of ARM or Entra that are read. Theirs have a few thousand. */
export const maxAnswerBytes = 1_048_576

/** How {@link createAnswerLimitPolicy} treats a long answer. */
export interface AnswerLimit {
  readonly maxBytes: number
  /** `fail` rejects the request; `cut` keeps the first `maxBytes`. Both end the connection. */
  readonly longer: 'fail' | 'cut'
}

/** A pipeline policy that bounds the body of each answer. Add it last: the policies before it read `bodyAsText` as usual. */
export function createAnswerLimitPolicy(limit: AnswerLimit): PipelinePolicy {
  return {
    name: 'eventgrid-binding-answer-limit',
    async sendRequest(request, next) {
      // The bound is on bytes as they arrive. The SDK's decompression hides them, and hangs when the connection breaks.
      request.headers.delete('accept-encoding')
      request.streamResponseStatusCodes = allStatusCodes
      const response = await next(request)
      request.streamResponseStatusCodes = noStatusCodes
      const { readableStreamBody, ...rest } = response
      const body = readableStreamBody && (await readBounded(readableStreamBody, limit))
      return { ...rest, bodyAsText: body?.toString() ?? '' }
    },
  }
}

/** Makes the pipeline hand out the body of every answer as a stream. */
const allStatusCodes = new Set([Number.POSITIVE_INFINITY])
const noStatusCodes = new Set<number>()

/**
 * Reads the body of an answer. Uses listeners: the iterator of a stream costs more than the rest of a small answer.
 *
 * @throws RestError where the connection breaks, or where a longer body fails
 */
export function readBounded(stream: NodeJS.ReadableStream, { maxBytes, longer }: AnswerLimit): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = () => {
      // It follows a good end as well, and an error takes time to make.
      stream.off('close', broken)
      resolve(Buffer.concat(chunks, Math.min(size, maxBytes)))
    }
    const fail = (message: string, code: string) => reject(new RestError(message, { code }))
    // The SDK reports a connection that breaks before the answer in the same way.
    const broken = () => fail('the connection broke in the middle of the answer', 'ECONNRESET')
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= maxBytes) return
      if (longer === 'cut') finish()
      else fail(`the answer has more than ${maxBytes} bytes`, 'ANSWER_TOO_LONG')
      // Ends the connection too.
      if (stream instanceof Readable) stream.destroy()
    })
    stream.on('end', finish)
    stream.on('error', broken)
    stream.on('close', broken)
  })
}
