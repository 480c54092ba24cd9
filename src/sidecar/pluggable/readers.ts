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
  readonly message: EventMessage
  readonly since: number
  /** Aborts when `handlerTimeout` is over: then the delivery has its answer. */
  readonly signal: AbortSignal
  resolve(): void
  reject(error: Error): void
}

/** By message id, oldest first. */
type Entries = Map<string, Entry>

interface OpenReader extends StreamReader {
  readonly sent: Entries
  readonly stream: ReadStream
  full: boolean
}

/**
 * An event without an acknowledgement is given up after this many times the time limit. Until then a redelivery joins it instead of
 * reaching the application twice.
 */
const maxTimeLimits = 4

const tooLate = 'the time limit passed before the stream had room'
const isClosing = 'the component is closing'

/**
 * The open `Read`s of one component. The newest gets the events; an older one still takes its acknowledgements, and takes
 * over when the newer ends.
 */
export class Readers {
  readonly #options: ReadersOptions
  readonly #open: OpenReader[] = []
  readonly #waiting: Entries = new Map()
  #lastSerial = 0
  #closed = false

  constructor(options: ReadersOptions) {
    this.#options = options
  }

  open(stream: ReadStream): StreamReader {
    const reader: OpenReader = {
      sent: new Map(),
      stream,
      full: false,
      acknowledge: (ack) => this.#acknowledge(reader, ack),
      drained: () => {
        reader.full = false
        if (this.#open.at(-1) === reader) this.#pump()
      },
      end: () => this.#end(reader),
    }
    this.#open.push(reader)
    this.#pump()
    return reader
  }

  /**
   * Resolves when the application has handled the event; rejects when it has not. Of the event only the parts of its message are kept: the
   * parsed event may be thirty times as large.
   */
  deliver(event: Pick<ReceivedEvent, 'data' | 'metadata' | 'contentType' | 'signal'>): Promise<void> {
    const { data, metadata, contentType, signal } = event
    return new Promise((resolve, reject) => {
      const messageId = String(++this.#lastSerial)
      const message = { data, metadata, contentType, messageId }
      const entry: Entry = { message, since: this.#now(), signal, resolve, reject }
      const reader = this.#open.at(-1)
      if (reader && !reader.full && this.#waiting.size === 0) this.#send(reader, entry)
      else if (this.#closed && !reader) this.#settle(entry, 'abandoned', isClosing)
      else this.#waiting.set(messageId, entry)
    })
  }

  /** Gives up events that have waited too long; to be called about once a second. */
  sweep(): void {
    const limitMs = this.#options.handlerTimeoutMs()
    this.#giveUp(this.#waiting, tooLate, limitMs)
    for (const { sent } of this.#open) this.#giveUp(sent, 'no acknowledgement came', maxTimeLimits * limitMs)
  }

  /** Gives up all events without an acknowledgement; Event Grid redelivers them. */
  abandon(why: string): void {
    this.#giveUp(this.#waiting, why)
    for (const { sent } of this.#open) this.#giveUp(sent, why)
  }

  /** From now on no event waits for another `Read`. */
  close(): void {
    this.#closed = true
    if (this.#open.length === 0) this.#giveUp(this.#waiting, isClosing)
  }

  endStreams(): void {
    for (const { stream } of [...this.#open]) stream.end()
  }

  get count(): number {
    return this.#open.length
  }

  /** Sent and not acknowledged. */
  get inFlight(): number {
    return this.#open.reduce((sum, { sent }) => sum + sent.size, 0)
  }

  /** Until the stream has room. */
  get waiting(): number {
    return this.#waiting.size
  }

  #pump(): void {
    const reader = this.#open.at(-1)
    if (!reader) return
    this.#giveUp(this.#waiting, tooLate, this.#options.handlerTimeoutMs())
    for (const [id, entry] of this.#waiting) {
      if (reader.full) return
      this.#waiting.delete(id)
      this.#send(reader, entry)
    }
  }

  #send(reader: OpenReader, entry: Entry): void {
    reader.sent.set(entry.message.messageId, entry)
    if (!reader.stream.write(entry.message)) reader.full = true
  }

  #acknowledge({ sent }: OpenReader, { messageId, responseError }: AckMessage): void {
    const entry = sent.get(messageId)
    // The acknowledgement of an event that was given up.
    if (!entry) return
    sent.delete(messageId)
    if (responseError) this.#settle(entry, 'failed', `the application did not handle it: ${responseError.message}`)
    else this.#settle(entry, 'acknowledged')
  }

  #end(reader: OpenReader): void {
    const index = this.#open.indexOf(reader)
    if (index < 0) return
    this.#open.splice(index, 1)
    this.#giveUp(reader.sent, 'its Read ended before the acknowledgement')
    if (this.#closed && this.#open.length === 0) this.#giveUp(this.#waiting, isClosing)
    this.#pump()
  }

  #giveUp(entries: Entries, why: string, olderThanMs = Number.NEGATIVE_INFINITY): void {
    for (const [id, entry] of entries) {
      if (this.#now() - entry.since < olderThanMs) return
      entries.delete(id)
      this.#settle(entry, 'abandoned', why)
    }
  }

  #settle(entry: Entry, result: EventResult, why = ''): void {
    this.#options.onResult?.(entry.signal.aborted ? 'abandoned' : result, this.#now() - entry.since)
    if (result === 'acknowledged') entry.resolve()
    else entry.reject(new Error(why))
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now()
  }
}
