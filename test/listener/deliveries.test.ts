import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { RejectEvent } from '../../src/core/event.ts'
import { cloudEventText, eventGridText, openListener, proofLine } from './open-listener.ts'

describe('a delivery', () => {
  it('of one CloudEvent is handed on with its bytes, parsed, and acknowledged with 200', async () => {
    const { deliver, events } = await openListener()
    const body = `{ "specversion":"1.0", "id":"1", "source":"/shop", "type":"T",\n "data": 1.00 , "ext":"\\u00e9" }`
    expect((await deliver(body)).status).toBe(200)
    const [event] = events
    expect(event?.data.toString()).toBe(body)
    expect(event?.contentType).toBe('application/cloudevents+json')
    expect(event?.cloudEvent).toMatchObject({ id: '1', source: '/shop', type: 'T', data: 1, ext: 'é' })
    expect(event?.signal.aborted).toBe(false)
  })

  it('in the Event Grid schema is converted for the reader and keeps its bytes', async () => {
    const { deliver, events } = await openListener()
    const text = eventGridText('1')
    expect((await deliver(`[${text}]`, { 'content-type': 'application/json; charset=utf-8' })).status).toBe(200)
    expect(events[0]?.data.toString()).toBe(text)
    expect(events[0]?.contentType).toBe('application/json')
    expect(events[0]?.cloudEvent).toEqual({
      specversion: '1.0',
      id: '1',
      source: '/subscriptions/1/topics/shop',
      type: 'Shop.Order.Placed',
      subject: 'orders/1',
      time: '2026-11-21T10:00:00.1234567Z',
      data: { id: '1' },
    })
  })

  it('of a batch hands on each event with its exact slice of the body', async () => {
    const { deliver, events } = await openListener()
    const slices = [
      cloudEventText('1'),
      cloudEventText('2', { note: '],[{"\\"' }),
      `{ "specversion" : "1.0","id":"3","source":"ü","type":"t" }`,
    ]
    expect((await deliver(` [ ${slices.join(' ,\r\n\t')} ] `)).status).toBe(200)
    expect(events.map((event) => event.data.toString())).toEqual(slices)
    expect(events.map((event) => event.cloudEvent.id)).toEqual(['1', '2', '3'])
  })

  it.each([
    'application/json',
    'application/cloudevents+json',
    'application/cloudevents-batch+json',
    'Application/Vnd.Shop+JSON; Charset="UTF-8"',
  ])('may come as %s, one event or an array', async (contentType) => {
    const { deliver, events } = await openListener()
    expect((await deliver(cloudEventText('1'), { 'content-type': contentType })).status).toBe(200)
    expect((await deliver(`[${cloudEventText('2')}]`, { 'content-type': contentType })).status).toBe(200)
    expect((await deliver(eventGridText('3'), { 'content-type': contentType })).status).toBe(200)
    expect(events.map((event) => event.cloudEvent.id)).toEqual(['1', '2', '3'])
  })

  it('takes ten delivery attributes of 4,096 bytes', async () => {
    const { deliver, events } = await openListener()
    const attributes = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`attribute${index}`, 'x'.repeat(4_096)]),
    )
    expect((await deliver(cloudEventText('1'), attributes)).status).toBe(200)
    expect(events[0]?.metadata.attribute9).toHaveLength(4_096)
  })
})

describe('odd JSON', () => {
  it('of prototype keys in the Event Grid schema is plain data', async () => {
    const { deliver, events } = await openListener()
    const text = eventGridText('1').replace(
      '"data":{',
      '"__proto__":{"polluted":true},"data":{"__proto__":{"polluted":true},',
    )
    expect((await deliver(`[${text}]`)).status).toBe(200)
    expect(Object.getPrototypeOf(events[0]?.cloudEvent)).toBe(Object.prototype)
    expect(JSON.stringify(events[0]?.cloudEvent.data)).toBe('{"__proto__":{"polluted":true},"id":"1"}')
  })

  it('of duplicate keys counts the last one and keeps the bytes', async () => {
    const { deliver, events } = await openListener()
    const text = `{"specversion":"1.0","id":"first","id":"last","source":"s","type":"t"}`
    expect((await deliver(text)).status).toBe(200)
    expect(events[0]?.cloudEvent.id).toBe('last')
    expect(events[0]?.data.toString()).toBe(text)
  })

  const levels = 500_000
  const deep = cloudEventText('1').replace('{"id":"1"}', '['.repeat(levels) + ']'.repeat(levels))

  it('of data nested half a million levels deep is handed over whole', async () => {
    const { deliver, events } = await openListener()
    expect((await deliver(deep)).status).toBe(200)
    expect(events[0]?.data.toString()).toBe(deep)
    let [inner, depth] = [events[0]?.cloudEvent.data, 0]
    for (; Array.isArray(inner); depth++) inner = inner[0]
    expect(depth).toBe(levels)
  })

  it('whose handler runs out of stack is answered 500', async () => {
    // Of its own: some versions of Node write JSON of any depth.
    const depthOf = (value: unknown): number => (Array.isArray(value) ? 1 + depthOf(value[0]) : 0)
    const { deliver } = await openListener({ handler: ({ cloudEvent }) => void depthOf(cloudEvent.data) })
    expect((await deliver(deep)).status).toBe(500)
  })
})

describe('a body that can never be handled', () => {
  // What else can be wrong is in test/dispatch/events.test.ts and test/listener/reading.test.ts.
  it.each([
    { name: 'truncated JSON', body: cloudEventText('1').slice(0, -4) },
    { name: 'null', body: 'null' },
    { name: 'an object that is no event', body: '{"hello":1}' },
    { name: 'invalid UTF-8', body: Buffer.from(cloudEventText('\xff\xfe'), 'latin1') },
  ])('is answered 400 with the reason: $name', async ({ body }) => {
    const { deliver, events } = await openListener()
    const answer = await deliver(body)
    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(await answer.json()).toMatchObject({ status: 400, title: 'Bad Request', detail: expect.any(String) })
    expect(events).toHaveLength(0)
  })

  it.each([
    ['gzip', 'content-encoding', 'gzip', gzipSync(cloudEventText('1'))],
    ['br', 'content-encoding', 'br', 'x'],
    ['UTF-16', 'content-type', 'application/json; charset=utf-16', Buffer.from(cloudEventText('1'), 'utf16le')],
    ['Latin-1', 'content-type', 'application/json;v=1; charset=iso-8859-1', 'x'],
    ['text/plain', 'content-type', 'text/plain', cloudEventText('1')],
    ['a form', 'content-type', 'application/x-www-form-urlencoded', 'a=1'],
    ['a media type that only contains json', 'content-type', 'application/jsonp', cloudEventText('1')],
    [
      'a media type that a proxy doubled',
      'content-type',
      'application/x+json, application/x+json',
      cloudEventText('1'),
    ],
  ])('is answered 415, and the log has what it was: %s', async (_name, header, value, body) => {
    const { deliver, events, log } = await openListener()
    expect((await deliver(body, { [header]: value })).status).toBe(415)
    expect(events).toHaveLength(0)
    const { fields = {} } = log.lines.find(({ message }) => message.startsWith('refused a request')) ?? {}
    expect(Object.values(fields)).toEqual(expect.arrayContaining([415, value]))
  })

  it('is answered 415 without a media type', async () => {
    const { raw } = await openListener()
    const head = `POST /api/events HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${proofLine}\r\ncontent-length: 2\r\n\r\n{}`
    expect(await raw(head)).toMatch(/^HTTP\/1\.1 415 /)
  })

  it('says identity as a content encoding like none', async () => {
    const { deliver } = await openListener()
    expect((await deliver(cloudEventText('1'), { 'content-encoding': 'identity' })).status).toBe(200)
  })
})

describe('a body over maxRequestBytes', () => {
  const input = { maxRequestBytes: 2_048 }

  it('is answered 413, and one of exactly that size is taken', async () => {
    const { deliver, events } = await openListener({ input })
    const fitting = cloudEventText('1', { pad: '' })
    const exact = cloudEventText('1', { pad: 'x'.repeat(2_048 - fitting.length) })
    expect((await deliver(exact)).status).toBe(200)
    expect((await deliver(`${exact} `)).status).toBe(413)
    expect(events).toHaveLength(1)
  })

  it('is refused by its Content-Length before a byte of it has come', async () => {
    const { raw } = await openListener({ input })
    expect(await raw(head('content-length: 100000000'))).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\nconnection: close\r\n/)
  })

  it('is counted while it comes in chunks', async () => {
    const { raw, events } = await openListener({ input })
    const chunk = `400\r\n${'x'.repeat(1_024)}\r\n`
    expect(await raw(`${head('transfer-encoding: chunked')}${chunk.repeat(3)}`)).toMatch(
      /^HTTP\/1\.1 413 [\s\S]*\r\nconnection: close\r\n/,
    )
    expect(events).toHaveLength(0)
  })
})

/** The head of a delivery with proof. */
const head = (length: string) =>
  'POST /api/events HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n' +
  `aeg-subscription-name: ORDERS\r\n${proofLine}\r\n${length}\r\n\r\n`

describe('the connection', () => {
  it('that is cut off within a body brings no event and gets no answer that would drop it', async () => {
    const { raw, events, deliver } = await openListener()
    expect(await raw(`${head('content-length: 500')}{"specversion"`, { halfClose: true })).toBe('')
    expect(events).toHaveLength(0)
    expect((await deliver(cloudEventText('1'))).status).toBe(200)
  })

  it('that waits for leave to send the body gets it', async () => {
    const { raw, events } = await openListener()
    const text = cloudEventText('1')
    const answer = await raw(
      `${head(`expect: 100-continue\r\nconnection: close\r\ncontent-length: ${text.length}`)}${text}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    expect(events).toHaveLength(1)
  })

  it('of HTTP/1.0, which some proxies speak to what is behind them, gets the same answers', async () => {
    const { raw, events } = await openListener()
    const text = cloudEventText('1')
    const delivery = `${head(`content-length: ${text.length}`)}${text}`
    const kept = delivery.replace('\r\n', '\r\nconnection: keep-alive\r\n')
    const old = (request: string) => raw(request.replaceAll('HTTP/1.1', 'HTTP/1.0').replaceAll('host: x\r\n', ''))
    // Each answer ends the connection, but one that was asked to keep it.
    expect(await old(delivery)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n\r\n$/)
    expect((await old(`${kept}${delivery}`)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2)
    expect(events).toHaveLength(3)
    const origin = 'webhook-request-origin: eventgrid.azure.net'
    expect(await old(`OPTIONS /api/events HTTP/1.1\r\n${origin}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 200 [\s\S]*allowed-origin: /,
    )
    expect(await old('POST /api/events HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 401 /)
  })

  it.each([
    { name: 'what is not HTTP', bytes: 'hello\r\n\r\n' },
    { name: 'a TLS handshake', bytes: Buffer.from('16030100c8010000c40303', 'hex') },
    { name: 'HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
    { name: 'the PROXY protocol', bytes: 'PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n' },
  ])('with $name is closed without an answer, and a line of the log', async ({ bytes }) => {
    const { raw, log } = await openListener()
    expect(await raw(bytes)).toBe('')
    expect(log.lines).toMatchObject([{ level: 'info', message: expect.stringContaining('no request of HTTP/1.1') }])
  })
})

describe('the answer to a batch', () => {
  const handler = (event: { cloudEvent: { id: string } }) => {
    if (event.cloudEvent.id.startsWith('reject')) throw new RejectEvent('never')
    if (event.cloudEvent.id.startsWith('fail')) throw new Error('marked internals')
  }

  it.each([
    { ids: ['good', 'good2'], invalid: '', status: 200 },
    { ids: ['good'], invalid: ',{"not":"an event"}', status: 400 },
    { ids: ['reject'], invalid: '', status: 400 },
    { ids: ['good', 'reject'], invalid: '', status: 400 },
    { ids: ['good', 'reject', 'fail'], invalid: ',7', status: 500 },
    { ids: ['fail'], invalid: '', status: 500 },
  ])('of $ids$invalid is $status', async ({ ids, invalid, status }) => {
    const { deliver, events } = await openListener({ handler })
    const answer = await deliver(`[${ids.map((id) => cloudEventText(id)).join()}${invalid}]`)
    expect(answer.status).toBe(status)
    expect(await answer.text()).not.toContain('marked')
    expect(events.map((event) => event.cloudEvent.id)).toEqual(ids)
  })

  it('that is redelivered runs only what failed: one good, one bad, one rejected, one failing event', async () => {
    let healed = false
    const { deliver, events } = await openListener({ handler: (event) => (healed ? undefined : handler(event)) })
    const body = `[${['good', 'reject', 'fail'].map((id) => cloudEventText(id)).join()},{"bad":1}]`
    expect((await deliver(body)).status).toBe(500)
    healed = true
    expect((await deliver(body, { 'aeg-delivery-count': '1' })).status).toBe(400)
    expect(events.map((event) => event.cloudEvent.id)).toEqual(['good', 'reject', 'fail', 'fail'])
  })
})
