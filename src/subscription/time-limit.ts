import type { PipelinePolicy } from '@azure/core-rest-pipeline'

/**
 * A pipeline policy that enforces `timeout` by a signal, so that it includes the time for a token. The SDK's own timer
 * outlives an aborted request and keeps the process alive.
 */
export function createTimeLimitPolicy(): PipelinePolicy {
  return {
    name: 'eventgrid-binding-time-limit',
    sendRequest(request, next) {
      const { abortSignal, timeout } = request
      if (timeout > 0) {
        const over = AbortSignal.timeout(Math.ceil(timeout))
        // The SDK's type allows for signals that are not the platform's; ours always are.
        request.abortSignal = abortSignal instanceof AbortSignal ? AbortSignal.any([abortSignal, over]) : over
        request.timeout = 0
      }
      return next(request)
    },
  }
}
