/** Whatever streams, acknowledgements and time do, and in whatever order, each event has one end and the right one. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ReceivedEvent } from '../../../src/core/event.ts'
import type { EventMessage } from '../../../src/sidecar/pluggable/grpc/contract.ts'
import { Readers, type StreamReader } from '../../../src/sidecar/pluggable/readers.ts'
import type { EventResult } from '../../../src/sidecar/shared/metrics.ts'
import { tryWorlds } from '../../support/random-worlds.ts'

const handlerTimeoutMs = 100
const patienceMs = 400

const room = fc.integer({ min: 1, max: 3 })
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('deliver') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('open'), room }) },
  // Any stream answers for any event: its own, another's, one that has an end already, one that is none.
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('acknowledge'), stream: fc.nat(), event: fc.nat(), failed: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('acknowledgeOwn'), event: fc.nat(), failed: fc.boolean() }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('drain'), stream: fc.nat(), room }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('end'), stream: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(1, 50, 99, 100, 300) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('sweep') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('abandon', 'close') }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Stream {
  reader: StreamReader
  /** Messages that it takes before it says no. */
  room: number
  ended: boolean
}

interface Delivered {
  readonly since: number
  messageId: string | undefined
  /** The stream it was sent to. */
  stream: Stream | undefined
  /** What is to become of it, as soon as that is certain. */
  expected: EventResult | undefined
  /** What became of it. */
  outcome: 'handled' | 'not handled' | undefined
}

const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length]

/** Readers, and what a host that does as it likes sees of them. */
function openModel() {
  let time = 0
  let closed = false
  const streams: Stream[] = []
  const events: Delivered[] = []
  const results: { result: EventResult; durationMs: number }[] = []
  const faults: string[] = []
  const check = (holds: boolean, fault: string) => void (holds || faults.push(fault))
  const readers = new Readers({
    handlerTimeoutMs: () => handlerTimeoutMs,
    now: () => time,
    onResult: (result, durationMs) => results.push({ result, durationMs }),
  })

  const openStreams = () => streams.filter(({ ended }) => !ended)
  const pending = () => events.filter(({ expected }) => expected === undefined)
  const waiting = () => pending().filter(({ stream }) => stream === undefined)
  const sent = () => pending().filter(({ stream }) => stream !== undefined)
  const age = (event: Delivered) => time - event.since
  const giveUp = (given: readonly Delivered[]) => {
    for (const event of given) event.expected = 'abandoned'
  }

  function write(stream: Stream, { data, messageId }: EventMessage): boolean {
    const event = events[Number(data.toString())]
    if (!event) throw new Error('an event that nobody delivered')
    check(stream.room > 0, 'a stream that is full was sent an event')
    check(openStreams().at(-1) === stream, 'an event went to a stream that is not the newest')
    check(event.messageId === undefined, 'an event was sent twice')
    check(event.expected === undefined, 'an event was sent that had its end')
    check(age(event) < handlerTimeoutMs, 'an event was sent whose time was over')
    check(!events.some((other) => other.messageId === messageId), 'two events have the same message id')
    check(
      waiting().every((other) => events.indexOf(other) >= events.indexOf(event) || age(other) >= handlerTimeoutMs),
      'an event overtook another',
    )
    event.messageId = messageId
    event.stream = stream
    return --stream.room > 0
  }

  function open(room: number): void {
    // Its first event may come before the call that opens it has returned.
    const stream: Stream = { reader: idleReader, room, ended: false }
    streams.push(stream)
    stream.reader = readers.open({ write: (message) => write(stream, message), end() {} })
  }

  function deliver(): void {
    const event: Delivered = {
      since: time,
      messageId: undefined,
      stream: undefined,
      expected: closed && openStreams().length === 0 ? 'abandoned' : undefined,
      outcome: undefined,
    }
    events.push(event)
    const end = (outcome: 'handled' | 'not handled') => () => {
      event.outcome = outcome
    }
    readers.deliver(received(`${events.length - 1}`)).then(end('handled'), end('not handled'))
  }

  function acknowledge(stream: Stream, event: Delivered | undefined, failed: boolean): void {
    if (event && event.stream === stream && event.expected === undefined) {
      event.expected = failed ? 'failed' : 'acknowledged'
    }
    const responseError = failed ? { message: 'no' } : null
    stream.reader.acknowledge({ messageId: event?.messageId ?? 'unknown', responseError })
  }

  function endStream(stream: Stream): void {
    giveUp(sent().filter((event) => event.stream === stream))
    stream.ended = true
    if (closed && openStreams().length === 0) giveUp(waiting())
    stream.reader.end()
  }

  function take(next: Step): void {
    const stream = 'stream' in next ? pick(streams, next.stream) : undefined
    if (next.kind === 'deliver') deliver()
    else if (next.kind === 'open') open(next.room)
    else if (next.kind === 'acknowledge' && stream) acknowledge(stream, pick(events, next.event), next.failed)
    else if (next.kind === 'acknowledgeOwn') {
      const event = pick(sent(), next.event)
      if (event?.stream) acknowledge(event.stream, event, next.failed)
    } else if (next.kind === 'drain' && stream) {
      stream.room = Math.max(stream.room, next.room)
      stream.reader.drained()
    } else if (next.kind === 'end' && stream) endStream(stream)
    else if (next.kind === 'pass') time += next.ms
    else if (next.kind === 'sweep') {
      giveUp(waiting().filter((event) => age(event) >= handlerTimeoutMs))
      giveUp(sent().filter((event) => age(event) >= patienceMs))
      readers.sweep()
    } else if (next.kind === 'abandon') {
      giveUp(pending())
      readers.abandon('the test says so')
    } else if (next.kind === 'close') {
      closed = true
      if (openStreams().length === 0) giveUp(waiting())
      readers.close()
    }
  }

  /** Everybody has heard of everything that happened. */
  async function rest(): Promise<void> {
    await new Promise((done) => setImmediate(done))
    // Whoever waits is also given up when there is room and their time is over; when that is looked at is not promised.
    giveUp(waiting().filter((event) => event.outcome === 'not handled' && age(event) >= handlerTimeoutMs))
    for (const [index, { expected, outcome }] of events.entries()) {
      const right = expected && (expected === 'acknowledged' ? 'handled' : 'not handled')
      check(outcome === right, `event ${index} is ${outcome}, not ${expected}`)
    }
    const free = (openStreams().at(-1)?.room ?? 0) > 0
    check(!free || waiting().every((event) => age(event) >= handlerTimeoutMs), 'an event waits though there is room')
    expect(faults).toEqual([])
    expect({ count: readers.count, inFlight: readers.inFlight, waiting: readers.waiting }).toEqual({
      count: openStreams().length,
      inFlight: sent().length,
      waiting: waiting().length,
    })
    const ends = events.flatMap(({ expected }) => expected ?? [])
    expect(results.map(({ result }) => result).sort()).toEqual(ends.sort())
  }

  return { streams, events, pending, take, rest, endStream, readers }
}

const idleReader: StreamReader = { acknowledge() {}, drained() {}, end() {} }

const received = (id: string): ReceivedEvent => ({
  data: Buffer.from(id),
  contentType: 'application/cloudevents+json',
  cloudEvent: { specversion: '1.0', id, source: '/s', type: 't', data: undefined },
  metadata: {},
  signal: new AbortController().signal,
})

it('ends each event once: as its own stream says, or given up with that stream or its time', async () => {
  await tryWorlds(fc.array(step, { maxLength: 60, size: 'max' }), { count: 500 }, async (steps) => {
    const model = openModel()
    for (const next of steps) {
      model.take(next)
      await model.rest()
    }
    model.take({ kind: 'close' })
    for (const stream of model.streams) model.endStream(stream)
    await model.rest()
    expect(model.pending()).toEqual([])
  })
})
