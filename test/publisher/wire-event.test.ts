import { describe, expect, it } from 'vitest'
import { traceOfEvent, traceOfMetadata, withTraceContext } from '../../src/publisher/telemetry.ts'
import { traceparentOf } from '../support/telemetry.ts'
import { cloud, grid } from './sample-events.ts'

const [own, given] = ['a', 'b'].map((digit) => ({ traceparent: traceparentOf(digit) }))

describe('the trace of an event', () => {
  it.each([
    ['its own', 'CloudEventSchemaV1_0', { ...cloud, ...own }, given, { origin: own, takesTrace: false }],
    ['none, and takes one', 'CloudEventSchemaV1_0', cloud, undefined, { takesTrace: true }],
    ['that of the call', 'CloudEventSchemaV1_0', cloud, given, { origin: given, takesTrace: false, ...given }],
    ['none for a broken one', 'CloudEventSchemaV1_0', { ...cloud, traceparent: 'x' }, given, { takesTrace: false }],
    ['none beside a state', 'CloudEventSchemaV1_0', { ...cloud, tracestate: 'a=b' }, given, { takesTrace: false }],
    ['that of the call beside it', 'EventGridSchema', grid, given, { origin: given, takesTrace: false }],
    ['none in the Event Grid schema', 'EventGridSchema', grid, undefined, { takesTrace: false }],
  ] as const)('is %s', (_name, schema, event, ofCall, { traceparent, ...expected }: Expected) => {
    const json = JSON.stringify(event)
    const options = { schema, event, given: ofCall, maxEventBytes: 1_000 }
    const { json: sent, bytes, ...trace } = traceOfEvent({ json, bytes: json.length }, options)
    expect(trace).toEqual(expected)
    expect(JSON.parse(sent)).toEqual({ ...event, ...(traceparent !== undefined && { traceparent }) })
    expect(bytes).toBe(sent.length)
  })
})

interface Expected {
  readonly traceparent?: string
  readonly origin?: object | undefined
  readonly takesTrace: boolean
}

it('stands behind all else of an event, where there is room for it', () => {
  const text = { json: '{"a":"}"} \n', bytes: 11 }
  const traced = `{"a":"}","traceparent":"${traceparentOf('a')}"} \n`
  const added = { traceparent: traceparentOf('a') }
  expect(withTraceContext(text, added, traced.length)).toEqual({ json: traced, bytes: traced.length })
  expect(withTraceContext(text, added, traced.length - 1)).toBe(text)
})

it.each([
  [
    { TraceParent: own?.traceparent, TRACESTATE: 'a=b' },
    { ...own, tracestate: 'a=b' },
  ],
  [{ ...own, other: 'x' }, own],
  [{ traceparent: 5 }, undefined],
  [{ tracestate: 'a=b' }, undefined],
])('of the metadata of a call %j is %j', (metadata, expected) => expect(traceOfMetadata(metadata)).toEqual(expected))
