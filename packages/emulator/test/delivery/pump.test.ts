import { expect, it } from 'vitest'
import { createPump } from '../../src/delivery/pending-events.ts'
import { ManualClock } from '../../src/model/time/clock.ts'
import { createWorkCounter } from '../../src/model/time/work-counter.ts'

function openPump() {
  const clock = new ManualClock(0)
  const work = createWorkCounter()
  const runs: number[] = []
  const pump = createPump(clock, work, () => void runs.push(clock.now()))
  return { clock, work, runs, pump }
}

it('runs once at the earliest time that was asked for, and again when it is asked after that', async () => {
  const { clock, runs, pump } = openPump()
  pump.wakeAt(20)
  pump.wakeAt(10)
  pump.wakeAt(10)
  pump.wakeAt(15)
  expect(clock.waiting).toBe(1)
  await clock.advance(30)
  expect(runs).toEqual([10])
  pump.wakeAt(5)
  await clock.advance(0)
  expect(runs).toEqual([10, 30])
})

it('runs once in the next turn however often it is asked, which counts as work', async () => {
  const { work, runs, pump } = openPump()
  pump.soon()
  pump.soon()
  expect(runs).toEqual([])
  await work.idle()
  expect(runs).toEqual([0])
  pump.soon()
  await work.idle()
  expect(runs).toEqual([0, 0])
})

it('never runs once it is closed', async () => {
  const { clock, work, runs, pump } = openPump()
  pump.wakeAt(10)
  pump.soon()
  pump.close()
  pump.wakeAt(20)
  pump.soon()
  await work.idle()
  await clock.advance(30)
  expect([runs, clock.waiting]).toEqual([[], 0])
})
