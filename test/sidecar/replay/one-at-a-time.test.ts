import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { processMark } from '../../../src/support/process/process-mark.ts'
import { compileCache, programArgs, startCommand, startProcess } from '../../support/command.ts'
import { markOfElsewhere, markOfEnded } from '../../support/foreign-mark.ts'
import { listen } from '../../support/listen.ts'
import { letter, letters, openReplay } from './open-replay.ts'

const lock = 'eventgrid-replay.lock'

/** A world with so many dead letters, and the ids that were published. */
async function openLetters(count: number) {
  const world = await openReplay()
  for (let file = 0; file < count / 100; file++) world.write(`${file}.json`, letters(100, `${file}-`))
  const ids = () => world.published().map(({ id }) => String(id))
  return {
    ...world,
    ids,
    start: (...args: readonly string[]) => startCommand(['replay', ...world.given, ...args, world.dead]),
    locks: () => (existsSync(world.at(lock)) ? readdirSync(world.at(lock)) : []),
  }
}

it('publishes each of 2,000 letters once: rehearsed, interrupted, suspended, and run twice at once', async () => {
  const all = 2_000
  const world = await openLetters(all)
  const { dead, ids, more, start } = world
  const dry = await world.replay('--dry-run', dead)
  expect(dry.text).toBe(`${all} events would be published\n`)
  const first = start()
  await more(200)
  first.process.kill('SIGTERM')
  expect(await first.ended).toBe(143)
  const [, published, notTried] = /^(\d+) events published, (\d+) not tried$/.exec(first.lines.at(-1) ?? '') ?? []
  expect(Number(published) + Number(notTried)).toBe(all)
  expect(ids()).toHaveLength(Number(published))

  const second = start()
  await more(200)
  second.process.kill('SIGSTOP')
  const third = start()
  expect(await third.ended).toBe(1)
  expect(third.lines.join('\n')).toMatch(/another replay publishes from .*: wait until it ends, or end it/)
  second.process.kill('SIGCONT')
  expect(await second.ended).toBe(0)
  expect(second.lines.at(-1)).toBe(`${all - Number(published)} events published, ${published} published before`)
  expect(new Set(ids()).size).toBe(all)
  expect(ids()).toHaveLength(all)
  expect(world.locks()).toEqual([])
})

/** Whether this user may make process id namespaces, as containers have them. */
const makesNamespaces = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0

it.runIf(makesNamespaces)('is one of two in containers with one hostname, where each is process 1', async () => {
  const world = await openLetters(100)
  const answers: (() => void)[] = []
  const topic = createServer((request, response) => {
    request.resume()
    answers.push(() => response.writeHead(200, { 'x-ms-request-id': '1' }).end())
  })
  world.component({ topicEndpoint: `http://127.0.0.1:${await listen(topic)}/`, topicSchema: 'CloudEventSchemaV1_0' })
  const container = ['--pid', '--fork', '--mount-proc', '--kill-child', process.execPath, ...programArgs]
  const env = { NODE_COMPILE_CACHE: compileCache }
  const start = () => startProcess('unshare', [...container, 'replay', ...world.given, world.dead], env)
  const first = start()
  await expect.poll(() => answers.length).toBeGreaterThan(0)
  const second = start()
  expect(await second.ended).toBe(1)
  expect(second.lines.join('\n')).toMatch(/another replay publishes from/)
  topic.removeAllListeners('request')
  topic.on('request', (request, response) => {
    request.resume()
    response.writeHead(200, { 'x-ms-request-id': '1' }).end()
  })
  for (const answer of answers) answer()
  expect(await first.ended).toBe(0)
  expect(first.lines.at(-1)).toBe('100 events published')
})

it('ends where another process took it for dead: what it publishes from then on, that one may publish', async () => {
  const { at, locks, more, start, ids } = await openLetters(1_000)
  const command = start()
  await more(100)
  // As another container does, ten seconds after this one was suspended.
  rmSync(at(`${lock}/${locks()[0]}`), { recursive: true })
  mkdirSync(at(`${lock}/${markOfElsewhere()}`))
  const known = ids().length
  expect(await command.ended).toBe(1)
  expect(command.lines.join('\n')).toMatch(/another replay has taken over .*suspended/)
  expect(ids().length - known).toBeLessThan(300)
  expect(locks()).toHaveLength(1)
})

it.each([
  {
    name: 'another process publishes from the folder',
    path: `${lock}/${processMark(process.ppid)}/0`,
    says: /another/,
  },
  { name: 'version 0.2.0 may do so', path: lock, says: /eventgrid-replay\.lock is not a folder; remove it/ },
])('publishes nothing while $name', async ({ path, says }) => {
  const { replay, write, published, dead } = await openReplay()
  write('1.json', [letter('1')])
  write(path, '')
  await expect(replay(dead)).rejects.toThrow(says)
  expect(published()).toEqual([])
  expect(await replay(dead, '--dry-run')).toMatchObject({ code: 0 })
})

it('goes on after a process that was killed, and gives the folder free', async () => {
  const { replay, write, at, published, dead } = await openReplay()
  write('1.json', [letter('1')])
  mkdirSync(at(`${lock}/${markOfEnded()}`), { recursive: true })
  expect(await replay(dead)).toMatchObject({ code: 0 })
  expect(published()).toMatchObject([{ id: '1' }])
  expect(existsSync(at(lock))).toBe(false)
})

it('ends with 130 at SIGINT while it looks whether one elsewhere still runs', async () => {
  const { at, start, ids } = await openLetters(100)
  mkdirSync(at(`${lock}/${markOfElsewhere()}`), { recursive: true })
  const command = start()
  await command.line(/looks for some seconds/)
  command.process.kill('SIGINT')
  expect(await command.ended).toBe(130)
  expect(ids()).toEqual([])
})

it('lets one of several processes take over, when they start at once', async () => {
  const { dead, at } = await openReplay()
  const processes = Array.from({ length: 4 }, () => fork(join(import.meta.dirname, 'take-ledger.ts'), { silent: true }))
  onTestFinished(() => processes.forEach((one) => void one.kill('SIGKILL')))
  await Promise.all(processes.map((one) => once(one, 'message')))
  for (let round = 0; round < 30; round++) {
    mkdirSync(at(`${round}/${lock}/${markOfEnded()}`), { recursive: true })
    const answers = processes.map((one) => once(one, 'message'))
    for (const one of processes) one.send({ folder: join(dead, String(round)), at: Date.now() + 5 })
    expect((await Promise.all(answers)).flat().filter(Boolean)).toHaveLength(1)
  }
})
