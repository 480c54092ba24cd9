import { setTimeout as rest } from 'node:timers/promises'
import { freePorts, inputMetadata, serverFile, targetsOf } from '../azure.ts'
import { type Child, startChild } from '../child.ts'
import type { Daemon } from '../daemon.ts'
import { cloudEvent, deliveryBody } from '../events.ts'
import type { LoadOrder, LoadResult } from '../load/generator.ts'
import { openMemoryLimit } from '../memory-limit.ts'
import { figure, type Result } from '../results.ts'
import type { CreateOrder, SidecarFigures, SidecarSetup } from '../servers/sidecar.ts'
import { type CommandWorld, outputMetadata, packageFile, startRun, startServe, type Topic } from '../shipped-command.ts'
import { median } from '../statistics.ts'
import type { Bench, Findings, Suite } from '../suite.ts'
import { memoryOf } from '../usage.ts'

/** MiB of the container, and the flags that the manifests set. */
const limit = 256
const flags = ['--max-old-space-size=96', '--max-semi-space-size=4']
/** What is held in the last fifth of the time, over what is held in the second. */
const mostGrowth = 1.1
const connections = 32
const sampleMs = 1_000

/** A shipped command that takes deliveries and publishes. */
interface Subject {
  readonly name: 'serve' | 'run'
  readonly daemon: Daemon
  readonly deliveries: LoadOrder
  /** `create` over HTTP; the sidecar does it over gRPC. */
  readonly create?: LoadOrder
}

/** What a command held, in MB, sample by sample. */
type Held = ReadonlyMap<Subject['name'], number[]>

/** The memory of `serve` and `run` as they are shipped, both sides at a steady rate, under a limit. */
export const steady: Suite = {
  name: 'steady',
  async run(bench): Promise<Findings> {
    const { steadyMemoryMs: ms, steadyMemoryRate: rate } = bench.scale
    await using stack = new AsyncDisposableStack()
    const topicServer = stack.use(
      await startChild<{ endpoint: string; ca: string }>({ args: [serverFile('topic')], core: 'load' }),
    )
    const topic: Topic = { ...topicServer.ready, key: Buffer.from('the key of the topic').toString('base64') }
    const world = (): CommandWorld => ({
      azure: bench.azure,
      topic,
      nodeFlags: flags,
      memoryLimit: openMemoryLimit(limit),
    })
    const how = openMemoryLimit(limit)
    how.remove()
    const { subject: serve, sidecar } = await openServe(bench, world(), stack)
    const run = await openRun(bench, world(), stack)
    const subjects = [serve, run]

    const held: Held = new Map(subjects.map(({ name }) => [name, []]))
    const over = new AbortController()
    const watching = watch(subjects, held, over.signal)
    const orders = subjects.flatMap(({ deliveries, create }) => (create ? [deliveries, create] : [deliveries]))
    const order: CreateOrder = { rate, ms }
    const loads = await Promise.allSettled([
      bench.generator.ask<LoadResult[]>({ together: orders }),
      sidecar.ask<SidecarFigures>(order),
    ])
    const alive = new Map(subjects.map(({ name, daemon }) => [name, daemon.alive()]))
    over.abort()
    await watching
    const failed = loads.find((load) => load.status === 'rejected')
    if (failed && ![...alive.values()].includes(false)) throw failed.reason
    return {
      title: 'Memory of the shipped commands',
      how:
        '"eventgrid-binding serve" and "eventgrid-binding run", started by the file that npm links, at the same time on one core. ' +
        `Each takes ${rate} deliveries and publishes ${rate} events a second for ${figure(ms / 60_000)} minutes, events of 1 kB. ` +
        `Resident memory is read once a second. Flags: ${flags.join(' ')}. The limit of ${limit} MiB: ${how.how}.`,
      results: subjects.flatMap(({ name }) => lines(name, held.get(name) ?? [], alive.get(name) ?? false)),
    }
  },
}

function orderOf(bench: Bench, order: Pick<LoadOrder, 'targets' | 'body'>): LoadOrder {
  return { ...order, connections, ms: bench.scale.steadyMemoryMs, rate: bench.scale.steadyMemoryRate }
}

const payload = cloudEvent('e-0000000001', 1_024)
const body = deliveryBody({ bytes: 1_024, batch: 1 })

async function openServe(bench: Bench, world: CommandWorld, stack: AsyncDisposableStack) {
  const [port = 0] = await freePorts(1)
  const { daemon, socket } = await startServe(world, stack)
  const setup: SidecarSetup = {
    socket,
    proto: packageFile('./sidecar/pluggable/grpc/proto/bindings.proto'),
    metadata: { ...inputMetadata(bench.azure, 'serve', port), ...outputMetadata(world.topic) },
    payload: JSON.stringify(payload),
  }
  const sidecar: Child<object> = stack.use(
    await startChild<object>({
      args: [serverFile('sidecar')],
      core: 'load',
      env: { BENCH_SETUP: JSON.stringify(setup) },
    }),
  )
  const deliveries = orderOf(bench, { targets: await targetsOf(bench.azure, 'serve', [port]), body })
  const subject: Subject = { name: 'serve', daemon, deliveries }
  return { subject, sidecar }
}

async function openRun(bench: Bench, world: CommandWorld, stack: AsyncDisposableStack): Promise<Subject> {
  const [port = 0, httpPort = 0] = await freePorts(2)
  const app = stack.use(await startChild<{ port: number }>({ args: [serverFile('dapr-app')], core: 'load' }))
  const metadata = { ...inputMetadata(bench.azure, 'run', port), ...outputMetadata(world.topic) }
  const daemon = await startRun(world, { metadata, appPort: app.ready.port, httpPort }, stack)
  const create = {
    port: httpPort,
    path: '/v1.0/bindings/orders',
    headers: { 'content-type': 'application/json' },
  }
  return {
    name: 'run',
    daemon,
    deliveries: orderOf(bench, { targets: await targetsOf(bench.azure, 'run', [port]), body }),
    create: orderOf(bench, { targets: [create], body: JSON.stringify({ operation: 'create', data: payload }) }),
  }
}

async function watch(subjects: readonly Subject[], held: Held, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const { name, daemon } of subjects) {
      const memory = daemon.alive() ? memoryOf(daemon.pid) : undefined
      if (memory) held.get(name)?.push(memory.now)
    }
    await rest(sampleMs, undefined, { signal }).catch(() => {})
  }
}

function lines(name: Subject['name'], samples: readonly number[], alive: boolean): Result[] {
  const none = { peer: '', peerFigure: '', ratio: '', cpuRatio: '' }
  const most = Math.max(...samples)
  const fifth = Math.floor(samples.length / 5)
  const growth = median(samples.slice(-fifth)) / median(samples.slice(fifth, 2 * fifth))
  return [
    {
      ...none,
      what: `${name}: most resident memory`,
      ours: `${figure(most)} MB (at the start ${figure(samples[0] ?? Number.NaN)}, at the end ${figure(samples.at(-1) ?? Number.NaN)})`,
      ratio: `${figure(growth)} x, last fifth over the second`,
      target: `at most ${mostGrowth} x`,
      met: growth <= mostGrowth,
    },
    {
      ...none,
      what: `${name} under a limit of ${limit} MiB`,
      ours: alive ? 'alive at the end' : 'killed',
      target: 'alive',
      met: alive,
    },
  ]
}
