import { expect, it } from 'vitest'
import { ManualClock, realClock } from '../../src/model/time/clock.ts'

it('fires timers in the order of their time, each at its time, also those set on the way', async () => {
  const clock = new ManualClock(1000)
  const fired: [string, number][] = []
  const note = (name: string) => () => fired.push([name, clock.now()])
  clock.setTimer(30, note('late'))
  clock.setTimer(10, () => {
    note('early')()
    clock.setTimer(5, note('set on the way'))
  })
  clock.setTimer(100, note('too late'))
  await clock.advance(50)
  expect(fired).toEqual([
    ['early', 1010],
    ['set on the way', 1015],
    ['late', 1030],
  ])
  expect(clock.now()).toBe(1050)
  expect(clock.nextTimer).toBe(1100)
})

it('does not fire a cancelled timer, nor one before it is moved', async () => {
  const clock = new ManualClock()
  let fired = 0
  const cancel = clock.setTimer(1, () => fired++)
  clock.setTimer(0, () => fired++)
  expect(fired).toBe(0)
  cancel()
  await clock.advance(1)
  expect(fired).toBe(1)
  expect(clock.waiting).toBe(0)
})

it('keeps the order of what is left after thousands of timers were cancelled', async () => {
  const clock = new ManualClock(0)
  const fired: number[] = []
  for (const ms of [30, 10, 20, 10]) clock.setTimer(ms, () => fired.push(ms))
  for (let count = 0; count < 5_000; count++) clock.setTimer(count, () => fired.push(-1))()
  expect(clock.waiting).toBe(4)
  expect(clock.nextTimer).toBe(10)
  await clock.advance(100)
  expect(fired).toEqual([10, 10, 20, 30])
})

it('waits after each timer for what it began', async () => {
  const clock = new ManualClock(0)
  const log: string[] = []
  let work = Promise.resolve()
  clock.settleWith(() => work)
  clock.setTimer(1, () => {
    work = new Promise<void>((resolve) => setImmediate(resolve)).then(() => void log.push(`settled at ${clock.now()}`))
  })
  clock.setTimer(2, () => log.push('second'))
  await clock.advance(2)
  expect(log).toEqual(['settled at 1', 'second'])
})

it('fires by the machine’s clock, and not at once for years', async () => {
  let early = false
  const cancel = realClock.setTimer(2 ** 40, () => {
    early = true
  })
  await new Promise<void>((resolve) => realClock.setTimer(1, resolve))
  cancel()
  expect(early).toBe(false)
})
