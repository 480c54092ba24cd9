/** `init` is ended at each of its stages; a process of its own shows that nothing of it is left. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { openWorld } from '../support/open-world.ts'
import type { StageMessage, StageReport } from './stages-process.ts'

type Reached = () => void

/** Where `init` is when it is ended: each makes it hang there, and says when it does. */
const stages: readonly {
  readonly stage: string
  readonly hang: (emulator: EventGridEmulator, reached: Reached) => void
}[] = [
  { stage: 'asking Entra for a token', hang: hangAt('entra', /token/, 'POST') },
  { stage: 'asking Entra where its endpoints are', hang: hangAt('entra', /openid-configuration/, 'GET') },
  { stage: 'reading the event subscription', hang: hangAt('arm', /eventSubscriptions\/orders\?/, 'GET') },
  { stage: 'writing it', hang: hangAt('arm', /eventSubscriptions\/orders\?/, 'PUT') },
  { stage: 'looking after its operation', hang: hangAt('arm', /operationsStatus/, 'GET') },
  {
    stage: 'waiting before the next attempt',
    hang(emulator, reached) {
      emulator.failNext({ route: 'arm', status: 429, retryAfter: 30, matches: told(reached) })
    },
  },
  {
    stage: 'in the handshake, which is not answered',
    hang(emulator, reached) {
      const silent = createServer(reached)
      silent.listen(0, '127.0.0.1')
      onTestFinished(() => {
        silent.closeAllConnections()
        silent.close()
      })
      emulator.setIngress(() => {
        const address = silent.address()
        return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 1}/`
      })
    },
  },
]

function hangAt(route: 'arm' | 'entra', url: RegExp, method: string) {
  return (emulator: EventGridEmulator, reached: Reached) =>
    emulator.failNext({
      route,
      delayMs: 600_000,
      matches: (call) => call.method === method && url.test(call.url) && told(reached)(),
    })
}

const told = (reached: Reached) => () => {
  reached()
  return true
}

const allMeans = { abort: 'ABORTED', close: 'CLOSED', background: 'initialised' } as const

it('ends at every stage, by abort, by close and in the background, and the process exits by itself', async () => {
  const child = fork(join(import.meta.dirname, 'stages-process.ts'), {
    execArgv: ['--unhandled-rejections=strict', '--throw-deprecation'],
    silent: true,
  })
  const exited = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  for (const means of ['abort', 'close', 'background'] as const) {
    for (const { stage, hang } of stages) {
      const { emulator, fields } = await openWorld()
      const reached = Promise.withResolvers<void>()
      let port = 1
      emulator.setIngress(({ pathname }) => `http://127.0.0.1:${port}${pathname}`)
      hang(emulator, reached.resolve)
      const ended = Promise.withResolvers<StageReport>()
      const listen = (report: StageReport) => {
        if (report.is === 'listening') port = report.port
        else ended.resolve(report)
      }
      child.on('message', listen)
      const begin: StageMessage = { is: 'begin', means, fields, endpoints: emulator.endpoints }
      child.send(begin)
      await Promise.race([reached.promise, ended.promise, exited])
      child.send({ is: 'end' } satisfies StageMessage)
      expect([means, stage, await Promise.race([ended.promise, exited])]).toEqual([
        means,
        stage,
        { is: 'ended', code: allMeans[means], portIsFree: true, address: undefined, left: [] },
      ])
      child.off('message', listen)
    }
  }
  child.disconnect()
  expect(await exited).toEqual([0, null])
})
