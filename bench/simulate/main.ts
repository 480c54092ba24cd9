// `npm run simulate`: what a fleet of replicas asks of Azure, in simulated time. Writes docs/plots/*.svg with --plots.
// `--only start,dispute` runs some scenarios; `--replicas`, `--minutes`, `--seed`, `--expected` and `--sampled` change the world.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { drawScenario } from './plot.ts'
import { scenarios } from './scenarios.ts'
import { judgeScenario, simulate } from './simulate.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    replicas: { type: 'string', default: '1000' },
    expected: { type: 'string' },
    minutes: { type: 'string', default: '60' },
    sampled: { type: 'string', default: '200' },
    plots: { type: 'boolean', default: false },
  },
})
const only = options.only?.split(',')
const unknown = only?.filter((name) => !scenarios.some((scenario) => scenario.name === name)) ?? []
if (unknown.length > 0) throw new RangeError(`--only takes ${scenarios.map(({ name }) => name).join(', ')}`)

const folder = join(import.meta.dirname, '..', '..', 'docs', 'plots')
console.log(
  '| scenario | writes | refused (409) | reads | POST | throttled | handshakes ' +
    '| unknown credential | other failures | oldest event | lost |',
)
console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|')
for (const scenario of scenarios) {
  if (only && !only.includes(scenario.name)) continue
  const began = performance.now()
  const figures = await simulate(scenario, {
    seed: Number(options.seed),
    replicas: Number(options.replicas),
    ...(options.expected && { expectedReplicas: Number(options.expected) }),
    minutes: Number(options.minutes),
    sampledPerSecond: Number(options.sampled),
  })
  const outcome = judgeScenario(scenario, figures)
  const { writes, refusedWrites, reads, secretReads, throttled, handshakes, foreign, failed, oldestSeconds, lost } =
    outcome
  const row = [
    scenario.name,
    writes,
    refusedWrites,
    reads,
    secretReads,
    throttled,
    handshakes,
    foreign,
    failed,
    `${oldestSeconds} s`,
    lost,
  ]
  console.log(`| ${row.join(' | ')} |`)
  console.error(`  ${scenario.name}: ${((performance.now() - began) / 1_000).toFixed(1)} s of this machine`)
  for (const [warning, replicas] of [...figures.warnings].slice(0, 8))
    console.error(`  warned by ${replicas}: ${warning}`)
  for (const fault of outcome.faults) {
    console.error(`  NOT REACHED: ${fault}`)
    process.exitCode = 1
  }
  if (options.plots) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `scale-${scenario.name}.svg`), drawScenario(scenario.title, figures.steps))
  }
}
