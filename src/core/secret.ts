/** A text that prints as `(redacted)` in logs, JSON and inspect. */
import { inspect } from 'node:util'

const redacted = '(redacted)'

/**
 * A text that must never be printed: string conversion, JSON and `util.inspect` all give `(redacted)`.
 * Only {@link Secret.reveal} gives the text.
 */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text. Only for the call that needs it; never keep or log what it returns. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return redacted
  }

  toJSON(): string {
    return redacted
  }

  [inspect.custom](): string {
    return redacted
  }
}
