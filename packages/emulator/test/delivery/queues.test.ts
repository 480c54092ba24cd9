import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { documentedProbation, healthAfter, healthy } from '../../src/delivery/queue/retry-schedule.ts'
import { Fifo } from '../../src/delivery/queue/waiting-events.ts'
import { DueQueue } from '../../src/model/time/due-queue.ts'
import { createWorkCounter } from '../../src/model/time/work-counter.ts'

describe('what waits for its time', () => {
  it('comes out in the order of its time, and equal times in the order they went in', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), (times) => {
        const queue = new DueQueue<{ due: number; order: number }>()
        const items = times.map((due, order) => ({ due, order }))
        for (const item of items) queue.add(item.due, item)
        const taken = []
        for (let item = queue.take(20); item; item = queue.take(20)) taken.push(item)
        expect(taken).toEqual(items.toSorted((one, other) => one.due - other.due || one.order - other.order))
      }),
    )
  })
})

it('what stands in line comes out as it went in, through thousands', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 5000, size: 'max' }), (steps) => {
      const line = new Fifo<number>()
      const plain: number[] = []
      steps.forEach((push, index) => {
        if (push) {
          line.push(index)
          plain.push(index)
        } else {
          expect(line.shift()).toBe(plain.shift())
        }
        expect(line.size).toBe(plain.length)
        expect(line.peek()).toBe(plain[0])
      })
    }),
    { numRuns: 20 },
  )
})

it('a line stays right when it moves its rest to the front', () => {
  const line = new Fifo<number>()
  for (let index = 0; index < 5000; index++) line.push(index)
  for (let index = 0; index < 5000; index++) expect(line.shift()).toBe(index)
  expect(line.size).toBe(0)
  expect(line.shift()).toBeUndefined()
})

describe('the health of an endpoint', () => {
  it.each(Object.entries(documentedProbation))('%s means a pause of %i ms', (outcome, pause) => {
    // The key comes from the table itself.
    const after = healthAfter(healthy, outcome as keyof typeof documentedProbation, 1000, { afterFailures: 1 })
    expect(after.probationUntil).toBe(1000 + pause)
  })

  it('is only in doubt after several failures in a row', () => {
    const twice = healthAfter(healthAfter(healthy, 'Busy', 0), 'Busy', 0)
    expect(twice).toEqual({ failuresInARow: 2, probationUntil: 0 })
    expect(healthAfter(twice, 'Delivered', 0)).toEqual(healthy)
  })

  it('is held back from the failure on that its number says, ten by default, and never for less time than before', () => {
    const failed = (failures: number) =>
      Array.from({ length: failures }).reduce<typeof healthy>((health) => healthAfter(health, 'Busy', 0), healthy)
    expect(failed(9)).toEqual({ failuresInARow: 9, probationUntil: 0 })
    expect(failed(10)).toEqual({ failuresInARow: 10, probationUntil: 10_000 })
    const longer = healthAfter(failed(10), 'NotFound', 0)
    expect(healthAfter(longer, 'Busy', 1)).toEqual({ failuresInARow: 12, probationUntil: 300_000 })
  })

  it('is not judged by what is wrong with an event', () => {
    expect(healthAfter(healthy, 'BadRequest', 0, { afterFailures: 1 })).toEqual(healthy)
    const once = healthAfter(healthy, 'Busy', 0)
    expect(healthAfter(once, 'Aborted', 0)).toEqual(once)
  })
})

it('idle waits for work that work has begun', async () => {
  const work = createWorkCounter()
  const ends: string[] = []
  work.begin()
  const idle = work.idle().then(() => ends.push('idle'))
  queueMicrotask(() => {
    work.begin()
    work.end()
    queueMicrotask(() => {
      ends.push('last')
      work.end()
    })
  })
  await idle
  expect(ends).toEqual(['last', 'idle'])
})
