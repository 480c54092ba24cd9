/** When clients of the stream hear of a change: four times a second; who does not read is ended, and begins anew. */
import type { TrailedEvent } from '../records/event-fate.ts'
import type { LiveView } from './live-view.ts'
import { viewEvent } from './shown-resources.ts'

/** The open HTTP response of a browser that listens. */
export interface StreamClient {
  write(text: string): boolean
  readonly writableLength: number
  destroy(): unknown
  once(event: 'close', listener: () => void): unknown
}

export interface LiveStreamOptions {
  /** A browser with more unsent bytes than this is ended: it connects again, and gets the full state. @default 1_048_576 */
  readonly maxBacklog?: number
  /** Pause between two messages, in milliseconds. @default 250 */
  readonly pauseMs?: number
}

const maxClients = 16
/** The maximum number of events in one message: the newest. If more change, the full state comes with the next figures. */
const eventsPerMessage = 100
/** The maximum number of keys in one message. */
const keysPerMessage = 1000
/** Messages between two of the figures' own. */
const messagesPerTick = 4

/** Sends changes to browsers, by Server-Sent Events. Its timer uses the machine's clock and runs only while a browser listens. */
export function createLiveStream(
  model: Omit<LiveView, 'subscriptions' | 'search' | 'listen'>,
  options: LiveStreamOptions = {},
) {
  const { maxBacklog = 1_048_576, pauseMs = 250 } = options
  const clients = new Set<StreamClient>()
  let dirty = new Set<TrailedEvent>()
  /** Keys of events that made room for others. */
  let gone = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  let beats = 0
  /** The emulator's time of the last figures sent: a manual clock may have advanced far since. */
  let lastFiguresAt: number | undefined
  /** More events changed than fit into a message. */
  let incomplete = false
  /** What was sent last of the parts that are sent only when they change. */
  let shown = shownParts()

  function shownParts() {
    return { resources: JSON.stringify(model.resources()), refused: JSON.stringify(model.refused()) }
  }
  const message = (name: string, value: object) => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`
  const figures = (since?: number) => ({ ...model.figures(since), stream: { clients: clients.size } })
  const state = () => ({
    ...model.resources(),
    ...figures(),
    refused: model.refused(),
    events: model.events(),
    limit: model.limit,
  })

  function send(text: string): void {
    for (const client of clients) {
      if (client.writableLength > maxBacklog) client.destroy()
      else client.write(text)
    }
  }

  function sendGone(): void {
    if (gone.size === 0) return
    if (gone.size > keysPerMessage) incomplete = true
    else send(message('gone', [...gone]))
    gone = new Set()
  }

  function sendEvents(): void {
    if (dirty.size === 0) return
    const changed = [...dirty].sort((one, other) => other.key - one.key)
    send(message('events', changed.slice(0, eventsPerMessage).map(viewEvent)))
    incomplete ||= changed.length > eventsPerMessage
    dirty = new Set()
  }

  function beat(): void {
    // First: each of these makes room.
    sendGone()
    sendEvents()
    const parts = shownParts()
    for (const name of ['resources', 'refused'] as const) {
      if (parts[name] !== shown[name]) send(`event: ${name}\ndata: ${parts[name]}\n\n`)
    }
    shown = parts
    if (++beats % messagesPerTick !== 0) return
    const latest = figures(lastFiguresAt)
    lastFiguresAt = latest.now
    if (incomplete) {
      incomplete = false
      send(message('state', state()))
    } else {
      send(message('figures', latest))
    }
  }

  function leave(client: StreamClient): void {
    clients.delete(client)
    if (clients.size === 0) rest()
  }

  function rest(): void {
    clearInterval(timer)
    timer = undefined
    lastFiguresAt = undefined
    dirty.clear()
    gone.clear()
    incomplete = false
  }

  return {
    /** Adds a browser and sends it the full state; false if there are too many already. */
    join(client: StreamClient): boolean {
      if (clients.size >= maxClients) return false
      if (clients.size === 0) shown = shownParts()
      clients.add(client)
      client.once('close', () => leave(client))
      timer ??= setInterval(beat, pauseMs).unref()
      client.write(`retry: 1000\n\n${message('state', state())}`)
      return true
    },
    /** An event is new or has changed. */
    changed(event: TrailedEvent): void {
      if (clients.size === 0) return
      gone.delete(event.key)
      dirty.add(event)
    },
    /** An event made room for another. */
    gone(event: TrailedEvent): void {
      if (clients.size === 0) return
      dirty.delete(event)
      gone.add(event.key)
    },
    /** All events are forgotten: the full state comes with the next figures. */
    cleared(): void {
      dirty.clear()
      gone.clear()
      incomplete = clients.size > 0
    },
    /** The full state, which a browser gets first. */
    state,
    close(): void {
      rest()
      clients.clear()
    },
  }
}
