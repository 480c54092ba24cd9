import { createPipelineRequest, type HttpMethods, RestError } from '@azure/core-rest-pipeline'
import { readJson } from '../support/json-text.ts'
import { type ArmClientOptions, connectArm, resourceManagerOf } from './arm-client.ts'

/** A call of ARM that the SDK for Event Grid does not have. */
export interface ArmCall {
  readonly method: HttpMethods
  /** Begins with a slash; may have an `api-version` already, as in a `nextLink`. */
  readonly path: string
  readonly apiVersion: string
  readonly signal: AbortSignal
  readonly timeoutMs?: number
  readonly body?: object
}

/** The JSON of the answer; `undefined` where it has none. Rejects as the SDK's own calls do: `readFailure` reads it. */
export type CallArm = (call: ArmCall) => Promise<unknown>

/** Connects to ARM. @throws BindingError METADATA_INVALID where the endpoint of ARM is not https */
export function createArmCaller(options: ArmClientOptions): CallArm {
  const client = connectArm(options)
  const resourceManager = resourceManagerOf(options.endpoints, options.environment)
  return async ({ method, path, apiVersion, signal, timeoutMs = 0, body }) => {
    const url = new URL(`${resourceManager}${path}`)
    if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', apiVersion)
    const request = createPipelineRequest({ url: url.href, method, abortSignal: signal, timeout: timeoutMs })
    if (body) {
      request.body = JSON.stringify(body)
      request.headers.set('content-type', 'application/json')
    }
    const response = await client.sendRequest(request)
    const { status: statusCode, bodyAsText } = response
    if (statusCode < 400) return readJson(bodyAsText)
    throw new RestError(`Azure Resource Manager answered ${statusCode}`, { statusCode, request, response })
  }
}
