import { createPipelineRequest, type PipelineRequest } from '@azure/core-rest-pipeline'
import { expect, it } from 'vitest'
import { createTimeLimitPolicy } from '../../../src/provision/arm/arm-client.ts'

/** Sends a request through the policy; what comes out at its end. */
async function send(options: {
  readonly timeout?: number
  readonly abortSignal?: AbortSignal
}): Promise<PipelineRequest> {
  const request = createPipelineRequest({ url: 'https://arm.example', ...options })
  const passed = Promise.withResolvers<PipelineRequest>()
  await createTimeLimitPolicy().sendRequest(request, async (sent) => {
    passed.resolve(sent)
    return { status: 200, request: sent, headers: request.headers }
  })
  return passed.promise
}

const ended = (signal: PipelineRequest['abortSignal']) =>
  new Promise((resolve) => signal?.addEventListener('abort', resolve))

it("keeps a request's time-out by its signal and leaves the SDK none", async () => {
  const { timeout, abortSignal } = await send({ timeout: 0.5 })
  expect(timeout).toBe(0)
  // The signal's own timer keeps no process alive, so something else has to.
  const alive = setInterval(() => {}, 1_000)
  await ended(abortSignal)
  clearInterval(alive)
  expect(abortSignal?.aborted).toBe(true)
})

it("gives each request its own limit, so that an operation's polls do not share one", async () => {
  const { signal } = new AbortController()
  const [one, other] = [
    await send({ timeout: 60_000, abortSignal: signal }),
    await send({ timeout: 60_000, abortSignal: signal }),
  ]
  expect(one.abortSignal).not.toBe(other.abortSignal)
})

it("still ends a request by the caller's signal", async () => {
  const caller = new AbortController()
  const { abortSignal } = await send({ timeout: 60_000, abortSignal: caller.signal })
  caller.abort()
  expect(abortSignal?.aborted).toBe(true)
})
