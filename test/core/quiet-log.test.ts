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

it('writes a line at once, and those like it 30 s later in one, with their number and ids', () => {
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

it('has lines of their own for each subject of a message, up to 32, and those of the others in one', () => {
  const { clock, log, lines } = open()
  for (const id of ['a', 'b']) for (let error = 0; error < 150; error++) log.warn('failed', { id }, `${error}`)
  expect(lines()).toHaveLength(33)
  clock.advance(30_000)
  const joined = lines().slice(33)
  expect(joined).toHaveLength(33)
  expect(joined[7]).toEqual(['failed', { ids: 'b', leftOut: 1 }])
  expect(joined[32]).toEqual(['failed', { ids: 'a, b', leftOut: 235 }])
})

it('reads the fields of a line only where they are shown', () => {
  const { clock, log } = open()
  let read = 0
  for (let line = 0; line < 1_000; line++) log.warn('failed', () => ({ id: `${read++}` }))
  clock.advance(30_000)
  expect(read).toBe(22)
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
  expect(lines().map(([, fields]) => fields)).toEqual([{ line: 0 }, { line: 2, leftOut: 2 }, { line: 3 }, { line: 4 }])
})
