import { describe, expect, it, onTestFinished } from 'vitest'
import type { AcceptedEvent } from '../../src/model/events/accepted-event.ts'
import { eventOf } from '../../src/model/events/event-text.ts'
import type { EventSubscription } from '../../src/model/resources/event-subscription.ts'
import { createEventTrail, fateLimit } from '../../src/records/event-trail.ts'
import { createFigures, percentile, secondsRemembered } from '../../src/records/figures.ts'
import { createMemory } from '../../src/records/memory.ts'
import type { DeliveryRecord } from '../../src/records/record-types.ts'
import { createLiveStream, type LiveStreamOptions } from '../../src/test-interface/live-stream.ts'
import { createShownEvents } from '../../src/test-interface/shown-events.ts'
import { viewEvent, viewEventDetail } from '../../src/test-interface/shown-resources.ts'

const source = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.EventGrid/topics/orders'

const event = (id: string, more: object = {}): AcceptedEvent => ({
  schema: 'CloudEventSchemaV1_0',
  body: eventOf({ specversion: '1.0', id, source: '/shop', type: 'Shop.OrderPlaced', ...more }),
})

const subscription = (name: string): EventSubscription => ({
  id: `${source}/providers/Microsoft.EventGrid/eventSubscriptions/${name}`,
  scope: source,
  name,
  createdAt: 0,
  provisioningState: 'Succeeded',
  properties: {},
})

const tried = (outcome: DeliveryRecord['outcome'], deliveryCount = 0): DeliveryRecord => ({
  at: 0,
  subscriptionId: subscription('billing').id,
  subscriptionName: 'billing',
  url: 'https://shop.example.com/',
  target: 'https://shop.example.com/',
  headers: {},
  body: '',
  eventIds: [],
  eventTypes: [],
  deliveryCount,
  status: outcome === 'delivered' ? 200 : 503,
  outcome,
  durationMs: 5,
})

function openTrail({ most, maxBytes = 64 * 1024 * 1024 }: { readonly most?: number; readonly maxBytes?: number } = {}) {
  const figures = createFigures(() => 0)
  const trail = createEventTrail({ now: () => 0, figures, memory: createMemory(maxBytes) })
  const shown = createShownEvents(trail, most)
  return { figures, trail, shown, ids: () => shown.events().map(({ id }) => id) }
}

describe('the memory of events', () => {
  it('shows the newest, and of the others those that wait the longest', () => {
    const { trail, shown, ids } = openTrail({ most: 2 })
    const [waiting, delivered] = [event('waiting'), event('delivered')]
    trail.accepted(source, [waiting, delivered])
    trail.tried(subscription('billing'), [waiting], tried('retry'))
    trail.tried(subscription('billing'), [delivered], tried('delivered'))
    trail.accepted(source, [event('new')])
    expect(ids()).toEqual(['new', 'waiting'])
    expect(shown.leftOut()).toEqual({ events: 1, failed: 0, waiting: 0 })
    // However many wait, the newest tenth is there.
    trail.tried(subscription('billing'), [event('another')], tried('retry'))
    expect(ids()).toEqual(['another', 'waiting'])
    trail.accepted(source, [event('newest')])
    expect(ids()).toEqual(['newest', 'another'])
    expect(shown.leftOut()).toEqual({ events: 3, failed: 0, waiting: 1 })
    expect(trail.events().map(({ id }) => id)).toEqual(['waiting', 'delivered', 'new', 'another', 'newest'])
  })

  it.each(['delivered', 'dead-lettered', 'dropped', 'forgotten'] as const)(
    'counts what is left out by what becomes of it later: %s',
    (end) => {
      const { trail } = openTrail({ maxBytes: 5_000 })
      const left = event('left', { data: 'x'.repeat(5_000) })
      trail.accepted(source, [left])
      trail.changed(subscription('billing'), left, { state: 'queued' })
      trail.tried(subscription('billing'), [left], tried('retry'))
      expect(trail.leftOut()).toEqual({ events: 1, failed: 0, waiting: 1 })
      if (end === 'forgotten') trail.forgotten(subscription('billing'))
      else trail.changed(subscription('billing'), left, { state: end })
      expect(trail.leftOut()).toEqual({ events: 1, failed: end === 'delivered' ? 0 : 1, waiting: 0 })
    },
  )

  it('finds the failed ones of many that came in one request, and those that failed long ago', () => {
    const { trail, shown, ids } = openTrail({ most: 30 })
    const long = event('long ago')
    trail.accepted(source, [long])
    trail.tried(subscription('billing'), [long], tried('dropped'))
    trail.changed(subscription('billing'), long, { state: 'dropped', reason: 'UndeliverableDueToClientError' })
    const many = Array.from({ length: 3000 }, (_, index) => event(String(index)))
    trail.accepted(source, many)
    for (const one of many) trail.changed(subscription('billing'), one, { state: 'queued' })
    for (const [index, one] of many.entries()) {
      trail.tried(subscription('billing'), [one], tried(index % 300 === 0 ? 'retry' : 'delivered'))
    }
    const found = ids()
    expect(found).toHaveLength(30)
    expect(found).toContain('long ago')
    for (let index = 0; index < 3000; index += 300) expect(found).toContain(String(index))
    expect(shown.leftOut()).toEqual({ events: 3001 - 30, failed: 0, waiting: 0 })
  })

  it('shows the last of more events than there is room for, and counts all', () => {
    const { trail, figures, ids } = openTrail({ most: 2 })
    const events = ['one', 'two', 'three', 'four'].map((id) => event(id))
    trail.accepted(source, events)
    for (const one of events) trail.changed(subscription('billing'), one, { state: 'queued' })
    trail.tried(subscription('billing'), events, tried('delivered'))
    expect(ids()).toEqual(['four', 'three'])
    expect(figures.totals()).toMatchObject({ published: 4, delivered: 4 })
  })

  it('holds no more bytes than it may, and keeps what failed', () => {
    const { trail, ids } = openTrail({ maxBytes: 1_000_000 })
    const data = 'x'.repeat(10_000)
    for (let count = 0; count < 200; count++) {
      const one = event(`${count}`, { data })
      trail.accepted(source, [one])
      trail.tried(subscription('billing'), [one], tried(count === 3 ? 'dropped' : 'delivered'))
      if (count === 3) trail.changed(subscription('billing'), one, { state: 'dropped' })
    }
    expect(ids()).toContain('3')
    expect(ids()[0]).toBe('199')
    // Each is held as parsed data and as the text of that.
    expect(ids().length).toBeGreaterThan(35)
    expect(ids().length).toBeLessThan(50)
    expect(trail.leftOut().events).toBe(200 - ids().length)
  })

  it('follows fifty subscriptions of an event and counts the further ones', () => {
    const { trail } = openTrail()
    const one = event('one')
    trail.accepted(source, [one])
    for (let count = 0; count < fateLimit + 3; count++)
      trail.changed(subscription(`number-${count}`), one, { state: 'queued' })
    trail.tried(subscription(`number-${fateLimit + 1}`), [one], tried('delivered'))
    const [entry] = trail.events().map(viewEvent)
    expect(entry?.fates).toHaveLength(50)
    expect(entry?.further).toBe(3)
  })

  it('keeps the last ten tries of an event', () => {
    const { trail } = openTrail()
    const one = event('one')
    trail.accepted(source, [one])
    for (let count = 0; count < 12; count++) trail.tried(subscription('billing'), [one], tried('retry', count))
    const [fate] = trail.events().map(viewEventDetail)[0]?.fates ?? []
    expect(fate?.tries).toBe(12)
    expect(fate?.attempts.map(({ deliveryCount }) => deliveryCount)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('says of what waits for a subscription that is deleted that it is', () => {
    const { trail } = openTrail()
    const [waiting, delivered] = [event('waiting'), event('delivered')]
    trail.accepted(source, [waiting, delivered])
    trail.tried(subscription('billing'), [waiting], tried('retry'))
    trail.tried(subscription('billing'), [delivered], tried('delivered'))
    trail.forgotten(subscription('billing'))
    expect(trail.events().map(({ fates }) => [...fates.values()].map(({ state }) => state))).toEqual([
      ['forgotten'],
      ['delivered'],
    ])
  })

  it('shortens names that are too long for a line', () => {
    const { trail } = openTrail()
    trail.accepted(source, [event('x'.repeat(5000), { type: 'y'.repeat(5000) })])
    const [line] = trail.events().map(viewEvent)
    expect([line?.id.length, line?.type.length]).toEqual([300, 300])
  })
})

describe('the figures', () => {
  it('count by the second, and forget after two minutes', () => {
    let now = 1_000_000_000
    const figures = createFigures(() => now)
    figures.add('published', 3)
    figures.answered(10)
    figures.answered(30)
    now += 1000
    figures.add('delivered')
    expect(figures.series(2)).toEqual([
      { at: 1_000_000_000, published: 3, delivered: 0, failed: 0, median: 10, p95: 30 },
      { at: 1_000_001_000, published: 0, delivered: 1, failed: 0 },
    ])
    now += secondsRemembered * 1000
    expect(figures.series()).toHaveLength(secondsRemembered)
    expect(figures.series().every(({ published, delivered }) => published + delivered === 0)).toBe(true)
    expect(figures.totals()).toMatchObject({ published: 3, delivered: 1 })
  })

  it.each([
    { values: [7], part: 0.5, expected: 7 },
    { values: [1, 2, 3, 4], part: 0.5, expected: 2 },
    { values: Array.from({ length: 100 }, (_, index) => index + 1), part: 0.95, expected: 95 },
    { values: [1.26], part: 0.95, expected: 1.3 },
  ])('$part of the answers took no longer than $expected ms', ({ values, part, expected }) => {
    expect(percentile(values, part)).toBe(expected)
  })
})

/** A stream over a trail, and browsers that take what they are sent, or don't. */
function openStream(options: LiveStreamOptions = {}) {
  const { trail, shown, figures } = openTrail()
  const model = {
    resources: () => ({
      ...{ topics: [], systemTopics: [], namespaceTopics: [], subscriptions: [], queues: [] },
      more: { topics: 0, subscriptions: 0, queues: 0 },
    }),
    figures: () => ({
      ...{ now: 0, leftOut: shown.leftOut(), series: figures.series() },
      totals: { ...figures.totals(), pending: 0 },
    }),
    refused: () => [],
    limit: shown.limit,
    events: () => shown.events().map(viewEvent),
  }
  const stream = createLiveStream(model, { pauseMs: 1, ...options })
  onTestFinished(() => stream.close())
  shown.listen(stream)
  return { trail, stream, browser: () => joinBrowser(stream) }
}

function joinBrowser(stream: ReturnType<typeof createLiveStream>) {
  const written: string[] = []
  let arrived = () => {}
  let closed = () => {}
  const client = {
    writableLength: 0,
    write(text: string) {
      written.push(...(text.match(/(?<=^event: ).*/gm) ?? []))
      arrived()
      return true
    },
    once(_event: 'close', listener: () => void) {
      closed = listener
    },
    destroy() {
      written.push('(ended)')
      closed()
    },
  }
  stream.join(client)
  return {
    client,
    written,
    /** Resolves when a message of that name has been written. */
    async got(name: string): Promise<void> {
      while (!written.includes(name)) {
        await new Promise<void>((resolve) => {
          arrived = resolve
        })
      }
    },
  }
}

describe('the stream', () => {
  it('ends for a browser that does not read, which gets everything when it connects again', async () => {
    const { trail, stream, browser } = openStream({ maxBacklog: 100 })
    const [slow, quick] = [browser(), browser()]
    slow.client.writableLength = 101
    slow.written.length = 0
    trail.accepted(source, [event('one')])
    await quick.got('events')
    await quick.got('figures')
    expect(slow.written).toEqual(['(ended)'])
    expect(stream.state().stream).toEqual({ clients: 1 })
    expect(browser().written).toEqual(['state'])
  })

  it('sends everything anew after more changes than fit into a message', async () => {
    const { trail, browser } = openStream()
    const one = browser()
    one.written.length = 0
    trail.accepted(
      source,
      Array.from({ length: 101 }, (_, index) => event(`${index}`)),
    )
    await one.got('state')
    expect(one.written.slice(0, 1)).toEqual(['events'])
  })

  it('can be asked for everything while nobody listens', () => {
    const { trail, stream } = openStream()
    trail.accepted(source, [event('one')])
    expect(stream.state()).toMatchObject({ events: [{ id: 'one' }], stream: { clients: 0 } })
  })
})
