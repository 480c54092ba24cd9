import { expect, it, vi } from 'vitest'
import { createRoom, maxWaitMs, type Share } from '../../src/dispatch/room.ts'
import { createManualClock } from '../support/manual-clock.ts'

/** A room of 100 bytes. `enter` remembers what each wait ended with, in the order of the ends. */
function openRoom() {
  const room = createRoom(100)
  const time = createManualClock()
  const ends: { readonly name: string; readonly share: Share | undefined }[] = []
  const enter = (name: string, bytes: number) => room.enter(bytes, time.clock, (share) => ends.push({ name, share }))
  return { room, ...time, ends, enter, names: () => ends.map(({ name, share }) => (share ? name : `${name} in vain`)) }
}

it.each([
  { name: 'as much as is free', occupied: 60, bytes: 40, isFree: true },
  { name: 'more than is free', occupied: 60, bytes: 41, isFree: false },
  { name: 'more than there is, alone', occupied: 0, bytes: 101, isFree: true },
  { name: 'more than there is, beside another', occupied: 1, bytes: 101, isFree: false },
])('gives a share at once to a delivery of $name: $isFree', ({ occupied, bytes, isFree }) => {
  const { room, enter, names } = openRoom()
  if (occupied > 0) room.occupy(occupied)
  enter('a', bytes)
  expect(names()).toEqual(isFree ? ['a'] : [])
  expect(room.used()).toBe(occupied + (isFree ? bytes : 0))
  expect(room.waiting()).toBe(isFree ? 0 : 1)
})

it('lets deliveries in by their order, as many as there is room for', () => {
  const { room, enter, names, pending } = openRoom()
  const [first, second] = [room.occupy(60), room.occupy(40)]
  for (const [name, bytes] of [
    ['a', 50],
    ['b', 30],
    ['c', 40],
  ] as const)
    enter(name, bytes)
  second.release()
  // There is room for `b`, but `a` was first.
  expect(names()).toEqual([])
  first.release()
  expect(names()).toEqual(['a', 'b'])
  expect([room.used(), room.waiting(), pending()]).toEqual([80, 1, 1])
})

it('lets nobody pass those who wait', () => {
  const { room, enter, names } = openRoom()
  room.occupy(60)
  enter('large', 50)
  enter('small', 1)
  expect(names()).toEqual([])
})

it('ends a wait after three seconds in vain', () => {
  const { room, enter, names, advance } = openRoom()
  const share = room.occupy(100)
  enter('a', 10)
  advance(maxWaitMs - 1)
  expect(names()).toEqual([])
  advance(1)
  expect(names()).toEqual(['a in vain'])
  share.release()
  expect(names()).toEqual(['a in vain'])
  expect(room.used()).toBe(0)
})

it('lets the next one in when a wait ends in vain', () => {
  const { room, enter, names, advance } = openRoom()
  room.occupy(60)
  enter('large', 50)
  advance(1)
  enter('small', 40)
  advance(maxWaitMs - 1)
  expect(names()).toEqual(['large in vain', 'small'])
  expect([room.used(), room.waiting()]).toEqual([100, 0])
})

it('forgets a delivery whose wait was ended, and lets the next one in', () => {
  const { room, enter, names, pending, advance } = openRoom()
  room.occupy(60)
  const leave = enter('large', 50)
  enter('small', 40)
  leave()
  expect(names()).toEqual(['small'])
  leave()
  expect([room.used(), pending()]).toEqual([100, 0])
  advance(maxWaitMs)
  expect(names()).toEqual(['small'])
})

it('does nothing where the wait ends of a delivery that has a share', () => {
  const { room, enter } = openRoom()
  enter('a', 10)()
  expect(room.used()).toBe(10)
})

it('refuses at once where a thousand wait', () => {
  const { room, enter, names } = openRoom()
  room.occupy(100)
  for (let index = 0; index < 1_000; index++) enter(`${index}`, 1)
  expect(names()).toEqual([])
  enter('one more', 1)
  expect(names()).toEqual(['one more in vain'])
  expect(room.waiting()).toBe(1_000)
})

it('grows and resizes a share, and gives it back once', () => {
  const { room, enter, names } = openRoom()
  const share = room.occupy(50)
  enter('a', 51)
  expect(share.grow(51)).toBe(false)
  expect(share.grow(50)).toBe(true)
  expect([room.used(), room.isFull()]).toEqual([100, true])
  share.resize(49)
  expect(names()).toEqual(['a'])
  expect(room.used()).toBe(100)
  share.release()
  share.release()
  expect(room.used()).toBe(51)
})

it('gives a share to bytes that are there, whether or not there is room', () => {
  const { room } = openRoom()
  room.occupy(99)
  expect(room.isFull()).toBe(false)
  room.occupy(2)
  expect([room.used(), room.isFull()]).toEqual([101, true])
})

it('calls back once when a share gets smaller and the room is not full', () => {
  const { room } = openRoom()
  const callback = vi.fn()
  const [first, second] = [room.occupy(100), room.occupy(50)]
  room.whenFree(callback)
  second.release()
  expect(callback).not.toHaveBeenCalled()
  first.resize(100)
  expect(callback).not.toHaveBeenCalled()
  first.resize(99)
  expect(callback).toHaveBeenCalledTimes(1)
  first.release()
  expect(callback).toHaveBeenCalledTimes(1)
})

it('gives no room again to a share that was given back', () => {
  const { room } = openRoom()
  const share = room.occupy(60)
  share.release()
  share.resize(50)
  share.release()
  expect(room.used()).toBe(0)
})
