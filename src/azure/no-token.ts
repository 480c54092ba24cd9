// Error for Entra out of reach, to be tried again later.

/** Entra, or another source of tokens, was out of reach or failed. The client's credential may be fine. */
export class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
  /** What to do about it, where a retry does not help. */
  readonly fix: string | undefined
  /** The pause that the answer asks for, in ms. */
  readonly retryAfterMs: number | undefined

  constructor(what: string, { fix, retryAfterMs }: Pick<NoTokenError, 'fix' | 'retryAfterMs'>) {
    super(what)
    this.fix = fix
    this.retryAfterMs = retryAfterMs
  }
}
