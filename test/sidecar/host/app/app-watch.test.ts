import { expect, it, onTestFinished, vi } from 'vitest'
import { watchApp } from '../../../../src/sidecar/host/app/app-watch.ts'

/** An application that is well or not, look by look; the last word stays. */
function watched(words: readonly boolean[], threshold: number): Promise<readonly string[]> {
  const said: string[] = []
  return new Promise((resolve) => {
    let looks = 0
    const { stop } = watchApp({
      channel: {
        reachable: async () => true,
        async healthy() {
          const word = words[looks++]
          if (word === undefined) resolve(said)
          said.push(word ? 'well' : 'unwell')
          return word ?? false
        },
      },
      health: { path: '/', intervalMs: 1, threshold },
      changed: (up) => said.push(up ? 'UP' : 'DOWN'),
      missing: () => said.push('MISSING'),
      failed: () => expect.unreachable(),
    })
    onTestFinished(stop)
  })
}

it.each([
  ['is down until it is well once', 3, [false, true], 'unwell MISSING well UP unwell'],
  ['goes down after that many failures in a row', 2, [true, false, false], 'well UP unwell unwell DOWN unwell'],
  ['stays up where failures are not in a row', 2, [true, false, true, false], 'well UP unwell well unwell unwell'],
])('%s', async (_name, threshold, words, expected) => {
  const said = await watched(words, threshold)
  expect(said.join(' ')).toBe(expected)
})

it('looks no more once it is stopped, be it within a look', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const looked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<boolean>()
  const said: string[] = []
  let looks = 0
  const { stop } = watchApp({
    channel: {
      reachable: async () => true,
      healthy() {
        looks++
        looked.resolve()
        return answer.promise
      },
    },
    health: { path: '/', intervalMs: 1, threshold: 1 },
    changed: () => said.push('changed'),
    missing: () => said.push('missing'),
    failed: () => expect.unreachable(),
  })
  await looked.promise
  stop()
  answer.resolve(true)
  await vi.advanceTimersByTimeAsync(1_000)
  expect({ looks, said }).toEqual({ looks: 1, said: [] })
})

it('goes by health alone where that is asked for', async () => {
  const up = Promise.withResolvers<void>()
  const said: boolean[] = []
  const { gone, stop } = watchApp({
    channel: { reachable: async () => false, healthy: async () => true },
    health: { path: '/', intervalMs: 60_000, threshold: 3 },
    changed(is) {
      said.push(is)
      up.resolve()
    },
    missing: () => {},
    failed: () => expect.unreachable(),
  })
  onTestFinished(stop)
  await up.promise
  gone()
  expect(said).toEqual([true])
})

it('looks at the port until somebody listens there, and again once it is found gone', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const said: string[] = []
  let listens = false
  const watch = () =>
    watchApp({
      channel: {
        async reachable() {
          said.push('look')
          return listens
        },
        healthy: async () => true,
      },
      changed: (up) => said.push(up ? 'UP' : 'DOWN'),
      missing: () => said.push('MISSING'),
      failed: () => expect.unreachable(),
    })
  const { gone, stop } = watch()
  await vi.advanceTimersByTimeAsync(150)
  gone()
  listens = true
  await vi.advanceTimersByTimeAsync(1_000)
  gone()
  gone()
  await vi.advanceTimersByTimeAsync(1_000)
  gone()
  stop()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(said.join(' ')).toBe('look MISSING look look UP DOWN look UP DOWN')
  const another = watch()
  await vi.advanceTimersByTimeAsync(1_000)
  another.stop()
  another.gone()
  expect(said.slice(-2)).toEqual(['look', 'UP'])
})

it('goes on where a look fails, and where nobody can be told', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const said: string[] = []
  let looks = 0
  const { stop } = watchApp({
    channel: {
      reachable: async () => true,
      async healthy() {
        if (++looks === 2) throw new Error('no look')
        return true
      },
    },
    health: { path: '/', intervalMs: 10, threshold: 1 },
    changed(up) {
      said.push(up ? 'UP' : 'DOWN')
      throw new Error('nobody there')
    },
    missing: () => expect.unreachable(),
    failed: (error) => said.push(String(error)),
  })
  onTestFinished(stop)
  await vi.advanceTimersByTimeAsync(25)
  expect(said).toEqual(['UP', 'DOWN', 'UP'].flatMap((word) => [word, 'Error: nobody there']))
})

it('does not call the application missing where it is stopped within the first look', async () => {
  const answer = Promise.withResolvers<boolean>()
  const said: string[] = []
  const { stop } = watchApp({
    channel: { reachable: () => answer.promise, healthy: async () => true },
    changed: () => said.push('changed'),
    missing: () => said.push('missing'),
    failed: () => expect.unreachable(),
  })
  stop()
  answer.resolve(false)
  await new Promise((resolve) => setImmediate(resolve))
  expect(said).toEqual([])
})
