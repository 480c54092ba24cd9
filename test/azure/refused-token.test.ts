import { Readable } from 'node:stream'
import { createHttpHeaders, createPipelineRequest, type PipelineResponse } from '@azure/core-rest-pipeline'
import { expect, it } from 'vitest'
import { createRefusedTokenPolicy } from '../../src/azure/http.ts'

it.each([
  { name: 'a token that is renewed', header: 'Bearer old', status: 401, renews: true, again: true },
  { name: 'a token that is not renewed', header: 'Bearer old', status: 401, renews: false, again: false },
  { name: 'a token that is not refused', header: 'Bearer old', status: 403, renews: true, again: false },
  { name: 'no token', header: undefined, status: 401, renews: true, again: false },
  { name: 'another credential', header: 'SharedAccessKey Bearer x', status: 401, renews: true, again: false },
])('goes once more with $name: $again', async ({ header, status, renews, again }) => {
  const caller = new AbortController()
  const refused: string[] = []
  const asked: unknown[] = []
  const { sendRequest } = createRefusedTokenPolicy(
    {
      getToken: async (scope, options) => {
        asked.push(scope, options?.abortSignal)
        return { token: 'new', expiresOnTimestamp: 0 }
      },
      renew: (token) => {
        refused.push(token)
        return renews
      },
    },
    'scope',
  )
  const request = createPipelineRequest({ url: 'https://x.example.com', abortSignal: caller.signal })
  if (header !== undefined) request.headers.set('authorization', header)
  const sent: (string | undefined)[] = []
  const unread = Readable.from([Buffer.from('refused')])
  const answer = await sendRequest(request, async (one): Promise<PipelineResponse> => {
    sent.push(one.headers.get('authorization'))
    const whole = { request: one, headers: createHttpHeaders() }
    if (sent.length === 1) return { ...whole, status, readableStreamBody: unread }
    // Its connection would stay taken.
    expect(unread.readableEnded).toBe(true)
    return { ...whole, status: 200 }
  })
  expect(sent).toEqual(again ? [header, 'Bearer new'] : [header])
  expect(answer.status).toBe(again ? 200 : status)
  expect(refused).toEqual(status === 401 && header === 'Bearer old' ? ['old'] : [])
  expect(asked).toEqual(again ? ['scope', caller.signal] : [])
})
