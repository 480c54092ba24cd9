/** A replay that ends before all is published: killed, interrupted, or without room on the disk. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { startCommand, startWithSmallFiles } from '../../support/command.ts'
import { listen } from '../../support/listen.ts'
import { letters, openReplay } from './open-replay.ts'

const sixty = letters(60, 'event-')

it('publishes nothing where the ledger can not be made, says so, and goes on when it can', async () => {
  const { replay, write, dead, published, given } = await openReplay()
  write('a.json', sixty)
  const command = startWithSmallFiles(0, ['replay', ...given, dead])
  expect(await command.ended).toBe(1)
  expect(command.lines.join('\n')).toMatch(/the ledger .*eventgrid-replay\.db can't be used/)
  expect(command.lines).toContain('0 events published, 60 not tried')
  expect(published()).toEqual([])
  expect((await replay(dead)).text).toBe('60 events published\n')
})

it('publishes nothing that the ledger has no room for, however often it is started', async () => {
  const { replay, write, dead, published, given } = await openReplay()
  const all = letters(2_000, 'x'.repeat(180))
  write('a.json', all)
  for (let start = 0; start < 3; start++) {
    const command = startWithSmallFiles(160, ['replay', ...given, dead])
    expect(await command.ended).toBe(1)
    expect(command.lines.join('\n')).toMatch(/the ledger .*eventgrid-replay\.db can't be used/)
    expect(new Set(published().map(({ id }) => id)).size).toBe(published().length)
  }
  expect(published().length).toBeGreaterThan(20)
  expect((await replay(dead)).code).toBe(0)
  expect(published()).toHaveLength(all.length)
})

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0

it.skipIf(!hasPrlimit)(
  'says how many events it could not enter, and the next run how many it published again',
  async () => {
    const { write, component, dead, given, replay } = await openReplay()
    write('a.json', sixty)
    const { promise: full, resolve: fill } = Promise.withResolvers<void>()
    const sent: string[] = []
    const topic = createServer(async (request, response) => {
      for (const { id } of JSON.parse(await text(request))) sent.push(id)
      await full
      response.writeHead(200, { 'x-ms-request-id': '1' }).end()
    })
    component({ topicEndpoint: `http://127.0.0.1:${await listen(topic)}/`, topicSchema: 'CloudEventSchemaV1_0' })
    const command = startCommand(['replay', ...given, dead])
    await expect.poll(() => sent.length).toBeGreaterThan(0)
    execFileSync('prlimit', ['--pid', String(command.process.pid), '--fsize=0'])
    fill()
    expect(await command.ended).toBe(1)
    expect(command.lines.join('\n')).toMatch(
      /^20 events published, 20 of them not entered in the ledger: .*, 40 not tried$/m,
    )
    expect((await replay(dead)).text).toMatch(
      /^60 events published, 20 of them perhaps for the second time, .*ended\n$/,
    )
    expect(sent).toHaveLength(80)
  },
)

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
