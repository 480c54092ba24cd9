/** What a {@link NoTokenError} knows. */
export interface NoTokenParts {
  /** Who was asked, and what became of it. Nothing secret. */
  readonly what: string
  /** What to do about it, where asking again does not help. */
  readonly fix: string | undefined
  /** How long the answer asks to be left alone, in ms. */
  readonly retryAfterMs: number | undefined
}

/** Entra, or another place that gives tokens, could not be asked or did not know: the client may be all right. */
export class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
  readonly fix: string | undefined
  readonly retryAfterMs: number | undefined

  constructor({ what, fix, retryAfterMs }: NoTokenParts) {
    super(what)
    this.fix = fix
    this.retryAfterMs = retryAfterMs
  }
}
