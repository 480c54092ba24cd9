import type { AccessToken, GetTokenOptions } from '@azure/core-auth'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTokenKeeper } from '../../src/azure/token-keeper.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** A keeper, and the requests for a token that it makes: each ends when the test says so. */
function open() {
  const requests: (PromiseWithResolvers<AccessToken> & { scopes: string | string[]; options: GetTokenOptions })[] = []
  const keeper = createTokenKeeper((scopes, options) => {
    const ending = Promise.withResolvers<AccessToken>()
    requests.push({ ...ending, scopes, options })
    return ending.promise
  })
  const answer = async (index: number, token: string, lifeMs = 3_600_000) => {
    requests[index]?.resolve({ token, expiresOnTimestamp: Date.now() + lifeMs })
    await new Promise(setImmediate)
  }
  const take = async (options: GetTokenOptions = {}) => {
    const { token, expiresOnTimestamp } = await keeper.getToken('scope', options)
    // The SDKs renew what is not expired in the background, where nobody hears of a failure.
    expect(expiresOnTimestamp).toBe(0)
    return token
  }
  const start = async (lifeMs: number) => {
    const first = take()
    await answer(0, 'first', lifeMs)
    expect(await first).toBe('first')
  }
  return { ...keeper, requests, answer, take, start }
}

describe('a token that is still good', () => {
  it.each([
    { name: 'is kept with over two minutes left', left: 120_001, renewed: 1 },
    { name: 'is renewed with two minutes left, once, and nobody waits', left: 120_000, renewed: 2 },
  ])('$name', async ({ left, renewed }) => {
    const { start, take, requests } = open()
    await start(3_600_000)
    vi.advanceTimersByTime(3_600_000 - left)
    expect(await Promise.all([take(), take()])).toEqual(['first', 'first'])
    expect(requests).toHaveLength(renewed)
  })

  it('is renewed again five seconds after that failed, and kept meanwhile', async () => {
    const { start, take, requests, answer } = open()
    await start(60_000)
    expect(await take()).toBe('first')
    requests[1]?.reject(new Error('no'))
    await new Promise(setImmediate)
    vi.advanceTimersByTime(5_000)
    expect(await take()).toBe('first')
    expect(requests).toHaveLength(2)
    vi.advanceTimersByTime(1)
    expect(await take()).toBe('first')
    expect(requests).toHaveLength(3)
    await answer(2, 'second')
    expect(await take()).toBe('second')
  })

  it('is kept to its end, and then waited for, with all who ask', async () => {
    const { start, take, requests, answer } = open()
    await start(60_000)
    vi.advanceTimersByTime(59_999)
    expect(await take()).toBe('first')
    vi.advanceTimersByTime(1)
    const [one, other] = [take(), take()]
    await answer(1, 'second')
    expect(await Promise.all([one, other])).toEqual(['second', 'second'])
    expect(requests).toHaveLength(2)
  })

  it('is renewed for all, though one who joined has gone', async () => {
    const { start, take, requests, answer } = open()
    await start(60_000)
    await take()
    vi.advanceTimersByTime(60_000)
    const caller = new AbortController()
    const gone = expect(take({ abortSignal: caller.signal })).rejects.toMatchObject({ name: 'AbortError' })
    caller.abort()
    await gone
    expect(requests[1]?.options.abortSignal?.aborted).toBe(false)
    await answer(1, 'second')
    expect(await take()).toBe('second')
    expect(requests).toHaveLength(2)
  })
})

it('has a token for each tenant and each set of scopes, and asks as it was asked', async () => {
  const { getToken, answer, requests, renew } = open()
  const asked: [string | string[], GetTokenOptions][] = [
    ['a', {}],
    ['a', { tenantId: 't' }],
    [['a', 'b'], {}],
  ]
  const all = asked.map(([scopes, options]) => getToken(scopes, options))
  for (const index of asked.keys()) await answer(index, `token-${index}`)
  expect((await Promise.all(all)).map(({ token }) => token)).toEqual(['token-0', 'token-1', 'token-2'])
  expect(requests.map(({ scopes }) => scopes)).toEqual(['a', 'a', ['a', 'b']])
  expect(requests[1]?.options).toMatchObject({ tenantId: 't' })
  for (const [index, [scopes, options]] of asked.entries())
    expect((await getToken(scopes, options)).token).toBe(`token-${index}`)
  // Each is refused for itself.
  expect([renew('token-0'), renew('token-1')]).toEqual([true, true])
  expect((await getToken(['a', 'b'])).token).toBe('token-2')
})

it('renews a refused token once a minute', async () => {
  const { start, take, answer, renew } = open()
  await start(3_600_000)
  // The second one is that of somebody else who was refused with it.
  expect([renew('first'), renew('first')]).toEqual([true, true])
  const second = take()
  await answer(1, 'second')
  expect(await second).toBe('second')
  vi.advanceTimersByTime(59_999)
  expect(renew('second')).toBe(false)
  expect(await take()).toBe('second')
  vi.advanceTimersByTime(1)
  expect(renew('second')).toBe(true)
  expect(renew('never heard of')).toBe(true)
})

it('brings another token for a claims challenge, and no new minute', async () => {
  const { start, take, answer, renew } = open()
  await start(3_600_000)
  renew('first')
  const others = [take(), take({ claims: 'a challenge' })]
  await answer(1, 'second')
  await answer(2, 'third')
  expect(await Promise.all(others)).toEqual(['second', 'third'])
  expect(await take()).toBe('third')
  expect(renew('third')).toBe(false)
})

it('keeps no token that was on its way when the one before was refused', async () => {
  const { start, take, answer, renew } = open()
  await start(60_000)
  // It is renewed in advance.
  expect(await take()).toBe('first')
  renew('first')
  await answer(1, 'old')
  const next = take()
  await answer(2, 'new')
  expect(await next).toBe('new')
})

describe('who goes away', () => {
  it('leaves the request to those who wait on', async () => {
    const { take, answer, requests } = open()
    const caller = new AbortController()
    const stays = take()
    const gone = expect(take({ abortSignal: caller.signal })).rejects.toMatchObject({ name: 'AbortError' })
    caller.abort()
    await gone
    expect(requests[0]?.options.abortSignal?.aborted).toBe(false)
    await answer(0, 'first')
    expect(await stays).toBe('first')
    expect(requests).toHaveLength(1)
  })

  it('ends the request as the last, with his reason, and hears how it ended', async () => {
    const { take, requests } = open()
    const caller = new AbortController()
    const last = expect(take({ abortSignal: caller.signal })).rejects.toThrow('ended')
    caller.abort('late')
    expect(requests[0]?.options.abortSignal).toMatchObject({ aborted: true, reason: 'late' })
    requests[0]?.reject(new Error('ended'))
    await last
  })

  it('leaves a request that has not ended yet, which nobody joins', async () => {
    const { take, answer, requests } = open()
    const caller = new AbortController()
    const all = Promise.race([1, 2].map(() => take({ abortSignal: caller.signal })))
    caller.abort()
    await expect(all).rejects.toMatchObject({ name: 'AbortError' })
    const next = take()
    expect(requests).toHaveLength(2)
    await answer(1, 'second')
    expect(await next).toBe('second')
  })

  it('before he asks ends the request at once', async () => {
    const { take, requests } = open()
    const last = expect(take({ abortSignal: AbortSignal.abort() })).rejects.toThrow('ended')
    expect(requests[0]?.options.abortSignal?.aborted).toBe(true)
    requests[0]?.reject(new Error('ended'))
    await last
  })

  it('after the answer changes nothing', async () => {
    const { take, answer, requests } = open()
    const caller = new AbortController()
    const first = take({ abortSignal: caller.signal })
    await answer(0, 'first')
    expect(await first).toBe('first')
    caller.abort('late')
    expect(requests[0]?.options.abortSignal).not.toMatchObject({ reason: 'late' })
  })
})

it('asks anew after a failure that all heard of', async () => {
  const { take, answer, requests } = open()
  const failed = [take(), take()].map((asking) => expect(asking).rejects.toThrow('no'))
  requests[0]?.reject(new Error('no'))
  await Promise.all(failed)
  const second = take()
  await answer(1, 'second')
  expect(await second).toBe('second')
})
