import { expect, it } from 'vitest'
import { RecordRing, recordLimit } from '../../src/records/records.ts'

function ring(count: number, limit = 3): RecordRing<number> {
  const records = new RecordRing<number>(limit)
  for (let record = 1; record <= count; record++) records.push(record)
  return records
}

it.each([
  { count: 0, held: [], dropped: 0 },
  { count: 2, held: [1, 2], dropped: 0 },
  { count: 3, held: [1, 2, 3], dropped: 0 },
  { count: 4, held: [2, 3, 4], dropped: 1 },
  { count: 8, held: [6, 7, 8], dropped: 5 },
])('holds the latest 3 of $count and counts the rest', ({ count, held, dropped }) => {
  const records = ring(count)
  expect(records.all()).toEqual(held)
  expect([...records]).toEqual(held)
  expect(records.length).toBe(held.length)
  expect(records.dropped).toBe(dropped)
  expect(records.last).toBe(held.at(-1))
  expect(records.at(0)).toBe(held[0])
  expect(records.at(5)).toBeUndefined()
})

it('holds ten thousand', () => {
  const records = ring(10_001, recordLimit)
  expect([records.length, records.dropped, records.at(0)]).toEqual([10_000, 1, 2])
})

it('finds a record that is there, and waits for one that is not', async () => {
  const records = ring(2)
  expect(await records.waitFor((record) => record === 1)).toBe(1)
  const later = records.waitFor((record) => record > 5)
  records.push(5)
  records.push(6)
  expect(await later).toBe(6)
})

it('stops waiting when the signal says so', async () => {
  const records = ring(0)
  const abort = new AbortController()
  const waiting = records.waitFor(() => true, abort.signal)
  abort.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(records.waitFor(() => true, AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
})

it('tells its listeners until they have enough, and forgets all on clear', () => {
  const records = ring(4)
  const heard: number[] = []
  const stop = records.listen((record) => heard.push(record))
  records.push(5)
  stop()
  records.push(6)
  expect(heard).toEqual([5])
  records.clear()
  expect([records.length, records.dropped]).toEqual([0, 0])
})
