import { describe, expect, it } from 'vitest'
import { splitCall } from '../../../src/publisher/queue/plan-requests.ts'

const bounds = { maxRequestBytes: 100, maxRequestEvents: 5 }
const sizes = (...bytes: number[]) => bytes.map((size) => ({ bytes: size }))

describe('the requests of one call', () => {
  it.each([
    { name: 'what fits exactly, comma and all', events: sizes(50, 49), expected: [2] },
    { name: 'one byte over', events: sizes(50, 50), expected: [1, 1] },
    { name: 'an event of the greatest size alone', events: sizes(100, 1), expected: [1, 1] },
    { name: 'one event more than a request takes', events: sizes(1, 1, 1, 1, 1, 1), expected: [5, 1] },
  ])('split $name', ({ events, expected }) => {
    expect(splitCall(events, bounds).map(({ length }) => length)).toEqual(expected)
  })
})
