import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { compileCache, programArgs, startCommand, startProcess } from '../../support/command.ts'
import { listen } from '../../support/listen.ts'
import { letters, openReplay } from './open-replay.ts'

/** A world with so many dead letters, and the ids that were published. */
async function openLetters(count: number) {
  const world = await openReplay()
  for (let file = 0; file < count / 100; file++) world.write(`${file}.json`, letters(100, `${file}-`))
  const ids = () => world.published().map(({ id }) => String(id))
  return {
    ...world,
    ids,
    start: (...args: readonly string[]) => startCommand(['replay', ...world.given, ...args, world.dead]),
  }
}

it('publishes each of 2,000 letters once: rehearsed, interrupted, suspended, and run twice at once', async () => {
  const all = 2_000
  const world = await openLetters(all)
  const { dead, ids, more, start } = world
  const dry = await world.replay('--dry-run', dead)
  expect(dry.text).toMatch(new RegExp(`^${all} events would be published to https:`))
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
  expect(third.lines.join('\n')).toMatch(
    /another replay publishes from its folder; wait until that one ends, or end it/,
  )
  second.process.kill('SIGCONT')
  expect(await second.ended).toBe(0)
  expect(second.lines.at(-1)).toBe(`${all - Number(published)} events published, ${published} published before`)
  expect(new Set(ids()).size).toBe(all)
  expect(ids()).toHaveLength(all)
  expect(readdirSync(dead).filter((name) => !name.endsWith('.json'))).toEqual(['eventgrid-replay.db'])
})

/** Whether this user may make process id namespaces, as containers have them. */
const makesNamespaces = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0

/** A world whose topic gives no answer before `release`, so that a process that publishes there has not ended. */
async function openHeld() {
  const world = await openLetters(100)
  const released = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const topic = createServer(async (request, response) => {
    request.resume()
    asked.resolve()
    await released.promise
    response.writeHead(200, { 'x-ms-request-id': '1' }).end()
  })
  world.component({ topicEndpoint: `http://127.0.0.1:${await listen(topic)}/`, topicSchema: 'CloudEventSchemaV1_0' })
  return { ...world, asked: asked.promise, release: released.resolve }
}

it.runIf(makesNamespaces)('is one of two in containers with one hostname, where each is process 1', async () => {
  const world = await openHeld()
  const container = ['--pid', '--fork', '--mount-proc', '--kill-child', process.execPath, ...programArgs]
  const env = { NODE_COMPILE_CACHE: compileCache }
  const start = () => startProcess('unshare', [...container, 'replay', ...world.given, world.dead], env)
  const first = start()
  await world.asked
  const second = start()
  expect(await second.ended).toBe(1)
  expect(second.lines.join('\n')).toMatch(/another replay publishes from/)
  world.release()
  expect(await first.ended).toBe(0)
  expect(first.lines.at(-1)).toBe('100 events published')
})

it('goes on at once after a process that was killed', async () => {
  const { start, more, ids } = await openLetters(400)
  const killed = start()
  await more(100)
  killed.process.kill('SIGKILL')
  await killed.ended
  const next = start()
  expect(await next.ended).toBe(0)
  expect(new Set(ids()).size).toBe(400)
  expect(ids().length).toBeLessThanOrEqual(420)
})

it('lets one of several processes have a folder, when they start at once', async () => {
  const { start, release } = await openHeld()
  const processes = Array.from({ length: 4 }, () => start())
  let refused = 0
  for (const { ended } of processes) ended.then(() => ++refused === 3 && release())
  const codes = await Promise.all(processes.map(({ ended }) => ended))
  expect(codes.toSorted()).toEqual([0, 1, 1, 1])
  expect(processes[codes.indexOf(0)]?.lines.at(-1)).toBe('100 events published')
})
