// The bundle beside the npm package: what a start costs, and what the process holds after its first `create`.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import { freePorts, inputMetadata, serverFile } from '../azure.ts'
import { startChild } from '../child.ts'
import { type Case, takeTurns } from '../measure.ts'
import { absolute, atMost, compare, type Result } from '../results.ts'
import { makeFolder, outputMetadata, packageFile, startRun, type Topic } from '../shipped-command.ts'
import type { Findings, Suite } from '../suite.ts'
import { memoryOf, privateMemoryOf, usageOf } from '../usage.ts'

/** The flags that the image sets. */
const imageFlags = ['--max-old-space-size=96', '--max-semi-space-size=1']

interface Figures {
  readonly cpuMs: number
  readonly resident: number
  readonly private: number
}

export const shipped: Suite = {
  name: 'shipped',
  async run(bench): Promise<Findings> {
    await using stack = new AsyncDisposableStack()
    const topicServer = stack.use(
      await startChild<{ endpoint: string; ca: string }>({ args: [serverFile('topic')], core: 'load' }),
    )
    const topic: Topic = { ...topicServer.ready, key: Buffer.from('the key of the topic').toString('base64') }
    const app = stack.use(await startChild<{ port: number }>({ args: [serverFile('dapr-app')], core: 'load' }))
    const [port = 0, httpPort = 0] = await freePorts(2)
    const bothSides: Record<string, string> = {
      ...inputMetadata(bench.azure, 'run', port),
      ...outputMetadata(topic),
    }

    // Far from any node_modules, as in the image.
    const folder = await makeFolder(stack)
    await cp(packageFile('../../bundle'), folder, { recursive: true })
    const bundle = join(folder, 'eventgrid-binding.js')
    const dist = packageFile('./sidecar/cli/main.js')

    const once = async (program: string, nodeFlags: readonly string[], metadata = bothSides): Promise<Figures> => {
      await using running = new AsyncDisposableStack()
      const world = { azure: bench.azure, topic, nodeFlags, program: [process.execPath, program] as const }
      const daemon = await startRun(world, { metadata, appPort: app.ready.port, httpPort }, running)
      while (metadata === bothSides && !(await stands(port))) await rest(10)
      const cpuMs = usageOf(daemon.pid)?.cpuMs ?? Number.NaN
      await publish(httpPort)
      await rest(bench.scale.restMs)
      const [resident, own] = [memoryOf(daemon.pid)?.now, privateMemoryOf(daemon.pid)]
      return { cpuMs, resident: resident ?? Number.NaN, private: own ?? Number.NaN }
    }
    const programs = [
      { name: 'the npm package', run: () => once(dist, []) },
      { name: 'the bundle', run: () => once(bundle, []) },
      { name: "the bundle with the image's flags", run: () => once(bundle, imageFlags) },
      { name: 'the bundle, an access key alone', run: () => once(bundle, [], outputMetadata(topic)) },
    ] as const
    const runs = new Map<string, Figures[]>(programs.map(({ name }) => [name, []]))
    const cases = programs.map(
      ({ name, run }): Case => ({
        name,
        async run() {
          const figures = await run()
          runs.get(name)?.push(figures)
          return { value: figures.cpuMs }
        },
      }),
    )
    // The first start makes the event subscription; those that count find it.
    await programs[0].run()
    await takeTurns(cases, bench.scale.rounds)

    const line = (what: string, unit: string, of: keyof Figures, name: string, factor?: number): Result[] => {
      const samplesOf = (from: string) => (runs.get(from) ?? []).map((figures) => ({ value: figures[of] }))
      return compare({
        what: `${name}: ${what}`,
        unit,
        ours: { name, samples: samplesOf(name) },
        peer: { name: programs[0].name, samples: samplesOf(programs[0].name) },
        ...(factor !== undefined && { target: atMost(factor) }),
      })
    }
    const [, plain, inImage, keyAlone] = programs
    const own = (name: string, what: string, unit: string, of: keyof Figures, below: number) =>
      absolute(
        `${name}: ${what}`,
        (runs.get(name) ?? []).map((figures) => figures[of]),
        unit,
        below,
      )
    return {
      title: 'The bundle beside the package',
      how:
        '"eventgrid-binding run" with both sides: processor time until the event subscription stands (nothing to write), and memory ' +
        'after a create. Private memory is what no other process shares: the pages of Node itself are not in it. With an access key ' +
        'alone there is the output side only, and processor time is that until the API answers.',
      results: [
        ...line('processor time', 'ms', 'cpuMs', plain.name, 0.7),
        ...line('resident memory', 'MB', 'resident', plain.name, 0.88),
        ...line('private memory', 'MB', 'private', plain.name),
        ...line('processor time', 'ms', 'cpuMs', inImage.name),
        own(inImage.name, 'resident memory', 'MB', 'resident', 96),
        own(inImage.name, 'private memory', 'MB', 'private', 42),
        own(keyAlone.name, 'processor time', 'ms', 'cpuMs', 200),
        own(keyAlone.name, 'resident memory', 'MB', 'resident', 90),
      ],
    }
  },
}

/** Whether the listener says that the event subscription is as it should be. */
async function stands(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS' }).catch(() => undefined)
  return /"eventSubscription":\s*"provisioned"/.test((await answer?.text()) ?? '')
}

async function publish(httpPort: number): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${httpPort}/v1.0/bindings/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ operation: 'create', data: { order: 1 } }),
  })
  if (status !== 200) throw new Error(`create was answered ${status}`)
}
