import { expect, it } from 'vitest'
import { createRetries } from '../../../src/delivery/queue/waiting-events.ts'
import { waitingEvent } from '../waiting-event.ts'

/** `late` is due at 30, `soon` at 10, `next` at 20. */
function openRetries() {
  const retries = createRetries()
  const [late, soon, next] = [waitingEvent('late'), waitingEvent('soon'), waitingEvent('next')]
  retries.add(30, late)
  retries.add(10, soon)
  retries.add(20, next)
  const id = (event: ReturnType<typeof retries.take>) => event?.event.body.value.id
  return { retries, late, soon, next, id }
}

it('gives what is due, in that order, and nothing before its time', () => {
  const { retries, id } = openRetries()
  expect([retries.size, retries.nextDue, id(retries.take(9))]).toEqual([3, 10, undefined])
  expect([id(retries.take(20)), id(retries.take(20)), id(retries.take(20))]).toEqual(['soon', 'next', undefined])
  expect([retries.size, retries.nextDue]).toEqual([1, 30])
})

it('leaves out what was cancelled, which is cancelled once', () => {
  const { retries, soon, next, id } = openRetries()
  expect(retries.cancel([soon, waitingEvent('another')])).toEqual([soon])
  expect(retries.cancel([soon])).toEqual([])
  expect(retries.size).toBe(2)
  expect(id(retries.take(20))).toBe('next')
  // It no longer waits.
  expect(retries.cancel([next])).toEqual([])
  expect(retries.size).toBe(1)
})

it('hands over all before their time, in the order of it, or one alone; each once', () => {
  const { retries, soon, id } = openRetries()
  expect(retries.takeEarly(soon.event).map(id)).toEqual(['soon'])
  const early = retries.takeEarly()
  expect(early.map(id)).toEqual(['next', 'late'])
  expect([retries.size, retries.takeEarly(), retries.take(Infinity)]).toEqual([0, [], undefined])
  // These may wait again.
  for (const event of early) retries.add(40, event)
  expect([retries.size, id(retries.take(40)), id(retries.take(40))]).toEqual([2, 'next', 'late'])
})
