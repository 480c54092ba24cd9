import type { PipelinePolicy } from '@azure/core-rest-pipeline'
import { ArmFailureError } from './arm-failure.ts'

/**
 * A policy that sends requests to Azure Resource Manager only. The SDK follows any URL that an answer names
 * (`Azure-AsyncOperation`, `Location`, `nextLink`) and would send the token there.
 */
export function createOwnHostPolicy(resourceManager: string): PipelinePolicy {
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
