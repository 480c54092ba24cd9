import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fits, halve, joinCalls, splitCall } from '../../src/publisher/queue/plan-requests.ts'

const bounds = { maxRequestBytes: 100, maxRequestEvents: 5 }
const sizes = (...bytes: number[]) => bytes.map((size) => ({ bytes: size }))
const call = (events: number, bytes: number, schema = 'a') => ({ schema, load: { events, bytes } })

describe('the requests of one call', () => {
  it.each([
    { name: 'what fits exactly, comma and all', events: sizes(50, 49), expected: [2] },
    { name: 'one byte over', events: sizes(50, 50), expected: [1, 1] },
    { name: 'an event of the greatest size alone', events: sizes(100, 1), expected: [1, 1] },
    { name: 'one event more than a request takes', events: sizes(1, 1, 1, 1, 1, 1), expected: [5, 1] },
  ])('split $name', ({ events, expected }) => {
    expect(splitCall(events, bounds).map(({ length }) => length)).toEqual(expected)
  })

  it('hold every event once, in order, within the bounds', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 60 }), (bytes) => {
        const events = sizes(...bytes)
        const requests = splitCall(events, bounds)
        expect(requests.flat()).toEqual(events)
        for (const request of requests) {
          const total = request.reduce((sum, event) => sum + event.bytes, request.length - 1)
          expect(fits({ events: request.length, bytes: total }, bounds)).toBe(true)
        }
      }),
    )
  })
})

describe('waiting calls', () => {
  it.each([
    { name: 'all that fit', waiting: [call(1, 50), call(1, 49)], expected: 2 },
    { name: 'not the one byte too much', waiting: [call(1, 50), call(1, 50)], expected: 1 },
    { name: 'not the one event too many', waiting: [call(3, 9), call(3, 9)], expected: 1 },
    { name: 'not another schema', waiting: [call(1, 1), call(1, 1, 'b')], expected: 1 },
    { name: 'alone what exceeds a request', waiting: [call(9, 500), call(1, 1)], expected: 1 },
    { name: 'nothing from nothing', waiting: [], expected: 0 },
  ])('join: $name', ({ waiting, expected }) => {
    expect(joinCalls(waiting, bounds)).toEqual(waiting.slice(0, expected))
  })

  it('are all reached by taking joint requests one after the other', () => {
    const anyCall = fc.record({
      schema: fc.constantFrom('a', 'b'),
      load: fc.record({ events: fc.integer({ min: 1, max: 8 }), bytes: fc.integer({ min: 1, max: 150 }) }),
    })
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 40 }), (waiting) => {
        const taken: unknown[] = []
        while (taken.length < waiting.length) {
          const calls = joinCalls(waiting.slice(taken.length), bounds)
          expect(calls.length).toBeGreaterThan(0)
          taken.push(...calls)
        }
        expect(taken).toEqual(waiting)
      }),
    )
  })
})

describe('a refused joint request', () => {
  it('is halved until each call stands alone, and loses none', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1, maxLength: 50 }), (calls) => {
        const alone: number[] = []
        const split = (some: readonly number[]) => {
          if (some.length === 1) alone.push(...some)
          else halve(some).forEach(split)
        }
        split(calls)
        expect(alone).toEqual(calls)
      }),
    )
  })
})
