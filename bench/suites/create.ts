import { goEnvironment, serverFile } from '../azure.ts'
import { type Child, startChild } from '../child.ts'
import { cloudEvent } from '../events.ts'
import { type Case, type Throughput, takeTurns, withUsage } from '../measure.ts'
import { atLeast, atLeastByProcessorTime, compare, type Result, type Runs, type Target } from '../results.ts'
import type { PublishOrder } from '../servers/publish-loop.ts'
import type { TopicFigures } from '../servers/topic.ts'
import type { Bench, Findings, Suite } from '../suite.ts'

const key = Buffer.from('the key of the topic of the benchmark').toString('base64')
/** Events of 1 kB that go into a request of at most 1 MiB, with room for what the SDK adds. */
const fullBatch = 1_000

type Topic = Child<{ readonly endpoint: string; readonly ca: string }>

interface Publisher {
  readonly name: string
  readonly child: Child<object>
  readonly callers: number
}

async function publishers({ azure, go, nodeFlags, scale }: Bench, topic: Topic, stack: AsyncDisposableStack) {
  const { endpoint, ca } = topic.ready
  const metadata = { accessKey: key, topicEndpoint: endpoint }
  const node = async (file: string, setup: object, flags: readonly string[] = []) =>
    stack.use(
      await startChild<object>({
        args: [...flags, serverFile(file)],
        core: 'server',
        env: { BENCH_SETUP: JSON.stringify(setup) },
      }),
    )
  const ours = await node('publish-ours', { endpoints: { ca }, metadata }, nodeFlags)
  const sdk = await node('publish-sdk', { endpoint, ca, key, batch: 1 })
  const ceiling = await node('publish-sdk', { endpoint, ca, key, batch: fullBatch })
  const payload = JSON.stringify(cloudEvent('e-0000000001', 1_024))
  const daprs =
    'program' in go
      ? stack.use(
          await startChild<object>({
            command: go.program,
            args: [],
            core: 'server',
            env: { ...(await goEnvironment(azure, metadata, ca)), BENCH_PAYLOAD: payload },
          }),
        )
      : undefined
  const many = scale.manyCallers
  const list: Publisher[] = [
    { name: names.ours, child: ours, callers: 1 },
    { name: names.oursMany, child: ours, callers: many },
    ...(daprs ? [{ name: names.go, child: daprs, callers: 1 }] : []),
    ...(daprs ? [{ name: names.goMany, child: daprs, callers: many }] : []),
    { name: names.sdk, child: sdk, callers: 1 },
    { name: names.sdkMany, child: sdk, callers: many },
    // Two at once, so that one is made while the other is under way.
    { name: names.ceiling, child: ceiling, callers: 2 },
  ]
  return list
}

const names = {
  ours: 'ours, 1 caller',
  oursMany: 'ours, many callers',
  go: "Dapr's Go binding",
  goMany: "Dapr's Go binding, many callers",
  sdk: 'SDK, one by one',
  sdkMany: 'SDK, one by one, many callers',
  ceiling: 'SDK, full batches',
} as const

/** `create`, over TLS, to a topic that answers at once. */
export const create: Suite = {
  name: 'create',
  async run(bench): Promise<Findings> {
    await using stack = new AsyncDisposableStack()
    const { rounds, runMs, warmUpMs, manyCallers } = bench.scale
    const topic: Topic = stack.use(await startChild({ args: [serverFile('topic')], core: 'load' }))
    const all = await publishers(bench, topic, stack)
    const work = async ({ name, child, callers }: Publisher, ms: number) => {
      await topic.ask<TopicFigures>({})
      const order: PublishOrder = { callers, ms }
      const done = await child.ask<Throughput>(order)
      const { events } = await topic.ask<TopicFigures>({})
      if (events !== done.events) throw new Error(`${name}: ${events} of ${done.events} events came to the topic`)
      return done
    }
    for (const one of all) await work(one, warmUpMs)
    const cases = all.map((one): Case => ({ name: one.name, run: () => withUsage(one.child, () => work(one, runMs)) }))
    const samples = await takeTurns(cases, rounds)
    const runs = (name: string): Runs | undefined => {
      const found = samples.get(name)
      return found && { name, samples: found }
    }
    const line = (what: string, ours: string, peer: string, target?: Target): Result[] =>
      compare({
        what,
        unit: 'events/s',
        ours: runs(ours),
        peer: runs(peer),
        ...(target && { target }),
      })
    const many = `\`create\`, ${manyCallers} callers`
    return {
      title: 'create',
      how:
        'Events of 1 kB over TLS to a topic on the other core, which reads them, counts them and answers 200 at once. ' +
        'Each caller awaits its call before the next.',
      results: [
        ...line('`create`, 1 caller', names.ours, names.go, atLeast(3)),
        ...line('`create`, 1 caller', names.ours, names.sdk, atLeastByProcessorTime(1)),
        ...line(many, names.oursMany, names.goMany, atLeast(30)),
        ...line(many, names.oursMany, names.ceiling, atLeast(0.5)),
        ...line(many, names.oursMany, names.sdkMany),
      ],
      bars: {
        title: 'create of events of 1 kB over TLS, on one core',
        unit: 'events/s',
        bars: all.map(({ name }) => ({ name, values: (samples.get(name) ?? []).map(({ value }) => value) })),
      },
    }
  },
}
