import { expect, it, onTestFinished, vi } from 'vitest'
import { type AppWatchOptions, watchApp } from '../../../../src/sidecar/host/app/app-watch.ts'

interface Watched extends Omit<Partial<AppWatchOptions>, 'channel'> {
  readonly channel?: Partial<AppWatchOptions['channel']>
}

/** Watches an application that is there and well unless said. Notes what is told of it; the first look comes at once. */
function watch(said: string[], { channel, ...options }: Watched) {
  const watching = watchApp({
    channel: { reachable: async () => true, healthy: async () => true, ...channel },
    changed: (up) => said.push(up ? 'UP' : 'DOWN'),
    missing: () => said.push('MISSING'),
    failed: () => expect.unreachable(),
    ...options,
  })
  onTestFinished(watching.stop)
  return watching
}

it.each([
  ['is down until it is well once', 3, [false, true], 'unwell MISSING well UP unwell'],
  ['goes down after that many failures in a row', 2, [true, false, false], 'well UP unwell unwell DOWN unwell'],
  ['stays up where failures are not in a row', 2, [true, false, true, false], 'well UP unwell well unwell unwell'],
])('%s', async (_name, threshold, words, expected) => {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  let looks = 0
  const said: string[] = []
  watch(said, {
    channel: {
      async healthy() {
        const word = words[looks++]
        said.push(word ? 'well' : 'unwell')
        if (word === undefined) resolve()
        return word ?? false
      },
    },
    health: { path: '/', intervalMs: 1, threshold },
  })
  await over
  expect(said.join(' ')).toBe(expected)
})

it('looks no more once it is stopped, be it within a look', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const looked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<boolean>()
  const said: string[] = []
  const { stop } = watch(said, {
    channel: {
      healthy() {
        said.push('look')
        looked.resolve()
        return answer.promise
      },
    },
    health: { path: '/', intervalMs: 1, threshold: 1 },
  })
  await looked.promise
  stop()
  answer.resolve(true)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(said).toEqual(['look'])
})

it('goes by health alone where that is asked for', async () => {
  const said: string[] = []
  const { gone } = watch(said, {
    channel: { reachable: async () => false },
    health: { path: '/', intervalMs: 60_000, threshold: 3 },
  })
  await expect.poll(() => said).toEqual(['UP'])
  gone()
  expect(said).toEqual(['UP'])
})

it('looks at the port until somebody listens there, and again once it is found gone', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let listens = false
  const said: string[] = []
  const { gone, stop } = watch(said, {
    channel: {
      async reachable() {
        said.push('look')
        return listens
      },
    },
  })
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
})

it('goes on where a look fails, and where nobody can be told', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let looks = 0
  const said: string[] = []
  watch(said, {
    channel: {
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
    failed: (error) => said.push(String(error)),
  })
  await vi.advanceTimersByTimeAsync(25)
  expect(said).toEqual(['UP', 'DOWN', 'UP'].flatMap((word) => [word, 'Error: nobody there']))
})

it('does not call the application missing where it is stopped within the first look', async () => {
  const answer = Promise.withResolvers<boolean>()
  const said: string[] = []
  const { stop } = watch(said, { channel: { reachable: () => answer.promise } })
  stop()
  answer.resolve(false)
  await new Promise((resolve) => setImmediate(resolve))
  expect(said).toEqual([])
})
