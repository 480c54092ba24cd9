import { setTimeout as rest } from 'node:timers/promises'
import { type Server, startBare, startGo, startOurs } from '../azure.ts'
import { deliveryBody } from '../events.ts'
import { absolute, figure, type Result } from '../results.ts'
import { type Bench, closedLoop, type Findings, type Suite } from '../suite.ts'
import { memoryOf } from '../usage.ts'

/** Delivers events until it has been so many, or a little more. */
async function deliver(bench: Bench, { targets }: Server, events: number): Promise<void> {
  const body = deliveryBody({ bytes: 1_024, batch: 1 })
  for (let done = 0; done < events; ) {
    const order = { targets, body, connections: 32, ms: bench.scale.runMs }
    done += (await closedLoop(bench, order)).answers
  }
}

/** What a process has in memory, megabytes. */
const memory = ({ child }: Server) => memoryOf(child.pid)?.now ?? Number.NaN

/** Resident memory, before any event and after many. */
export const memoryUse: Suite = {
  name: 'memory',
  async run(bench): Promise<Findings> {
    const { azure, go, scale } = bench
    const [early, late] = scale.memoryEvents
    await using ours = await startOurs(azure, { authentication: 'secret' })
    await using nodeHttp = await startBare('node-http', ours.targets)
    await using stack = new AsyncDisposableStack()
    const dapr = 'program' in go ? stack.use(await startGo(azure, go)) : undefined
    await rest(scale.restMs)
    const [idle, nodeHttpIdle, daprIdle] = [ours, nodeHttp, dapr].map((one) => one && memory(one))
    await deliver(bench, ours, early)
    const afterEarly = memory(ours)
    await deliver(bench, ours, late - early)
    const afterLate = memory(ours)
    await deliver(bench, nodeHttp, early)
    const growth = afterLate / afterEarly
    const words = late.toLocaleString('en')
    const grown: Result = {
      what: `memory after ${words} events`,
      ours: `${figure(afterLate)} MB`,
      peer: `after ${early.toLocaleString('en')}`,
      peerFigure: `${figure(afterEarly)} MB`,
      ratio: `${figure(growth)} x`,
      cpuRatio: '',
      target: 'at most 1.1 x',
      met: growth <= 1.1,
    }
    return {
      title: 'Resident memory',
      how: 'Of the whole process. Events of 1 kB over 32 connections in a closed loop, delivery secret.',
      results: [
        absolute('memory, idle', [idle ?? Number.NaN], 'MB', 130),
        grown,
        absolute('memory of the bare node:http server, idle', [nodeHttpIdle ?? Number.NaN], 'MB'),
        absolute(
          `memory of the bare node:http server after ${early.toLocaleString('en')} events`,
          [memory(nodeHttp)],
          'MB',
        ),
        ...(daprIdle === undefined ? [] : [absolute("memory of Dapr's Go binding, idle", [daprIdle], 'MB')]),
      ],
    }
  },
}
