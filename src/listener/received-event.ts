import type { CloudEvent, ReceivedEvent } from '../event.ts'
import type { DeliveryEvent } from './delivery.ts'

/** The end of `handlerTimeout` for all events of one body. */
export interface Deadline {
  /** Made when somebody asks for it: most handlers never look, and an AbortController costs as much as the rest of an event. */
  readonly signal: AbortSignal
  /** The time is over. */
  pass(): void
}

export function createDeadline(): Deadline {
  let controller: AbortController | undefined
  let passed = false
  const abort = () => controller?.abort(new DOMException('handlerTimeout is over', 'TimeoutError'))
  return {
    get signal() {
      if (!controller) {
        controller = new AbortController()
        if (passed) abort()
      }
      return controller.signal
    },
    pass() {
      passed = true
      abort()
    },
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
    this.cloudEvent = event.cloudEvent
    this.metadata = metadata
    this.#deadline = deadline
  }

  get signal(): AbortSignal {
    return this.#deadline.signal
  }
}
