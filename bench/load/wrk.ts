import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pinned } from '../cores.ts'
import type { LoadOrder, LoadResult } from './generator.ts'

/** The version of wrk, if it is there. */
export const wrkVersion = /wrk (\S+)/.exec(spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout ?? '')?.[1]

/** wrk would send the headers in an order that is another one in each run, but Event Grid's deliveries all have the same. */
const script = `
local file = io.open("request", "rb")
local request = file:read("*a")
file:close()
init = function()
  wrk.format = function() return request end
end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('{"answers":%d,"ms":%f,"p50":%f,"p99":%f,"faults":[%d,%d,%d,%d,%d]}\\n', summary.requests, summary.duration / 1000,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, e.connect, e.read, e.write, e.status, e.timeout))
end
`

function requestText({ targets, body }: LoadOrder): string {
  const { port, path = '/api/events', headers } = targets[0] ?? { port: 0, headers: {} }
  const head = { host: `127.0.0.1:${port}`, ...headers, 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** A closed loop against one server by wrk, which needs less of the processor than any load in Node. Whole seconds. */
export async function runWrk(order: LoadOrder): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'))
  try {
    writeFileSync(join(folder, 'script.lua'), script)
    writeFileSync(join(folder, 'request'), requestText(order))
    const seconds = Math.max(1, Math.round(order.ms / 1000))
    const flags = ['-t1', `-c${order.connections}`, `-d${seconds}s`, '--timeout', '20s', '-s', 'script.lua']
    const url = `http://127.0.0.1:${order.targets[0]?.port}${order.targets[0]?.path ?? '/api/events'}`
    const [program, args] = pinned('load', 'wrk', [...flags, url])
    const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await once(child, 'close')
    const line = output.split('\n').find((one) => one.startsWith('{'))
    if (line === undefined) throw new Error(`wrk said nothing: ${output}`)
    const { answers, ms, p50, p99, faults } = JSON.parse(line)
    const [connect, read, write, status, late] = faults
    if (connect + read + write + status + late > 0) {
      throw new Error(`${connect} connects, ${read} reads, ${write} writes, ${status} answers and ${late} waits failed`)
    }
    return { answers, ms, percentiles: { 50: p50, 99: p99 } }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
