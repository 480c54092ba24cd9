export interface NoTokenParts {
  readonly what: string
  /** What to do about it, where a retry does not help. */
  readonly fix: string | undefined
  /** The pause that the answer asks for, in ms. */
  readonly retryAfterMs: number | undefined
}

/** Entra, or another source of tokens, was out of reach or failed. The client's credential may be fine. */
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
