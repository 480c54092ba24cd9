import { describe, expect, it } from 'vitest'
import type { ReceivedEvent } from '../../../src/core/event.ts'
import type { EventMessage } from '../../../src/sidecar/pluggable/grpc/contract.ts'
import { createReaders } from '../../../src/sidecar/pluggable/readers.ts'
import type { EventResult } from '../../../src/sidecar/shared/metrics.ts'

const event = (id: string): ReceivedEvent => ({
  data: Buffer.from(id),
  contentType: 'application/cloudevents+json',
  cloudEvent: { specversion: '1.0', id, source: '/s', type: 't', data: undefined },
  metadata: {},
  signal: new AbortController().signal,
})

/** Readers with a clock of their own; `room` is how many events a stream takes before it is full. */
function open(room = Number.POSITIVE_INFINITY) {
  let time = 0
  const results: { result: EventResult; durationMs: number }[] = []
  const readers = createReaders({
    handlerTimeoutMs: () => 100,
    now: () => time,
    onResult: (result, durationMs) => results.push({ result, durationMs }),
  })
  const stream = () => {
    const sent: EventMessage[] = []
    let ended = false
    const reader = readers.open({
      write(message) {
        sent.push(message)
        return sent.length < room
      },
      end() {
        ended = true
      },
    })
    return { ...reader, sent, ended: () => ended }
  }
  return { readers, results, stream, at: (ms: number) => (time = ms) }
}

const outcome = (delivered: Promise<void>) =>
  delivered.then(
    () => 'handled',
    (error: unknown) => String(error),
  )
const ack = (messageId: string) => ({ messageId, responseError: null })

describe('time', () => {
  it('gives up an event that is never acknowledged once four times handlerTimeout are over, so that it can be sent anew', async () => {
    const { readers, stream, results, at } = open()
    const { sent } = stream()
    const delivered = outcome(readers.deliver(event('a')))
    at(399)
    readers.sweep()
    expect(readers.inFlight).toBe(1)
    at(400)
    readers.sweep()
    expect(await delivered).toContain('no acknowledgement came')
    expect(readers.inFlight).toBe(0)
    expect(sent).toHaveLength(1)
    expect(results).toEqual([{ result: 'abandoned', durationMs: 400 }])
  })

  it('gives up an old event though one that came later has a place before it', async () => {
    const { readers, stream, at } = open()
    const { acknowledge, sent } = stream()
    const first = readers.deliver(event('a'))
    const old = outcome(readers.deliver(event('b')))
    acknowledge(ack(sent[0]?.messageId ?? ''))
    await first
    at(300)
    const young = outcome(readers.deliver(event('c')))
    at(400)
    readers.sweep()
    expect(await old).toContain('no acknowledgement came')
    expect(readers.inFlight).toBe(1)
    acknowledge(ack(sent[2]?.messageId ?? ''))
    expect(await young).toBe('handled')
  })

  it('takes an acknowledgement after handlerTimeout, so that a redelivery that joined is settled by it', async () => {
    const { readers, stream, at } = open()
    const { acknowledge, sent } = stream()
    const delivered = outcome(readers.deliver(event('a')))
    at(300)
    readers.sweep()
    acknowledge(ack(sent[0]?.messageId ?? ''))
    expect(await delivered).toBe('handled')
  })

  it.each(['sweep', 'drained'] as const)(
    'never sends what has waited for longer than handlerTimeout (%s)',
    async (how) => {
      const { readers, stream, at } = open(1)
      const { sent, drained } = stream()
      const first = readers.deliver(event('a'))
      const second = outcome(readers.deliver(event('b')))
      expect(readers.waiting).toBe(1)
      at(100)
      if (how === 'sweep') readers.sweep()
      drained()
      expect(await second).toContain('the time limit passed')
      expect(sent).toHaveLength(1)
      readers.abandon('end of the test')
      await outcome(first)
    },
  )
})

describe('a full stream', () => {
  it('holds events back, in order, until there is room', async () => {
    const { readers, stream } = open(1)
    const { sent, drained, acknowledge } = stream()
    const all = ['a', 'b', 'c'].map((id) => outcome(readers.deliver(event(id))))
    expect(sent.map(({ data }) => data.toString())).toEqual(['a'])
    drained()
    drained()
    expect(sent.map(({ data }) => data.toString())).toEqual(['a', 'b', 'c'])
    for (const { messageId } of sent) acknowledge(ack(messageId))
    expect(await Promise.all(all)).toEqual(['handled', 'handled', 'handled'])
  })

  it('leaves what it has not taken to the stream that comes after it', async () => {
    const { readers, stream } = open(1)
    const first = stream()
    const sentBefore = outcome(readers.deliver(event('a')))
    const waited = outcome(readers.deliver(event('b')))
    first.end()
    expect(await sentBefore).toContain('its Read ended before the acknowledgement')
    const second = stream()
    expect(second.sent.map(({ data }) => data.toString())).toEqual(['b'])
    second.acknowledge(ack(second.sent[0]?.messageId ?? ''))
    expect(await waited).toBe('handled')
  })
})

describe('closing', () => {
  it('waits for no other stream', async () => {
    const { readers, stream } = open(1)
    const { end } = stream()
    const [sent, waiting] = [outcome(readers.deliver(event('a'))), outcome(readers.deliver(event('b')))]
    readers.close()
    end()
    expect(await sent).toContain('ended')
    expect(await waiting).toContain('closing')
    expect(await outcome(readers.deliver(event('c')))).toContain('closing')
  })

  it('ends the streams that are open', () => {
    const { readers, stream } = open()
    const streams = [stream(), stream()]
    readers.endStreams()
    expect(streams.map(({ ended }) => ended())).toEqual([true, true])
  })
})

it('ignores an acknowledgement of an event that it does not know, and a second one', async () => {
  const { readers, stream, results } = open()
  const { acknowledge, sent } = stream()
  const delivered = outcome(readers.deliver(event('a')))
  const messageId = sent[0]?.messageId ?? ''
  for (const unknown of ['nonsense', '', '-1', '7', `${messageId}0`, ` ${messageId}`]) acknowledge(ack(unknown))
  acknowledge(ack(messageId))
  acknowledge({ messageId, responseError: { message: 'no' } })
  expect(await delivered).toBe('handled')
  expect(results.map(({ result }) => result)).toEqual(['acknowledged'])
})
