import { describe, expect, it } from 'vitest'
import { toEvents, withTraceContext } from '../../src/publisher/events.ts'
import { traceparentOf } from '../support/telemetry.ts'
import { cloud, context, grid } from './sample-events.ts'

const [own, given] = ['a', 'b'].map((digit) => ({ traceparent: traceparentOf(digit) }))

describe('the trace of an event', () => {
  it.each([
    ['its own', { ...cloud, ...own }, given, { origin: own, takesTrace: false }],
    ['none, and takes one', cloud, undefined, { takesTrace: true }],
    ['that of the call', cloud, given, { origin: given, takesTrace: false, ...given }],
    [
      'that of the call, not added to a broken one',
      { ...cloud, traceparent: 'x' },
      given,
      { origin: given, takesTrace: false },
    ],
    [
      'that of the call, not added to a state',
      { ...cloud, tracestate: 'a=b' },
      given,
      { origin: given, takesTrace: false },
    ],
    ['that of the call beside it', grid, given, { origin: given, takesTrace: false }],
    ['none in the Event Grid schema', grid, undefined, { takesTrace: false }],
    ['none of a call with a state alone', cloud, { tracestate: 'a=b' }, { takesTrace: true }],
    [
      'that of the call in any case',
      cloud,
      { TraceParent: given?.traceparent, TRACESTATE: '' },
      { origin: given, takesTrace: false, ...given },
    ],
  ] as const)('is %s', (_name, event, ofCall, { traceparent, ...expected }: Expected) => {
    const metadata = Object.fromEntries(Object.entries(ofCall ?? {}).map(([name, value]) => [name, String(value)]))
    const [{ json, bytes, id, ...trace } = {}] = toEvents(event, metadata, context).events
    expect(id).toBe(event.id)
    expect(trace).toEqual(expected)
    expect(JSON.parse(json ?? '')).toEqual({ ...event, ...(traceparent !== undefined && { traceparent }) })
    expect(bytes).toBe(json?.length)
  })
})

interface Expected {
  readonly traceparent?: string
  readonly origin?: object | undefined
  readonly takesTrace: boolean
}

it('stands behind all else of an event, where there is room for it', () => {
  const event = { id: '1', json: '{"a":"}"} \n', bytes: 11, origin: undefined, takesTrace: true }
  const json = `{"a":"}","traceparent":"${traceparentOf('a')}"} \n`
  const added = { traceparent: traceparentOf('a') }
  expect(withTraceContext(event, added, json.length)).toEqual({ ...event, json, bytes: json.length })
  expect(withTraceContext(event, added, json.length - 1)).toBe(event)
})
