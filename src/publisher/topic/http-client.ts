/** The HTTP request of a topic, because the SDK's own client would never notice an answer of 101. */
import { Agent, type IncomingMessage, request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { createHttpHeaders, type HttpClient, type PipelineResponse, RestError } from '@azure/core-rest-pipeline'

/** Sends a request whose body is bytes. Each answer has its body as a stream. */
export const httpClient: HttpClient = {
  sendRequest(request) {
    const { url, method, headers, body, agent, abortSignal, requestOverrides } = request
    const isPlain = !url.startsWith('https:')
    return new Promise<PipelineResponse>((resolve, reject) => {
      if (isPlain && !request.allowInsecureConnection) throw new Error('plain http is for loopback addresses only')
      if (!Buffer.isBuffer(body)) throw new Error('a request to a topic has bytes as its body')
      const outgoing = (isPlain ? requestByHttp : requestByHttps)(url, {
        method,
        headers: headers.toJSON(),
        ...(agent instanceof Agent && { agent }),
        ...(abortSignal instanceof AbortSignal && { signal: abortSignal }),
        ...requestOverrides,
      })
      const answer = (incoming: IncomingMessage) => {
        const given = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])
        const answered = createHttpHeaders(Object.fromEntries(given))
        resolve({ request, status: incoming.statusCode ?? 0, headers: answered, readableStreamBody: incoming })
      }
      outgoing.on('response', answer)
      outgoing.on('upgrade', (incoming, socket) => {
        answer(incoming)
        socket.destroy()
      })
      outgoing.on('error', ({ message, code = RestError.REQUEST_SEND_ERROR }: NodeJS.ErrnoException) =>
        reject(new RestError(message, { code, request })),
      )
      outgoing.end(body)
    })
  },
}
