/** What follows from a 401 of Resource Manager, a topic or a namespace: the token is renewed, and the request goes once more. */
import type { PipelinePolicy } from '@azure/core-rest-pipeline'
import { maxAnswerBytes, readBounded } from './answer-limit.ts'
import type { RenewableCredential } from './token-keeper.ts'

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
