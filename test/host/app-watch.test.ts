import { expect, it, onTestFinished } from 'vitest'
import { watchApp } from '../../src/host/app-watch.ts'

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
    })
    onTestFinished(stop)
  })
}

it.each([
  {
    name: 'is down until it is well once',
    words: [false, true],
    threshold: 3,
    expected: 'unwell MISSING well UP unwell',
  },
  {
    name: 'goes down after that many failures in a row',
    words: [true, false, false],
    threshold: 2,
    expected: 'well UP unwell unwell DOWN unwell',
  },
  {
    name: 'stays up where failures are not in a row',
    words: [true, false, true, false],
    threshold: 2,
    expected: 'well UP unwell well unwell unwell',
  },
])('$name', async ({ words, threshold, expected }) => {
  const said = await watched(words, threshold)
  expect(said.join(' ')).toBe(expected)
})

it('looks no more once it is stopped, be it within a look', async () => {
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
  })
  await looked.promise
  stop()
  answer.resolve(true)
  await new Promise((resolve) => setTimeout(resolve, 20))
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
  })
  onTestFinished(stop)
  await up.promise
  gone()
  expect(said).toEqual([true])
})
