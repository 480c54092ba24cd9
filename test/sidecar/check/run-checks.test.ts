import { expect, it } from 'vitest'
import { BindingError } from '../../../src/core/errors.ts'
import { failed, ok, warning } from '../../../src/sidecar/check/finding.ts'
import { type Check, runChecks } from '../../../src/sidecar/check/run-checks.ts'

const run = async (checks: readonly Check[]) => {
  const signal = new AbortController().signal
  const outcomes = await runChecks(checks, { signal, clean: (text) => text })
  return Object.fromEntries(outcomes.map((one) => [one.id, one]))
}

const fine = (id: Check['id'], needs: Check['needs'] = []): Check => ({ id, needs, run: () => ok('fine') })

it('skips a finding that is about what another check found to have failed, and keeps it where that check is well', async () => {
  const about = (id: Check['id']): Check => ({
    id,
    needs: [],
    run: () => warning('?', { belongsTo: 'azure/permission' }),
  })
  const bad = await run([about('azure/scope'), { id: 'azure/permission', needs: [], run: () => failed('no') }])
  expect(bad['azure/scope']).toMatchObject({ status: 'skipped', detail: 'azure/permission failed' })
  const good = await run([about('azure/scope'), fine('azure/permission')])
  expect(good['azure/scope']).toMatchObject({ status: 'warning' })
})

it('tells two failures that belong to each other', async () => {
  const outcomes = await run([
    { id: 'azure/provider', needs: [], run: () => failed('no subscription', { belongsTo: 'azure/scope' }) },
    { id: 'azure/scope', needs: [], run: () => failed('no answer', { belongsTo: 'azure/provider' }) },
  ])
  expect(outcomes['azure/provider']).toMatchObject({ status: 'failed' })
  expect(outcomes['azure/scope']).toMatchObject({ status: 'failed' })
})

it('fails a check that throws, and stops no other', async () => {
  const outcomes = await run([
    { id: 'machine/port', needs: [], run: () => Promise.reject(new RangeError('oops')) },
    {
      id: 'machine/clock',
      needs: [],
      run: () => Promise.reject(new BindingError('METADATA_INVALID', { what: 'it is wrong', fix: 'mend it' })),
    },
    fine('endpoint/dns'),
  ])
  expect(outcomes['machine/port']).toMatchObject({
    status: 'failed',
    detail: 'the check itself broke: RangeError: oops',
  })
  expect(outcomes['machine/clock']).toMatchObject({ status: 'failed', detail: 'it is wrong', remedy: 'mend it' })
  expect(outcomes['endpoint/dns']).toMatchObject({ status: 'ok' })
})

it('fails a check that never ends when its time is over, and tells it so by its signal', async () => {
  const { promise: aborted, resolve } = Promise.withResolvers<void>()
  const outcomes = await run([
    {
      id: 'endpoint/connect',
      needs: [],
      limitMs: 1,
      run(signal) {
        signal.addEventListener('abort', () => resolve())
        return new Promise(() => {})
      },
    },
    fine('endpoint/dns'),
  ])
  await aborted
  expect(outcomes['endpoint/connect']).toMatchObject({ status: 'failed', detail: 'no answer within 0.001 s' })
  expect(outcomes['endpoint/dns']).toMatchObject({ status: 'ok' })
})
