import { describe, expect, it } from 'vitest'
import { type DeliveryMember, readDelivery, readParsedEvent } from '../../src/dispatch/events.ts'

const event = (id: string) => ({ specversion: '1.0', id, source: 's', type: 't' })
const text = (id: string) => JSON.stringify(event(id))
const mark = [0xef, 0xbb, 0xbf]
const bytes = (...parts: (string | readonly number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

const signal = AbortSignal.abort()
const received = (member: DeliveryMember) => ('invalid' in member ? member : member.receive({}, signal))
function read(body: Buffer) {
  const reading = readDelivery(body)
  return 'problem' in reading ? reading : reading.members.map(received)
}

describe('readDelivery', () => {
  it.each([
    { name: 'an event', body: bytes(text('1')), members: [text('1')] },
    { name: 'an event between blanks', body: bytes(` ${text('1')}\n`), members: [text('1')] },
    { name: 'an event with a blank before it', body: bytes(` ${text('1')}`), members: [text('1')] },
    { name: 'an event with a blank behind it', body: bytes(`${text('1')} `), members: [text('1')] },
    { name: 'a byte order mark', body: bytes(mark, text('1')), members: [text('1')] },
    { name: 'events', body: bytes(`[${text('1')}, ${text('2')}]`), members: [text('1'), text('2')] },
    { name: 'a byte order mark and events', body: bytes(mark, `[${text('1')}]`), members: [text('1')] },
    { name: 'the character that stands for no text', body: bytes(text('\ufffd')), members: [text('\ufffd')] },
  ])('reads $name, each with its own bytes', ({ body, members }) => {
    expect(read(body)).toEqual(
      members.map((one) => ({
        data: Buffer.from(one),
        contentType: 'application/cloudevents+json',
        cloudEvent: JSON.parse(one),
        metadata: {},
        signal,
      })),
    )
  })

  it.each([
    { name: 'bytes that are no UTF-8', body: bytes('{"id":"', [0xff], '"}'), problem: /UTF-8/ },
    { name: 'the first byte of a mark alone', body: bytes([0xef, 0x20, 0x20], text('1')), problem: /UTF-8/ },
    { name: 'two bytes of a mark', body: bytes([0xef, 0xbb, 0x20], text('1')), problem: /UTF-8/ },
    { name: 'the end of a mark', body: bytes([0x20, 0xbb, 0xbf], text('1')), problem: /UTF-8/ },
    { name: 'the first and the last byte of a mark', body: bytes([0xef, 0x20, 0xbf], text('1')), problem: /UTF-8/ },
    { name: 'no JSON', body: bytes('{'), problem: /JSON/ },
    { name: 'nothing', body: bytes(''), problem: /JSON/ },
    { name: 'a number', body: bytes('7'), problem: /neither/ },
    { name: 'an empty array', body: bytes('[]'), problem: /no event/ },
    { name: 'more than 5,000 events', body: bytes(`[${'0,'.repeat(5_000)}0]`), problem: /more than 5000/ },
  ])('says why a retry of $name cannot succeed', ({ body, problem }) => {
    expect(read(body)).toEqual({ problem: expect.stringMatching(problem) })
  })

  it('takes 5,000 events', () => expect(read(bytes(`[${'0,'.repeat(4_999)}0]`))).toHaveLength(5_000))
})

describe('an event of a delivery', () => {
  const one = () => {
    const reading = readDelivery(bytes(`[${text('1')},${text('2')}]`))
    const member = 'members' in reading ? reading.members[0] : undefined
    if (!member || 'invalid' in member) throw new Error('no event')
    return member
  }

  it('is the same when its bytes are', () => {
    expect(one().digest).toBe(one().digest)
    expect(received(one())).not.toBe(received(one()))
    const reading = readDelivery(bytes(`[${text('1')},${text('2')}]`))
    const digests =
      'members' in reading ? reading.members.map((member) => ('digest' in member ? member.digest : '')) : []
    expect(new Set(digests).size).toBe(2)
  })

  it('is handed over as it was parsed, and from its bytes once that was given away or forgotten', () => {
    const parsed = event('1')
    const [given, forgotten] = [parsed, parsed].map((value) => readParsedEvent(bytes(text('1')), value))
    if (!given || 'invalid' in given || !forgotten || 'invalid' in forgotten) throw new Error('no event')
    expect(given.receive({}, signal).cloudEvent).toBe(parsed)
    forgotten.forgetCloudEvent()
    for (const { cloudEvent } of [given.receive({}, signal), forgotten.receive({}, signal)]) {
      expect(cloudEvent).not.toBe(parsed)
      expect(cloudEvent).toEqual(parsed)
    }
  })

  it('hands over a copy of its bytes, which the handler may change', () => {
    const event = one()
    event.receive({}, signal).data.fill(0)
    expect(event.receive({}, signal).cloudEvent.id).toBe('1')
  })

  it.each([
    { name: 'none', event: {}, data: undefined },
    { name: 'data', event: { data: { a: 1 } }, data: { a: 1 } },
    { name: 'false as data', event: { data: false }, data: false },
    { name: 'null as data', event: { data: null }, data: null },
    { name: 'data_base64', event: { data_base64: 'aGk=' }, data: Buffer.from('hi') },
    { name: 'data_base64 and null as data', event: { data_base64: 'aGk=', data: null }, data: Buffer.from('hi') },
    { name: 'data beside data_base64', event: { data_base64: 'aGk=', data: 0 }, data: 0 },
  ])('has the data of an event with $name', ({ event: parts, data }) => {
    const body = JSON.stringify({ ...event('1'), ...parts })
    const member = readParsedEvent(bytes(body), JSON.parse(body))
    if ('invalid' in member) throw new Error(member.invalid)
    expect(member.receive({}, signal).cloudEvent.data).toEqual(data)
  })
})
