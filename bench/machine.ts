import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { canPin } from './cores.ts'
import type { DaprPrograms } from './dapr-programs.ts'
import type { GoBinding } from './go-binding.ts'
import { wrkVersion } from './load/wrk.ts'

const root = join(import.meta.dirname, '..')

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version
}

/** What the figures were measured on and with, a line each. */
export function describeMachine(go: GoBinding, dapr: DaprPrograms): string[] {
  const all = cpus()
  const commit = spawnSync('git', ['describe', '--always', '--dirty', '--abbrev=10'], { cwd: root, encoding: 'utf8' })
  return [
    `${all.length} x ${all[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB of memory, ${type()} ${release()}`,
    `load average before the run ${loadavg()[0]?.toFixed(1)}; above 1 trust the processor time alone`,
    canPin
      ? 'the server has one core for itself, load, topic and emulator have another (taskset)'
      : 'nothing is pinned to a core: there is no taskset, or one core only',
    `Node ${process.version}; fastify ${versionOf('fastify')}; @azure/eventgrid ${versionOf('@azure/eventgrid')}`,
    'program' in go
      ? `${go.version}; github.com/dapr/components-contrib v1.18.0, unmodified, on one core`
      : `Dapr's Go binding was left out: ${go.missing}`,
    ...('missing' in dapr ? [`what goes through daprd was left out: ${dapr.missing}`] : []),
    wrkVersion === undefined
      ? 'closed loops by bench/load/generator.ts: wrk is not installed'
      : `closed loops by wrk ${wrkVersion}, steady load and loads of many ports by bench/load/generator.ts`,
    ...(commit.status === 0 ? [`commit ${commit.stdout.trim()}`] : []),
  ]
}
