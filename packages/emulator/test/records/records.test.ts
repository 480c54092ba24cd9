import { deepStrictEqual } from 'node:assert/strict'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { heldBytes } from '../../src/model/held-bytes.ts'
import { createMemory } from '../../src/records/memory.ts'
import { RecordRing } from '../../src/records/records.ts'

interface Numbered {
  readonly number: number
  readonly isBad?: boolean
}

const each = heldBytes({ number: 1 })

function ring(count: number, most = 3): RecordRing<Numbered> {
  const records = new RecordRing<Numbered>(createMemory(most * each))
  for (let number = 1; number <= count; number++) records.push({ number })
  return records
}

const numbers = (records: RecordRing<Numbered>) => records.all().map(({ number }) => number)

it.each([
  { count: 0, held: [], dropped: 0 },
  { count: 2, held: [1, 2], dropped: 0 },
  { count: 3, held: [1, 2, 3], dropped: 0 },
  { count: 4, held: [2, 3, 4], dropped: 1 },
  { count: 8, held: [6, 7, 8], dropped: 5 },
])('holds the latest 3 of $count that there is memory for, and counts the rest', ({ count, held, dropped }) => {
  const records = ring(count)
  expect(numbers(records)).toEqual(held)
  expect([...records].map(({ number }) => number)).toEqual(held)
  expect(records.length).toBe(held.length)
  expect(records.dropped).toBe(dropped)
  expect(records.last?.number).toBe(held.at(-1))
  expect(records.at(0)?.number).toBe(held[0])
  expect(records.at(5)).toBeUndefined()
})

describe('a memory that several kinds share', () => {
  it('leaves out what ended well first, whichever kind it is of, and of the newest tenth nothing', () => {
    const memory = createMemory(20 * heldBytes({ number: 1, isBad: true }))
    const rank = ({ isBad }: Numbered) => (isBad ? 'failed' : 'ended')
    const [one, other] = [new RecordRing(memory, rank), new RecordRing(memory, rank)]
    for (let number = 1; number <= 5; number++) one.push({ number, isBad: true })
    for (let number = 6; number <= 40; number++) other.push({ number, isBad: false })
    expect(numbers(one)).toEqual([1, 2, 3, 4, 5])
    expect(numbers(other)).toEqual(Array.from({ length: 15 }, (_, index) => index + 26))
    for (let number = 41; number <= 80; number++) one.push({ number, isBad: true })
    other.push({ number: 81, isBad: false })
    expect(numbers(other)).toEqual([81])
    expect(numbers(one)).toEqual(Array.from({ length: 19 }, (_, index) => index + 62))
    expect([one.dropped, other.dropped]).toEqual([26, 35])
  })

  it('does not take a record that is larger than itself, and tells of it all the same', () => {
    const records = new RecordRing<{ readonly text: string }>(createMemory(10_000))
    const heard: number[] = []
    records.listen(({ text }) => heard.push(text.length))
    for (const length of [1_000, 20_000]) records.push({ text: 'x'.repeat(length) })
    expect([records.length, records.dropped, heard]).toEqual([1, 1, [1_000, 20_000]])
  })
})

it('prints what it holds, by itself and among others, and how many it has left out', () => {
  expect(inspect(ring(2))).toBe('RecordRing(2) [ { number: 1 }, { number: 2 } ]')
  expect(inspect({ records: { deliveries: ring(1) } })).toContain('{ number: 1 }')
  expect(inspect(ring(4))).toMatch(/^RecordRing\(3, 1 left out\) \[ \{ number: 2 \}/)
})

it.each([
  { test: 'vitest', check: () => expect(ring(1)).toEqual([]) },
  { test: 'node:test', check: () => deepStrictEqual(ring(1), []) },
])('shows what it holds in a failed assertion of $test', ({ check }) => {
  expect(thrownBy(check)).toMatch(/number"?: 1/)
})

/** What a test framework prints of a failure. */
function thrownBy(check: () => void): string {
  try {
    check()
  } catch (error) {
    const { message, actual } = error as { message: string; actual: unknown }
    return `${message} ${typeof actual === 'string' ? actual : inspect(actual, { customInspect: false })}`
  }
  return ''
}

it('finds a record that is there, and waits for one that is not', async () => {
  const records = ring(2)
  expect(await records.waitFor(({ number }) => number === 1)).toEqual({ number: 1 })
  const later = records.waitFor(({ number }) => number > 5)
  records.push({ number: 5 })
  records.push({ number: 6 })
  expect(await later).toEqual({ number: 6 })
})

it('rejects a wait whose function throws, and keeps the error from who records', async () => {
  const records = ring(0)
  const waiting = records.waitFor(() => {
    throw new Error('mine')
  })
  records.push({ number: 1 })
  await expect(waiting).rejects.toThrow('mine')
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
  const stop = records.listen(({ number }) => heard.push(number))
  records.push({ number: 5 })
  stop()
  records.push({ number: 6 })
  expect(heard).toEqual([5])
  records.clear()
  expect([records.length, records.dropped]).toEqual([0, 0])
  for (let number = 1; number <= 4; number++) records.push({ number })
  expect(numbers(records)).toEqual([2, 3, 4])
})
