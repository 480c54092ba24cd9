import type { PipelineResponse } from '@azure/core-rest-pipeline'
import type { JSONWebKeySet } from 'jose'
import { trustOptions } from '../core/trust.ts'
import { isRecord } from '../support/is-record.ts'

export interface KeySetFetchOptions {
  /** https address of the key set. */
  readonly url: string
  /** Certificates (PEM) to trust beside Node's own. */
  readonly ca: string | undefined
  /** Longest wait for the whole answer, in milliseconds. @default 5_000 */
  readonly timeoutMs?: number
  /** Ends a fetch under way. */
  readonly closing?: AbortSignal
}

/** Entra's set has a few kilobytes. */
const maxBytes = 262_144

/** Fetches a JSON Web Key Set the way the Azure SDKs fetch: through the proxy of the environment, and trusting the same certificates. */
export function createKeySetFetch(options: KeySetFetchOptions): () => Promise<JSONWebKeySet> {
  const { url, ca, timeoutMs = 5_000, closing } = options
  /** Loaded with the first fetch: a listener that checks no tokens does without, and no listener has to wait for it. */
  const connect = async () => {
    const { createDefaultHttpClient, createPipelineFromOptions, createPipelineRequest } = await import(
      '@azure/core-rest-pipeline'
    )
    const client = createDefaultHttpClient()
    const pipeline = createPipelineFromOptions({ retryOptions: { maxRetries: 0 }, redirectOptions: { maxRetries: 0 } })
    for (const { policy } of trustOptions(ca === undefined ? {} : { ca }).additionalPolicies)
      pipeline.addPolicy(policy, { phase: 'Sign' })
    return (abortSignal: AbortSignal) =>
      pipeline.sendRequest(
        client,
        createPipelineRequest({
          url,
          abortSignal,
          disableKeepAlive: true,
          streamResponseStatusCodes: new Set([200]),
        }),
      )
  }
  let connecting: ReturnType<typeof connect> | undefined
  return async () => {
    connecting ??= connect()
    const send = await connecting
    // Not AbortSignal.any, which keeps each fetch for as long as `closing` lasts.
    const over = new AbortController()
    const end = () => over.abort()
    const timer = setTimeout(end, timeoutMs)
    closing?.addEventListener('abort', end)
    if (closing?.aborted) end()
    try {
      return readKeySet(JSON.parse(await readAnswer(await send(over.signal))))
    } finally {
      clearTimeout(timer)
      closing?.removeEventListener('abort', end)
    }
  }
}

async function readAnswer({ status, readableStreamBody }: PipelineResponse): Promise<string> {
  if (status !== 200 || !readableStreamBody) throw new Error(`the key set was answered with ${status}`)
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of readableStreamBody) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > maxBytes) throw new Error('the key set is too large')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString()
}

function readKeySet(value: unknown): JSONWebKeySet {
  const keys = isRecord(value) && Array.isArray(value.keys) ? value.keys.filter(isRecord) : []
  return { keys: keys.filter((key) => typeof key.kty === 'string').map((key) => ({ ...key, kty: String(key.kty) })) }
}
