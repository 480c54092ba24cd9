/** A replay that ends before all is published: killed, interrupted, or without room on the disk. */
import { expect, it } from 'vitest'
import { startCommand, startWithSmallFiles } from '../../support/command.ts'
import { letters, openReplay } from './open-replay.ts'

const sixty = letters(60, 'event-')

it('publishes nothing where the ledger can not be opened, says so, and goes on when it can', async () => {
  const { replay, write, dead, published, given } = await openReplay()
  write('a.json', sixty)
  const command = startWithSmallFiles(0, ['replay', ...given, dead])
  expect(await command.ended).toBe(1)
  expect(command.lines.join('\n')).toContain("the ledger can't be opened: EFBIG")
  expect(published()).toEqual([])
  expect((await replay(dead)).text).toBe('60 events published\n')
})

it('counts what was published on a full disk, and the next run publishes again what has no line', async () => {
  const { replay, write, dead, published, given } = await openReplay()
  write('a.json', sixty)
  const command = startWithSmallFiles(2, ['replay', ...given, dead])
  expect(await command.ended).toBe(1)
  expect(command.lines.join('\n')).toContain("can't be written: EFBIG")
  const summary = command.lines.find((line) => /events published/.test(line)) ?? ''
  const [count = 0, unrecorded = 0, notTried] =
    /^(\d+) events published, (\d+) of them without a line in the ledger: .*, (\d+) not tried$/
      .exec(summary)
      ?.slice(1)
      .map(Number) ?? []
  expect(count).toBe(published().length)
  expect(notTried).toBe(sixty.length - count)
  expect(unrecorded).toBeGreaterThan(0)
  expect(unrecorded).toBeLessThanOrEqual(20)
  expect((await replay(dead)).code).toBe(0)
  expect(new Set(published().map(({ id }) => id))).toEqual(new Set(sixty.map(({ id }) => id)))
  expect(published()).toHaveLength(sixty.length + unrecorded)
})

it('drains at SIGINT, and loses nothing when it is killed: each event is published in the end', async () => {
  const { write, given, dead, published, emulator, more } = await openReplay()
  const all = 3_000
  for (let file = 0; file < 30; file++) write(`${file}.json`, letters(all / 30, `${file}-`))
  const start = () => startCommand(['replay', ...given, dead])
  const count = () => emulator.figures().published
  // The second one finds the ledger of the first.
  for (const killed of [1, 2]) {
    const command = start()
    await more(300)
    command.process.kill('SIGKILL')
    expect(await command.ended).toBe('SIGKILL')
    expect(count()).toBeLessThan(all * (0.25 * killed + 0.25))
  }
  const doubled = count() - new Set(published().map(({ id }) => id)).size
  const drained = start()
  await more(100)
  drained.process.kill('SIGINT')
  expect(await drained.ended).toBe(130)
  expect(drained.lines.at(-1)).toMatch(/ events published, .*\b\d+ not tried$/)
  const last = start()
  expect(await last.ended).toBe(0)
  expect(new Set(published().map(({ id }) => id)).size).toBe(all)
  // Twenty at most were under way at each kill, and none after a drain.
  expect(published().length - all).toBeLessThanOrEqual(40)
  expect(published().length - all).toBeGreaterThanOrEqual(doubled)
  expect(count()).toBe(published().length)
})
