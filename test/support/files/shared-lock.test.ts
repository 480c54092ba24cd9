import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { lockHolder, type SharedLockOptions, takeSharedLock } from '../../../src/support/files/shared-lock.ts'
import { processMark } from '../../../src/support/process/process-mark.ts'
import { markOfElsewhere, markOfEnded } from '../foreign-mark.ts'
import { createManualClock } from '../manual-clock.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** A lock on which another one has its mark, and a clock that passes while somebody waits by it. */
function openLock(...marks: readonly string[]) {
  const path = join(temporaryFolder(), 'lock')
  for (const mark of marks) mkdirSync(join(path, mark), { recursive: true })
  const { clock, advance } = createManualClock()
  let waited = 0
  /** Called at each look, with the time that has passed. */
  let onLook = (_waited: number): void => {}
  const passing: typeof clock = {
    ...clock,
    setTimer(ms, callback) {
      const cancel = clock.setTimer(ms, callback)
      // A renewal waits for longer than a look.
      if (ms < 1_000) {
        setImmediate(() => {
          waited += 100
          advance(100)
          onLook(waited)
        })
      }
      return cancel
    },
  }
  return {
    path,
    marks: () => (existsSync(path) ? readdirSync(path) : []),
    waited: () => waited,
    pass: advance,
    eachLook(look: (waited: number) => void): void {
      onLook = look
    },
    async take(options: SharedLockOptions = {}) {
      const lock = await takeSharedLock(path, { clock: passing, ...options })
      if (typeof lock !== 'string') onTestFinished(lock.release)
      return lock
    },
  }
}

it('is had by one, renewed, and left without a trace', async () => {
  const { take, marks, path, pass } = openLock()
  const lock = await take()
  if (typeof lock === 'string') throw new Error(lock)
  expect(await take()).toBe('busy')
  expect(marks()).toHaveLength(1)
  utimesSync(lock.room, 0, 0)
  const before = readdirSync(path)
  pass(2_000)
  expect(readdirSync(path)).toEqual(before)
  expect(lock.lost).toBe(false)
  lock.release()
  expect(existsSync(path)).toBe(false)
  expect(await take()).toHaveProperty('room')
})

it.runIf(process.platform === 'linux')('is had at once after a process that has ended', async () => {
  const mark = markOfEnded()
  const { take, marks, waited } = openLock(mark)
  expect(await take()).toHaveProperty('room')
  expect(waited()).toBeLessThan(1_000)
  expect(marks()).not.toContain(mark)
})

it.runIf(process.platform === 'linux')(
  'is not had while its process runs, however long that renews nothing',
  async () => {
    const { take, waited } = openLock(processMark(process.ppid))
    expect(await take({ waitMs: 60_000 })).toBe('busy')
    expect(waited()).toBeGreaterThanOrEqual(60_000)
  },
)

it('is not had while somebody elsewhere renews it, and is had ten seconds after that one was killed', async () => {
  const mark = markOfElsewhere()
  const { take, path, eachLook, waited } = openLock(mark)
  let renewals = 0
  eachLook((now) => {
    if (now % 2_000 === 0 && now <= 20_000) utimesSync(join(path, mark), 0, ++renewals)
  })
  expect(await take()).toBe('busy')
  expect(waited()).toBe(2_000)
  expect(await take({ waitMs: 100_000 })).toHaveProperty('room')
  expect(renewals).toBe(10)
  expect(waited()).toBeGreaterThanOrEqual(30_000)
  expect(waited()).toBeLessThan(31_000)
})

it.each([
  { name: 'in the future', at: Date.now() / 1_000 + 1e6 },
  { name: 'long ago', at: 0 },
  { name: 'of no process of ours', at: 0, mark: 'other' },
])(
  'looks ten seconds at one that was renewed $name: it believes no clock',
  async ({ at, mark = markOfElsewhere() }) => {
    const { take, path, waited } = openLock(mark)
    utimesSync(join(path, mark), at, at)
    const waits: number[] = []
    expect(await take({ onWait: () => waits.push(waited()) })).toHaveProperty('room')
    expect(waits).toEqual([0])
    expect(waited()).toBeGreaterThanOrEqual(10_000)
  },
)

it('looks once at a holder of several locks', async () => {
  const holder = lockHolder()
  const mark = markOfElsewhere()
  const [first, second] = [openLock(mark), openLock(mark)]
  expect(await first.take({ holder })).toHaveProperty('room')
  expect(await second.take({ holder })).toHaveProperty('room')
  expect(first.waited()).toBeGreaterThanOrEqual(10_000)
  expect(second.waited()).toBeLessThan(1_000)
})

it('is lost where another one took it for dead, and leaves that one alone at its end', async () => {
  const { take, path, marks } = openLock()
  const lock = await take()
  if (typeof lock === 'string') throw new Error(lock)
  rmSync(lock.room, { recursive: true })
  expect(lock.lost).toBe(true)
  const other = processMark(process.ppid)
  mkdirSync(join(path, other))
  lock.release()
  expect(marks()).toEqual([other])
})

it('ends the wait with its signal', async () => {
  const { take, eachLook } = openLock(markOfElsewhere())
  const ending = new AbortController()
  eachLook(() => ending.abort(new Error('enough')))
  await expect(take({ signal: ending.signal })).rejects.toThrow('enough')
})
