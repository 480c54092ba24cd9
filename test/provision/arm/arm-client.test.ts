import { createPipelineRequest, type PipelineRequest } from '@azure/core-rest-pipeline'
import { expect, it } from 'vitest'
import { createTimeLimitPolicy } from '../../../src/provision/arm/arm-client.ts'

/** Sends a request through the policy, which answers when the request has ended; what came out at its end. */
async function send(options: { readonly timeout?: number; readonly abortSignal?: AbortSignal }) {
  const request = createPipelineRequest({ url: 'https://arm.example', ...options })
  const passed = Promise.withResolvers<PipelineRequest>()
  const answered = createTimeLimitPolicy().sendRequest(request, async (sent) => {
    passed.resolve(sent)
    await new Promise((resolve) => sent.abortSignal?.addEventListener('abort', resolve))
    return { status: 200, request: sent, headers: request.headers }
  })
  return { sent: await passed.promise, answered }
}

it("keeps a request's time-out by its signal and leaves the SDK none", async () => {
  const { sent, answered } = await send({ timeout: 0.5 })
  await answered
  expect(sent.timeout).toBe(0)
  expect(sent.abortSignal).toMatchObject({ aborted: true, reason: { name: 'TimeoutError' } })
})

it("gives each request its own limit, and ends all by the caller's signal", async () => {
  const caller = new AbortController()
  const given = { timeout: 60_000, abortSignal: caller.signal }
  const [one, other] = [await send(given), await send(given)]
  expect(one.sent.abortSignal).not.toBe(other.sent.abortSignal)
  caller.abort()
  await Promise.all([one.answered, other.answered])
  expect(one.sent.abortSignal?.aborted).toBe(true)
})
