import { expect, it, onTestFinished, vi } from 'vitest'
import { lateReadMs, watchState } from '../../../src/support/time/clock.ts'

/** What `changed` is called with while one state after another is seen. */
function changesOf(states: readonly (string | Error)[]): Promise<readonly string[]> {
  const changes: string[] = []
  return new Promise((resolve) => {
    let looks = 0
    const stop = watchState<string>({
      known: 'old',
      late: () => {},
      intervalMs: 1,
      async read() {
        const state = states[looks++]
        if (state instanceof Error) throw state
        if (state !== undefined) return state
        void stop()
        resolve(changes)
        return changes.at(-1) ?? 'old'
      },
      async changed(state) {
        changes.push(state)
      },
    })
  })
}

it.each([
  { name: 'once it has stood still', states: ['old', 'new', 'new', 'new'], expected: ['new'] },
  { name: 'not for what lasts a moment', states: ['', 'new', 'new'], expected: ['new'] },
  { name: 'not where it comes back to what it was', states: ['new', 'old', 'old'], expected: [] },
  { name: 'not for a look that fails', states: [new Error('gone'), new Error('gone'), 'old'], expected: [] },
  { name: 'for each change', states: ['a', 'a', 'b', 'b'], expected: ['a', 'b'] },
])('tells of a change $name', async ({ states, expected }) => {
  expect(await changesOf(states)).toEqual(expected)
})

it('tells of no change once it is stopped, and waits for the one that it has told of', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const told: string[] = []
  const taken = Promise.withResolvers<void>()
  let read = async () => 'new'
  const watch = () =>
    watchState<string>({
      known: 'old',
      late: () => {},
      intervalMs: 10,
      read: () => read(),
      changed(state) {
        told.push(state)
        return taken.promise
      },
    })
  const stop = watch()
  await vi.advanceTimersByTimeAsync(20)
  read = async () => 'newer'
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toEqual(['new'])
  const stopped = stop().then(() => told.push('stopped'))
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toEqual(['new'])
  taken.resolve()
  await stopped
  expect([told, vi.getTimerCount()]).toEqual([['new', 'stopped'], 0])

  const stopWithinLook = watch()
  await vi.advanceTimersByTimeAsync(10)
  const seen = Promise.withResolvers<string>()
  read = () => seen.promise
  await vi.advanceTimersByTimeAsync(10)
  const ended = stopWithinLook()
  seen.resolve('newer')
  await ended
  await vi.advanceTimersByTimeAsync(100)
  expect([told, vi.getTimerCount()]).toEqual([['new', 'stopped'], 0])
})

it('tells once of a read that hangs, and when it has ended of what it has read, though that is the same', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const told: string[] = []
  const hung = Promise.withResolvers<string>()
  let read = async () => 'old'
  const stop = watchState<string>({
    known: 'old',
    intervalMs: 10,
    read: () => read(),
    late: () => void told.push('late'),
    async changed(state) {
      told.push(state)
    },
  })
  await vi.advanceTimersByTimeAsync(100)
  read = () => hung.promise
  await vi.advanceTimersByTimeAsync(lateReadMs)
  expect(told).toEqual([])
  await vi.advanceTimersByTimeAsync(10 * lateReadMs)
  expect(told).toEqual(['late'])
  read = async () => 'old'
  hung.resolve('old')
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toEqual(['late', 'old'])
  await stop()
  expect(vi.getTimerCount()).toBe(0)
})
