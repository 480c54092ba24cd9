// Which answers of the topic are retried, split or given up, by HTTP status.

/** How one request to the topic ended. Its texts hold no query, no key and no control characters. */
export type TopicAnswer =
  | { readonly kind: 'accepted'; readonly requestId: string | undefined }
  | {
      readonly kind: 'answered'
      readonly status: number
      /** Event Grid's message, shortened; empty where it gave none. */
      readonly message: string
      readonly requestId: string | undefined
      readonly retryAfterMs: number | undefined
    }
  /** No answer: the connection failed or timed out. The events may have been published. */
  | {
      readonly kind: 'unreachable'
      readonly reason: string
      readonly fix?: string | undefined
      readonly permanent: boolean
      /** The host name does not exist in DNS. */
      readonly noSuchHost?: boolean
    }
  /** There was no token to send. */
  | {
      readonly kind: 'no-token'
      readonly reason: string
      /** What to do about it, where the credential said so. */
      readonly fix: string | undefined
      readonly permanent: boolean
      readonly retryAfterMs: number | undefined
    }

/** How a request ended whose events were not accepted. */
export type FailedRequest = Exclude<TopicAnswer, { kind: 'accepted' }>

/** Decides what follows from a failure (pure): `split` halves a joint request and fails a single call. */
export function judgeAnswer(answer: FailedRequest): 'retry' | 'split' | 'give up' {
  if (answer.kind !== 'answered') return answer.permanent ? 'give up' : 'retry'
  if (answer.status === 400 || answer.status === 413) return 'split'
  return answer.status === 408 || answer.status === 429 || answer.status >= 500 ? 'retry' : 'give up'
}
