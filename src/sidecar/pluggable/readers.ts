/** Events that are sent over `Read`, and the acknowledgements that come back. */
import type { ReceivedEvent } from '../../core/event.ts'
import type { EventResult } from '../shared/metrics.ts'
import type { AckMessage, EventMessage } from './grpc/contract.ts'

export interface ReadersOptions {
  readonly handlerTimeoutMs: () => number
  /** Called once for each event, with the time since its delivery. */
  readonly onResult?: (result: EventResult, durationMs: number) => void
  readonly now?: () => number
}

export interface ReadStream {
  /** Sends an event. False: the stream is full until {@link StreamReader.drained}. */
  write(message: EventMessage): boolean
  end(): void
}

/** One open `Read`, seen from its call. */
export interface StreamReader {
  acknowledge(ack: AckMessage): void
  drained(): void
  /** The stream has ended: no more acknowledgements come. */
  end(): void
}

/** An event that waits or was sent. */
interface Entry {
  readonly event: SentEvent
  readonly since: number
  resolve(): void
  reject(error: Error): void
}

interface OpenReader extends StreamReader {
  /** By message id. */
  readonly sent: Map<string, Entry>
  readonly stream: ReadStream
  full: boolean
}

/**
 * An event without an acknowledgement is given up after this many times the time limit. Until then a redelivery joins it instead of
 * reaching the application twice.
 */
const maxTimeLimits = 4

/**
 * The open `Read`s of one component. The newest gets the events; an older one still takes its acknowledgements, and takes
 * over when the newer ends.
 */
export function createReaders(options: ReadersOptions) {
  const { handlerTimeoutMs, onResult = () => {}, now = () => performance.now() } = options
  const open: OpenReader[] = []
  /** Oldest first. */
  const waiting = new Set<Entry>()
  let lastSerial = 0
  let closed = false

  function settle(entry: Entry, result: EventResult, why = ''): void {
    onResult(result, now() - entry.since)
    if (result === 'acknowledged') entry.resolve()
    else entry.reject(new Error(why))
  }

  function giveUpWaiting(why: string, olderThanMs = Number.NEGATIVE_INFINITY): void {
    for (const entry of waiting) {
      if (now() - entry.since < olderThanMs) return
      waiting.delete(entry)
      settle(entry, 'abandoned', why)
    }
  }

  function giveUpSent(sent: OpenReader['sent'], why: string, olderThanMs = Number.NEGATIVE_INFINITY): void {
    for (const [id, entry] of sent) {
      if (now() - entry.since < olderThanMs) continue
      sent.delete(id)
      settle(entry, 'abandoned', why)
    }
  }

  function pump(): void {
    const reader = open.at(-1)
    if (!reader) return
    giveUpWaiting('the time limit passed before the stream had room', handlerTimeoutMs())
    for (const entry of waiting) {
      if (reader.full) return
      waiting.delete(entry)
      send(reader, entry)
    }
  }

  function send(reader: OpenReader, entry: Entry): void {
    const messageId = String(++lastSerial)
    reader.sent.set(messageId, entry)
    if (!reader.stream.write({ ...entry.event, messageId })) reader.full = true
  }

  function openReader(stream: ReadStream): OpenReader {
    const reader: OpenReader = {
      sent: new Map(),
      stream,
      full: false,
      acknowledge({ messageId, responseError }) {
        const entry = reader.sent.get(messageId)
        // The acknowledgement of an event that was given up.
        if (!entry) return
        reader.sent.delete(messageId)
        if (responseError) settle(entry, 'failed', `the application did not handle it: ${responseError.message}`)
        else settle(entry, 'acknowledged')
      },
      drained() {
        reader.full = false
        if (open.at(-1) === reader) pump()
      },
      end() {
        const index = open.indexOf(reader)
        if (index < 0) return
        open.splice(index, 1)
        giveUpSent(reader.sent, 'its Read ended before the acknowledgement')
        if (closed && open.length === 0) giveUpWaiting('the component is closing')
        pump()
      },
    }
    return reader
  }

  return {
    open(stream: ReadStream): StreamReader {
      const reader = openReader(stream)
      open.push(reader)
      pump()
      return reader
    },
    /** Resolves when the application has handled the event; rejects when it has not. */
    deliver({ data, metadata, contentType }: SentEvent): Promise<void> {
      return new Promise((resolve, reject) => {
        const event = { data, metadata, contentType }
        const entry: Entry = { event, since: now(), resolve, reject }
        const reader = open.at(-1)
        if (reader && !reader.full && waiting.size === 0) send(reader, entry)
        else if (closed && !reader) settle(entry, 'abandoned', 'the component is closing')
        else waiting.add(entry)
      })
    },
    /** Gives up events that have waited too long; to be called about once a second. */
    sweep() {
      giveUpWaiting('the time limit passed before the stream had room', handlerTimeoutMs())
      for (const { sent } of open) giveUpSent(sent, 'no acknowledgement came', maxTimeLimits * handlerTimeoutMs())
    },
    /** Gives up all events without an acknowledgement; Event Grid redelivers them. */
    abandon(why: string) {
      giveUpWaiting(why)
      for (const { sent } of open) giveUpSent(sent, why)
    },
    /** From now on no event waits for another `Read`. */
    close() {
      closed = true
      if (open.length === 0) giveUpWaiting('the component is closing')
    },
    endStreams() {
      for (const { stream } of [...open]) stream.end()
    },
    get count() {
      return open.length
    },
    /** Events sent and not acknowledged. */
    get inFlight() {
      return open.reduce((sum, { sent }) => sum + sent.size, 0)
    },
    /** Events that wait until the stream has room. */
    get waiting() {
      return waiting.size
    },
  }
}

/** The parts of an event that a message needs. The parsed event may be thirty times as large. */
type SentEvent = Pick<ReceivedEvent, 'data' | 'metadata' | 'contentType'>
