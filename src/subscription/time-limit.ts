import type { PipelinePolicy } from '@azure/core-rest-pipeline'

/**
 * The policy that takes each request's `timeout` from the SDK and keeps it by a signal instead, for the token that it
 * needs too. The SDK's own timer outlives a request that is aborted, and keeps the process alive.
 */
export function createTimeLimitPolicy(): PipelinePolicy {
  return {
    name: 'eventgrid-binding-time-limit',
    sendRequest(request, next) {
      const { abortSignal, timeout } = request
      if (timeout > 0) {
        const over = AbortSignal.timeout(Math.ceil(timeout))
        // Ours always is one of the platform's own signals; the SDK's type allows for others.
        request.abortSignal = abortSignal instanceof AbortSignal ? AbortSignal.any([abortSignal, over]) : over
        request.timeout = 0
      }
      return next(request)
    },
  }
}
