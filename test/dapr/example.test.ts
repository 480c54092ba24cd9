import { resolve } from 'node:path'
import { expect } from 'vitest'
import { startProcess } from '../support/command.ts'
import { withDaprd } from './stack.ts'

withDaprd('examples/dapr takes an event to the application, and its answer back to the topic', async () => {
  const example = startProcess(process.execPath, [resolve(import.meta.dirname, '../../examples/dapr/main.ts')])
  expect(await example.ended, example.lines.join('\n')).toBe(0)
  const lines = example.lines.join('\n')
  expect(lines).toContain('got order.placed 17')
  expect(lines).toContain('got order.confirmed confirmed-17')
  expect(lines).toContain('done: 2 events published, 2 delivered and acknowledged')
})
