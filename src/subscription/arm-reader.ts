import { createPipelineRequest, RestError } from '@azure/core-rest-pipeline'
import { type ArmClientOptions, connectArm, resourceManagerOf } from './arm-client.ts'

/** Reads resources of ARM that the SDK for Event Grid has no call for. */
export interface ArmReader {
  /**
   * The JSON of a resource; `undefined` where the answer has none. Rejects as the SDK's own calls do: `readFailure` reads it.
   *
   * @param path begins with a slash; may have an `api-version` already, as in a `nextLink`
   */
  get(path: string, apiVersion: string, signal: AbortSignal): Promise<unknown>
}

/** Connects to ARM. @throws BindingError METADATA_INVALID where the endpoint of ARM is not https */
export function createArmReader(options: ArmClientOptions): ArmReader {
  const client = connectArm(options)
  const resourceManager = resourceManagerOf(options.endpoints, options.environment)
  return {
    async get(path, apiVersion, abortSignal) {
      const url = new URL(`${resourceManager}${path}`)
      if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', apiVersion)
      const request = createPipelineRequest({ url: url.href, method: 'GET', abortSignal })
      const response = await client.sendRequest(request)
      const { status: statusCode, bodyAsText } = response
      if (statusCode >= 400) {
        throw new RestError(`Azure Resource Manager answered ${statusCode}`, { statusCode, request, response })
      }
      return parsed(bodyAsText)
    },
  }
}

function parsed(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
