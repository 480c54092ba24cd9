import { expect, it } from 'vitest'
import { createQuietLog } from '../../../src/core/logger.ts'
import { createAnswerPublisher, type OutputCall } from '../../../src/sidecar/host/call-output.ts'
import { captureLog } from '../../support/captured-log.ts'

/** Publishes by components of which `missing` is not there. */
function open(onCall: (call: OutputCall) => void = () => {}) {
  const log = captureLog()
  const calls: OutputCall[] = []
  const publish = createAnswerPublisher({
    log: createQuietLog({ logger: log }),
    async callOutput(call) {
      calls.push(call)
      onCall(call)
      if (call.name.startsWith('missing')) throw new Error('there is none')
      return { data: undefined, metadata: {} }
    },
  })
  const { signal } = new AbortController()
  return { log, calls, publish, signal }
}

it.each([
  { data: '{"parcel":1}', payload: '{"parcel":1}' },
  { data: ' [1,2]', payload: ' [1,2]' },
  { data: '17', payload: 17 },
  { data: '"text"', payload: 'text' },
  { data: 'no JSON', payload: null },
  { data: '', payload: null },
])('publishes the JSON that the data are, and null for all else: $data', async ({ data, payload }) => {
  const { publish, calls, signal } = open()
  await publish({ to: ['a'], data: Buffer.from(data), isParallel: false }, signal)
  expect(calls).toEqual([{ name: 'a', operation: 'create', data: payload, metadata: {}, signal }])
})

it.each([
  { isParallel: false, to: ['a', 'missing', 'b'], published: ['a', 'missing'] },
  { isParallel: true, to: ['missing', 'a', 'b'], published: ['missing', 'a', 'b'] },
])('stops at the first failure unless all go at once: $isParallel', async ({ isParallel, to, published }) => {
  const { publish, calls, signal, log } = open()
  await publish({ to, data: Buffer.from('1'), isParallel }, signal)
  expect(calls.map(({ name }) => name)).toEqual(published)
  // What goes at once is not ended with the event.
  expect(calls.every((call) => call.signal === (isParallel ? undefined : signal))).toBe(true)
  await new Promise((resolve) => setImmediate(resolve))
  expect(log.lines).toEqual([
    {
      level: 'warn',
      message: 'what the application returned for an event could not be published',
      fields: { to: 'missing', reason: 'there is none' },
    },
  ])
})

it('warns of each component by itself, and cuts a long name', async () => {
  const { publish, signal, log } = open()
  for (const name of ['missing-1', 'missing-1', 'missing-2', `missing-${'x'.repeat(999)}`]) {
    await publish({ to: [name], data: Buffer.from('1'), isParallel: false }, signal)
  }
  const names = log.lines.map(({ fields }) => String(fields?.to))
  expect(names.slice(0, 2)).toEqual(['missing-1', 'missing-2'])
  expect(names).toHaveLength(3)
  expect(names[2]?.length).toBeLessThan(310)
})

it('sends nothing more once the time of the event is over', async () => {
  const over = new AbortController()
  const { publish, calls } = open(() => over.abort())
  await publish({ to: ['a', 'b'], data: Buffer.from('1'), isParallel: false }, over.signal)
  expect(calls.map(({ name }) => name)).toEqual(['a'])
})
