import { getEventListeners } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { refusal } from '../support/refusal.ts'
import { accessKey, openHeldTopic, openPublisher, openTimedTopic, openTopic } from './open-publisher.ts'
import { type Answer, createGate, event, ids, requestId, startTopic } from './scripted-topic.ts'

describe('a published event', () => {
  it('is posted to the topic as a CloudEvents batch, with the access key and the API version', async () => {
    const { topic, publisher } = await openTopic()
    const receipt = await publisher.publish(event('1'))
    expect(receipt).toEqual({ ids: ['1'], count: 1, requestId })
    expect(topic.requests).toHaveLength(1)
    expect(topic.requests[0]).toMatchObject({
      method: 'POST',
      url: '/api/events?api-version=2018-01-01',
      headers: { 'content-type': 'application/cloudevents-batch+json; charset=utf-8', 'aeg-sas-key': accessKey },
      events: [event('1')],
    })
  })

  it('of the Event Grid schema goes as an array of application/json', async () => {
    const topic = await startTopic()
    const grid = {
      id: '1',
      subject: '',
      eventType: 't',
      eventTime: '2026-03-11T08:00:00.1234567Z',
      metadataVersion: '1',
    }
    await openPublisher(topic.endpoint).publisher.publish(grid)
    expect(topic.requests[0]).toMatchObject({ headers: { 'content-type': 'application/json' }, events: [grid] })
  })

  it.each([
    { given: '', url: '/api/events?api-version=2018-01-01' },
    { given: '/', url: '/api/events?api-version=2018-01-01' },
    { given: '/?x=1', url: '/api/events?x=1&api-version=2018-01-01' },
    { given: '/api/events', url: '/api/events?api-version=2018-01-01' },
    { given: '/other?x=1', url: '/other?x=1&api-version=2018-01-01' },
  ])('goes to $url where topicEndpoint ends in "$given"', async ({ given, url }) => {
    const topic = await startTopic()
    await openPublisher(topic.origin + given).publisher.publish(event('1'))
    expect(topic.requests[0]?.url).toBe(url)
  })

  it('goes to a topic of a namespace in its version of the API, with the key in its own header', async () => {
    const topic = await startTopic()
    await openPublisher(`${topic.origin}/topics/orders:publish`).publisher.publish(event('1'))
    const [{ url, headers, events } = {}] = topic.requests
    expect([url, events]).toEqual(['/topics/orders:publish?api-version=2024-06-01', [event('1')]])
    expect(headers?.authorization).toBe(`SharedAccessKey ${accessKey}`)
    expect(headers).not.toHaveProperty('aeg-sas-key')
  })

  it('made of data has the topic endpoint without its query as source', async () => {
    const topic = await startTopic()
    await openPublisher(`${topic.endpoint}?code=hidden`).publisher.publish({ a: 1 }, { metadata: { type: 'made' } })
    expect(topic.events()).toMatchObject([{ source: topic.endpoint, type: 'made', data: { a: 1 } }])
  })

  const folder = new URL('../../examples/events/', import.meta.url)
  it.each(readdirSync(folder))('of examples/events/%s arrives attribute by attribute', async (file) => {
    const text = readFileSync(new URL(file, folder), 'utf8')
    const { topic, publisher } = await openTopic()
    await publisher.publish(JSON.parse(text))
    await publisher.publish(text)
    await publisher.publish(Buffer.from(text))
    // A text goes as it stands, its line breaks included.
    const sent = [JSON.stringify([JSON.parse(text)]), `[${text}]`, `[${text}]`]
    expect(topic.requests.map(({ body }) => body)).toEqual(sent)
  })

  it('travels over one kept-alive connection', async () => {
    const { topic, publisher } = await openTopic()
    for (const id of ['1', '2', '3']) await publisher.publish(event(id))
    expect(topic.requests).toHaveLength(3)
    expect(topic.connections()).toBe(1)
  })
})

describe('a signal', () => {
  it('that is aborted already: ABORTED, and nothing is sent', async () => {
    const { topic, publisher } = await openTopic()
    expect(await refusal(publisher.publish(event('1'), { signal: AbortSignal.abort() }))).toMatchObject({
      code: 'ABORTED',
    })
    expect(topic.requests).toHaveLength(0)
  })

  it('that ends the wait: ABORTED, with the ids of what was published and of what may have been', async () => {
    const hold = new Promise(() => {})
    const { topic, publisher } = await openTopic(({ index }) => (index === 0 ? { status: 200 } : { hold }), {
      limits: { maxRequestEvents: 2 },
    })
    const controller = new AbortController()
    const events = ['1', '2', '3'].map((id) => event(id))
    const failed = refusal(publisher.publish(events, { signal: controller.signal }))
    await topic.arrived(2)
    controller.abort()
    expect(await failed).toMatchObject({ code: 'ABORTED', details: { published: ['1', '2'], ids: ['3'] } })
  })

  it('is let go of by each call, however it ends', async () => {
    const { publisher } = await openTopic(({ index }) => ({ status: index === 0 ? 200 : 404 }))
    const { signal } = new AbortController()
    await publisher.publish(event('1'), { signal })
    await refusal(publisher.publish(event('2'), { signal }))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})

describe('the bounds of a topic', () => {
  it.each([
    { path: '/api/events', requests: [1_001] },
    { path: '/topics/orders:publish', requests: [1_000, 1] },
  ])('are its own: $path', async ({ path, requests }) => {
    const topic = await startTopic()
    await openPublisher(topic.origin + path).publisher.publish(Array.from({ length: 1_001 }, (_, n) => event(`${n}`)))
    expect(topic.requests.map(({ events }) => events.length)).toEqual(requests)
  })
})

describe('close', () => {
  it('publishes what is queued, then refuses with CLOSED', async () => {
    const { topic, open, publisher, log } = await openHeldTopic()
    const calls = ['1', '2', '3'].map((id) => publisher.publish(event(id)))
    const closed = publisher.close()
    expect(await refusal(publisher.publish(event('4')))).toMatchObject({ code: 'CLOSED' })
    open()
    await closed
    expect(await Promise.all(calls)).toHaveLength(3)
    expect(ids(topic.events())).toEqual(['1', '2', '3'])
    expect(log.lines).toEqual([])
    await publisher.close()
  })

  it('rejects with CLOSED, after its time, what could not be published, and leaves no timer', async () => {
    const gate = createGate()
    const { topic, time, publisher, log } = await openTimedTopic(() => ({ hold: gate.hold }))
    const calls = ['1', '2'].map((id) => refusal(publisher.publish(event(id))))
    await topic.arrived(1)
    const closed = publisher.close()
    time.advance(10_000)
    await closed
    expect(await Promise.all(calls)).toMatchObject([
      { code: 'CLOSED', fix: expect.stringContaining('may have accepted'), details: { ids: ['1'] } },
      { code: 'CLOSED', details: { ids: ['2'] } },
    ])
    const message = 'closed before all events were published'
    expect(log.lines).toMatchObject([{ level: 'warn', message, fields: { calls: 2, events: 2 } }])
    expect(time.pending()).toBe(0)
    gate.open()
  })

  it('ends a back-off that outlasts it', async () => {
    const { topic, time, publisher } = await openTimedTopic(() => ({ status: 503, headers: { 'retry-after': '30' } }))
    const waits = time.waits((delayMs) => delayMs > 30_000 && delayMs < 31_000)
    const call = refusal(publisher.publish(event('1')))
    await waits
    const closed = publisher.close()
    time.advance(10_000)
    await closed
    expect(await call).toMatchObject({ code: 'CLOSED' })
    expect(topic.requests).toHaveLength(1)
  })

  it('ends the kept-alive connections', async () => {
    const { topic, publisher } = await openTopic()
    await publisher.publish(event('1'))
    await publisher.close()
    await topic.disconnected()
    expect(topic.connections()).toBe(1)
  })
})

describe('health', () => {
  it('has the reason of the last failure until the topic takes a request; an event at fault is no reason', async () => {
    const answers: Answer[] = [{ status: 400 }, { status: 401 }, { status: 200 }]
    const { publisher } = await openTopic(({ index }) => answers[index] ?? { status: 200 })
    expect(publisher.lastFailure()).toBeUndefined()
    await refusal(publisher.publish(event('1')))
    expect(publisher.lastFailure()).toBeUndefined()
    await refusal(publisher.publish(event('2')))
    expect(publisher.lastFailure()).toContain('401')
    await publisher.publish(event('3'))
    expect(publisher.lastFailure()).toBeUndefined()
  })
})
