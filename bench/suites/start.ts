import { freePorts, goEnvironment, inputMetadata, serverFile } from '../azure.ts'
import { startChild } from '../child.ts'
import { type Case, takeTurns } from '../measure.ts'
import { absolute, figure, type Result } from '../results.ts'
import type { OursSetup } from '../servers/ours.ts'
import { median } from '../statistics.ts'
import type { Findings, Suite } from '../suite.ts'
import { usageOf } from '../usage.ts'

const names = {
  listening: 'ours: process start to listening',
  standing: 'ours: process start to the event subscription standing, nothing to write',
  go: "Dapr's Go binding: process start to the event subscription standing",
  nodeHttp: 'bare node:http server: process start to listening',
} as const

/** How soon a new process can take deliveries. */
export const start: Suite = {
  name: 'start',
  async run({ azure, go, scale, nodeFlags }): Promise<Findings> {
    const [port = 0, goPort = 0] = await freePorts(2)
    const ours = (readyWhen: 'standing' | 'listening') => {
      const components = [inputMetadata(azure, 'start', port)]
      const setup: OursSetup = { endpoints: azure.ready.endpoints, components, readyWhen }
      const env = { BENCH_SETUP: JSON.stringify(setup) }
      return startChild({ args: [...nodeFlags, serverFile('ours')], core: 'server', env })
    }
    const goStart = async (program: string) => {
      const env = await goEnvironment(azure, inputMetadata(azure, 'go-binding', goPort))
      return startChild({ command: program, args: [], core: 'server', env })
    }
    const timed = (name: string, begin: () => ReturnType<typeof ours>): Case => ({
      name,
      async run() {
        await using child = await begin()
        return { value: child.readyMs, cpuUs: (usageOf(child.pid)?.cpuMs ?? Number.NaN) * 1000 }
      },
    })
    const cases = [
      timed(names.listening, () => ours('listening')),
      timed(names.standing, () => ours('standing')),
      ...('program' in go ? [timed(names.go, () => goStart(go.program))] : []),
      timed(names.nodeHttp, () => startChild({ args: [serverFile('node-http')], core: 'server' })),
    ]
    // The first start makes the event subscription; those that count find it.
    for (const one of [cases[1], cases.find(({ name }) => name === names.go)]) await one?.run()
    const samples = await takeTurns(cases, scale.rounds)
    const line = (name: string, below?: number): Result[] => {
      const runs = samples.get(name)
      if (!runs) return []
      const values = runs.map(({ value }) => value)
      const cpuMs = median(runs.map(({ cpuUs = Number.NaN }) => cpuUs / 1000))
      return [{ ...absolute(name, values, 'ms', below), cpuRatio: `${figure(cpuMs)} ms` }]
    }
    return {
      title: 'Cold start',
      how: 'From the spawn of a new process, Node and imports included, to its word that it is ready; the emulator answers at once.',
      results: [
        ...line(names.listening, 400),
        ...line(names.standing, 700),
        ...line(names.go),
        ...line(names.nodeHttp),
      ],
    }
  },
}
