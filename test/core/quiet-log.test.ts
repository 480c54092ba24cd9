import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, it } from 'vitest'
import { createQuietLog } from '../../src/core/logger.ts'
import { captureLog } from '../support/captured-log.ts'
import { createManualClock } from '../support/manual-clock.ts'

function open() {
  const clock = createManualClock()
  const logger = captureLog()
  const log = createQuietLog({ logger, clock: clock.clock })
  return { clock, log, lines: () => logger.lines.map(({ message, fields }) => [message, fields]) }
}

it('writes a line at once, and those like it 30 s later in one, though none comes after them', () => {
  const { clock, log, lines } = open()
  for (let id = 0; id < 5; id++) log.warn('failed', { id: String(id), error: 'no' })
  expect(lines()).toEqual([['failed', { id: '0', error: 'no' }]])
  clock.advance(30_000)
  expect(lines().slice(1)).toEqual([['failed', { ids: '1, 2, 3, 4', error: 'no', leftOut: 4 }]])
  log.warn('failed', { id: 'later' })
  clock.advance(29_999)
  expect(lines()).toHaveLength(2)
  clock.advance(1)
  expect(lines().slice(2)).toEqual([['failed', { ids: 'later', leftOut: 1 }]])
  clock.advance(30_000)
  expect(clock.pending()).toBe(0)
})

it('shows twenty ids, each once, however often an event fails again', () => {
  const { clock, log, lines } = open()
  log.warn('failed', { id: 'first' })
  for (let time = 0; time < 50; time++) log.warn('failed', { id: 'again' })
  for (let id = 0; id < 50; id++) log.warn('failed', { id: `${id}` })
  clock.advance(30_000)
  const ids = ['again', ...Array.from({ length: 19 }, (_, id) => `${id}`)]
  expect(lines()[1]).toEqual(['failed', { ids: ids.join(', '), leftOut: 100 }])
})

it('has lines of their own for 16 subjects of a message, and the errors of the others in one', () => {
  const { clock, log, lines } = open()
  const fail = (message: string, error: string, id: string) => log.warn(message, { id, error }, error)
  for (const id of ['a', 'b'])
    for (let status = 400; status < 420; status++) fail('failed', `${status}`, `${id}${status}`)
  fail('rejected', '400', 'c')
  expect(lines()).toHaveLength(18)
  clock.advance(30_000)
  const joined = lines().slice(18)
  expect(joined).toHaveLength(17)
  expect(joined[0]).toEqual(['failed', { ids: 'b400', error: '400', leftOut: 1 }])
  const others = ['a417', 'a418', 'a419', 'b416', 'b417', 'b418', 'b419']
  expect(joined[16]).toEqual(['failed', { ids: others.join(', '), error: '417, 418, 419, 416', leftOut: 7 }])
})

it('reads the fields of a line only where they are shown', () => {
  const { clock, log } = open()
  let read = 0
  for (let line = 0; line < 1_000; line++) log.warn('failed', () => ({ id: `${read++}` }))
  clock.advance(30_000)
  expect(read).toBe(21)
})

it('writes a joined line in no context of a delivery', () => {
  const clock = createManualClock()
  const context = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const note = () => void seen.push(context.getStore())
  const log = createQuietLog({ logger: { debug: note, info: note, warn: note, error: note }, clock: clock.clock })
  for (let line = 0; line < 2; line++) context.run('of a delivery', () => log.warn('failed'))
  clock.advance(30_000)
  expect(seen).toEqual(['of a delivery', undefined])
})

it('writes what waits when it is closed, leaves no timer, and holds back nothing afterwards', () => {
  const { clock, log, lines } = open()
  for (let line = 0; line < 3; line++) log.info('one', { line })
  log.close()
  log.close()
  for (let line = 3; line < 5; line++) log.info('one', { line })
  expect(clock.pending()).toBe(0)
  expect(lines().map(([, fields]) => fields)).toEqual([
    { line: 0 },
    { line: '1, 2', leftOut: 2 },
    { line: 3 },
    { line: 4 },
  ])
})
