/** A text that prints as `(redacted)` in logs, JSON and inspect. */
import { inspect } from 'node:util'

/** What is printed in place of a secret. */
export const redacted = '(redacted)'

/** Known to every copy of this package in the process. */
const secretMark: unique symbol = Symbol.for('eventgrid-binding.Secret')

/**
 * A text that must never be printed: string conversion, JSON and `util.inspect` all give `(redacted)`.
 * Only {@link Secret.reveal} gives the text.
 */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** `instanceof` knows a Secret of another copy of this package too: a host may load files by one copy, and a plugin bring its own. */
  static [Symbol.hasInstance](value: unknown): value is Secret {
    return typeof value === 'object' && value !== null && secretMark in value
  }

  get [secretMark](): true {
    return true
  }

  /** The text. Only for the call that needs the text; never keep or log it. */
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
