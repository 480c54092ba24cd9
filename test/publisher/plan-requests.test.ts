import { describe, expect, it } from 'vitest'
import { joinCalls, splitCall } from '../../src/publisher/queue.ts'

const bounds = { maxRequestBytes: 100, maxRequestEvents: 5 }
const sizes = (...bytes: number[]) => bytes.map((size) => ({ bytes: size }))

describe('the requests of one call', () => {
  it.each([
    { name: 'what fits exactly, comma and all', events: sizes(50, 49), expected: [2] },
    { name: 'one byte over', events: sizes(50, 50), expected: [1, 1] },
    { name: 'an event of the greatest size alone', events: sizes(100, 1), expected: [1, 1] },
    { name: 'one event more than a request takes', events: sizes(1, 1, 1, 1, 1, 1), expected: [5, 1] },
    { name: 'what fits again after a full request', events: sizes(60, 60, 20, 18, 1), expected: [1, 3, 1] },
  ])('split $name', ({ events, expected }) => {
    expect(splitCall(events, bounds).map(({ length }) => length)).toEqual(expected)
  })
})

describe('the calls of one request', () => {
  const call = (bytes: number, { events = 1, schema = 'a' } = {}) => ({
    schema,
    load: { events, bytes: bytes + 1 },
  })

  it.each([
    { name: 'none where none waits', waiting: [], expected: 0 },
    { name: 'what fits exactly, comma and all', waiting: [call(50), call(49)], expected: 2 },
    { name: 'none that is one byte over', waiting: [call(50), call(50)], expected: 1 },
    { name: 'as many events as it takes', waiting: [call(9, { events: 3 }), call(9, { events: 2 })], expected: 2 },
    { name: 'none that is one event over', waiting: [call(9, { events: 3 }), call(9, { events: 3 })], expected: 1 },
    { name: 'one that exceeds a request alone', waiting: [call(101), call(1)], expected: 1 },
    { name: 'those up to another schema', waiting: [call(1), call(1), call(1, { schema: 'b' }), call(1)], expected: 2 },
    { name: 'none behind one that does not fit', waiting: [call(60), call(60), call(1)], expected: 1 },
  ])('are $name', ({ waiting, expected }) => expect(joinCalls(waiting, bounds)).toEqual(waiting.slice(0, expected)))
})
