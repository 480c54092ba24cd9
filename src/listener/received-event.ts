import type { CloudEvent, ReceivedEvent } from '../core/event.ts'
import type { DeliveryEvent } from './delivery.ts'

/**
 * The end of `handlerTimeout` for all events of one body. A class, since there is one for each delivery; its signal is made when
 * somebody asks for it, since most handlers never look and an AbortController costs as much as the rest of an event.
 */
export class Deadline {
  #controller: AbortController | undefined
  #passed = false

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#passed) this.pass()
    }
    return this.#controller.signal
  }

  /** The time is over. */
  pass(): void {
    this.#passed = true
    this.#controller?.abort(new DOMException('handlerTimeout is over', 'TimeoutError'))
  }
}

/** A {@link ReceivedEvent} whose signal is made on first use. */
export class DeliveredEvent implements ReceivedEvent {
  readonly data: Buffer
  readonly contentType: string
  readonly cloudEvent: CloudEvent
  readonly metadata: Readonly<Record<string, string>>
  readonly #deadline: Deadline

  constructor(event: DeliveryEvent, metadata: Readonly<Record<string, string>>, deadline: Deadline) {
    this.data = event.data
    this.contentType = event.contentType
    this.cloudEvent = event.takeCloudEvent()
    this.metadata = metadata
    this.#deadline = deadline
  }

  get signal(): AbortSignal {
    return this.#deadline.signal
  }
}
