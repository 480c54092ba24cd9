// `npm run bench`: our binding beside Dapr's Go binding, the SDK alone and bare servers, in one run on this machine. Writes
// bench/RESULTS.md. It takes about 35 minutes (growth and steady 10 each), and a few more where daprd is built first.
//
// `--short` shows only that everything works (for CI). `--only inbound,create` measures a part. `--minutes 1` shortens the load
// under which memory is watched. `--cpu-prof` writes profiles of our servers. With any of these the report goes to .cache/bench.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startAzure } from './azure.ts'
import { startChild } from './child.ts'
import { obtainDaprPrograms } from './dapr-programs.ts'
import { buildGoBinding } from './go-binding.ts'
import { describeMachine } from './machine.ts'
import { summary, table, writeReport } from './report.ts'
import { fullScale, type Scale, shortScale } from './scale.ts'
import { programFile, stripTypes } from './strip-types.ts'
import type { Bench, Findings, Suite } from './suite.ts'
import { bodies } from './suites/bodies.ts'
import { create } from './suites/create.ts'
import { dapr } from './suites/dapr.ts'
import { growth } from './suites/growth.ts'
import { inbound } from './suites/inbound.ts'
import { latency } from './suites/latency.ts'
import { memoryUse } from './suites/memory.ts'
import { pull } from './suites/pull.ts'
import { shipped } from './suites/shipped.ts'
import { start } from './suites/start.ts'
import { steady } from './suites/steady.ts'
import { telemetry } from './suites/telemetry.ts'

const { values: options } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    minutes: { type: 'string' },
    'cpu-prof': { type: 'boolean', default: false },
  },
})
const suites: readonly Suite[] = [
  ...[inbound, latency, bodies, create, pull],
  ...[start, shipped, memoryUse, steady, growth, telemetry, dapr],
]
const only = options.only?.split(',')
const unknown = only?.filter((name) => !suites.some((suite) => suite.name === name)) ?? []
if (unknown.length > 0) throw new RangeError(`--only takes ${suites.map(({ name }) => name).join(', ')}`)
const base = options.short ? shortScale : fullScale
const scale: Scale = {
  ...base,
  rounds: Number(options.rounds ?? base.rounds),
  runMs: options.seconds === undefined ? base.runMs : Number(options.seconds) * 1_000,
  steadyMemoryMs: options.minutes === undefined ? base.steadyMemoryMs : Number(options.minutes) * 60_000,
}
if (!(scale.rounds >= 1 && scale.runMs > 0 && scale.steadyMemoryMs > 0)) {
  throw new RangeError('--rounds, --seconds and --minutes take numbers above 0')
}

const cache = join(import.meta.dirname, '..', '.cache', 'bench')
mkdirSync(cache, { recursive: true })
stripTypes()
const go = buildGoBinding()
if ('missing' in go) {
  console.log(`skipped: Dapr's Go binding: ${go.missing}`)
  // Where nobody looks, what is skipped would stay skipped.
  if (process.env.CI !== undefined && process.env.CI !== 'false') process.exit(1)
}
const daprPrograms = obtainDaprPrograms(!options.short && (only?.includes(dapr.name) ?? true))
const daprMissing = 'missing' in daprPrograms && (only?.includes(dapr.name) ?? true)
if (daprMissing) console.log(`skipped: what goes through daprd: ${daprPrograms.missing}`)
const machine = describeMachine(go, daprPrograms)
for (const line of machine) console.log(line)

// Each child is killed when this process ends.
process.setMaxListeners(50)
const findings: Findings[] = []
{
  await using azure = await startAzure()
  await using generator = await startChild<object>({
    args: [programFile(join('load', 'generator'))],
    core: 'load',
  })
  const nodeFlags = options['cpu-prof'] ? ['--cpu-prof', '--cpu-prof-dir', join(cache, 'profiles')] : []
  const bench: Bench = { azure, go, dapr: daprPrograms, generator, scale, nodeFlags }
  for (const suite of suites) {
    if ((only && !only.includes(suite.name)) || (suite === dapr && daprMissing)) continue
    const started = performance.now()
    const found = await suite.run(bench)
    findings.push(found)
    const seconds = Math.round((performance.now() - started) / 1000)
    console.log(`\n${found.title} (${suite.name}, ${seconds} s)\n\n${table(found.results)}`)
  }
}
const complete =
  !options.short &&
  !only &&
  !options['cpu-prof'] &&
  scale.rounds >= fullScale.rounds &&
  scale.steadyMemoryMs >= fullScale.steadyMemoryMs
const folder = complete ? import.meta.dirname : cache
const plots = complete ? join(import.meta.dirname, '../docs/plots') : join(cache, 'plots')
writeReport({ folder, plots }, findings, {
  machine,
  command: ['npm run bench', ...(process.argv.length > 2 ? ['--'] : []), ...process.argv.slice(2)].join(' '),
  rounds: scale.rounds,
  runMs: scale.runMs,
  finished: new Date(),
})
console.log(`\n${summary(findings)}\nwrote ${join(folder, 'RESULTS.md')}`)
