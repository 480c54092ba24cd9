import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

// The example for vitest is run by vitest itself.
it('the example for node:test runs under node:test, on the built package', async () => {
  const file = join(import.meta.dirname, '..', '..', 'examples', 'unit-test', 'emulator-with-node-test.ts')
  // Node leaves its reporter out where it finds itself inside another test runner.
  const { NODE_TEST_CONTEXT: _outer, ...env } = process.env
  const options = { env, timeout: 60_000, killSignal: 'SIGKILL' } as const
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file], options)
  expect(stdout).toMatch(/^# pass 4$/m)
  expect(stdout).toMatch(/^# fail 0$/m)
})
