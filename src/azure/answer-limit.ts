/** How much of an answer of Azure is read: a longer one fails or is cut. */
import { Readable } from 'node:stream'
import { type PipelinePolicy, RestError } from '@azure/core-rest-pipeline'

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
      request.streamResponseStatusCodes = new Set([Number.POSITIVE_INFINITY])
      const response = await next(request)
      request.streamResponseStatusCodes = new Set()
      const { readableStreamBody, ...rest } = response
      const body = readableStreamBody && (await readBounded(readableStreamBody, limit))
      return { ...rest, bodyAsText: body?.toString() ?? '' }
    },
  }
}

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
