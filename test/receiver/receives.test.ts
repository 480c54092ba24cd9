import { expect, it } from 'vitest'
import { decideMaxEvents, decideReceive, type ReceiveState } from '../../src/receiver/receives.ts'

const mebibyte = 2 ** 20

it.each([
  { name: 'a hundred where events are small', sizes: [1_000, 1_000], expected: 100 },
  { name: 'a hundred where events have no bytes', sizes: [0], expected: 100 },
  { name: 'as many of their size as make 4 MiB', sizes: [mebibyte / 2, mebibyte / 2, mebibyte / 2], expected: 8 },
  { name: 'as many of their mean size, rounded down', sizes: [mebibyte, 2 * mebibyte], expected: 2 },
  { name: 'one, however large it is', sizes: [5 * mebibyte], expected: 1 },
])('asks for $name', ({ sizes, expected }) => expect(decideMaxEvents(sizes)).toBe(expected))

it.each<{ name: string; state: Partial<ReceiveState>; expected: number }>([
  { name: 'asks for as many as calls are free', state: { free: 7 }, expected: 7 },
  { name: 'asks for no more than the size of events allows', state: { free: 200, maxEvents: 16 }, expected: 16 },
  { name: 'asks for nothing without a free call', state: { free: 0 }, expected: 0 },
  { name: 'asks for nothing with fewer than none', state: { free: -3 }, expected: 0 },
  { name: 'asks once while the queue is empty', state: { free: 200, open: [16] }, expected: 0 },
  { name: 'asks again while it is not', state: { free: 150, open: [16, 34], wasFull: true }, expected: 100 },
  { name: 'asks again for half an answer', state: { free: 66, open: [16], wasFull: true }, expected: 50 },
  { name: 'does not ask again for less', state: { free: 65, open: [16], wasFull: true }, expected: 0 },
  { name: 'asks for no event twice', state: { free: 60, open: [20, 40], wasFull: true }, expected: 0 },
])('$name', ({ state, expected }) => {
  expect(decideReceive({ free: 1, open: [], wasFull: false, maxEvents: 100, ...state })).toBe(expected)
})
