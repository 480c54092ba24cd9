import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { traceTree } from './trace-tree.ts'

it('prints the trace of an order from the publisher to the handler', async () => {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', main])
  const names = stdout.split('\n').map((line) => line.replace(/ +\d+\.\d ms {2}trace [\da-f]{8}$/, ''))
  expect(names).toEqual([
    'start the shop',
    '└─ upsert event subscription',
    'place order',
    '└─ publish orders',
    '   └┄ process shop',
    '      └─ confirm order',
    '',
  ])
  const traces = stdout.match(/(?<=trace )\S+/g) ?? []
  expect(new Set(traces.slice(0, 2)).size).toBe(1)
  expect(new Set(traces.slice(2, 4)).size).toBe(1)
})

it('shows a span whose parent was not received as a root', () => {
  const span = { traceId: 'a'.repeat(32), startTimeUnixNano: 0n, endTimeUnixNano: 1_500_000n, links: [] }
  const lines = traceTree([{ ...span, name: 'alone', spanId: 'b', parentSpanId: 'c' }])
  expect(lines).toEqual([`${'alone'.padEnd(44)}    1.5 ms  trace aaaaaaaa`])
})
