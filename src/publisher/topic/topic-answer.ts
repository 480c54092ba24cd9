/** What an answer of the topic is worth: which is believed, and which are retried, split or given up. */
import { isRecord } from '../../support/text/is-record.ts'
import { readJson } from '../../support/text/json-text.ts'

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
      /** Nothing of it shows that it is Event Grid's. */
      readonly isForeign: boolean
    }
  /** An answer began, and its body did not come to its end. The events may have been published. */
  | { readonly kind: 'unfinished'; readonly status: number; readonly reason: string }
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

/** A whole answer, as it came. */
export interface HeardAnswer {
  readonly status: number
  readonly body: string
  readonly contentType: string
  /** Its `x-ms-request-id`. */
  readonly requestId: string | undefined
}

/**
 * Whether an answer says that the events were taken (pure). Event Grid answers 200 with an empty body, a namespace with `{}`. Any other
 * text is believed with Event Grid's id of the request alone; a page and an error are not, for the login page of Entra has such an id
 * too.
 */
export function isAcceptance({ status, body, contentType, requestId }: HeardAnswer): boolean {
  if (status !== 200) return false
  const said = readJson(body)
  if (body === '' || (isRecord(said) && Object.keys(said).length === 0)) return true
  return requestId !== undefined && !isPage({ body, contentType }) && !isError(said)
}

/** Whether a refusal can't be told from that of a proxy or of another server (pure). */
export function isForeign({ body, contentType, requestId }: Omit<HeardAnswer, 'status'>): boolean {
  return isPage({ body, contentType }) || (requestId === undefined && !isError(readJson(body)))
}

const isPage = ({ body, contentType }: Pick<HeardAnswer, 'body' | 'contentType'>) =>
  /^\s*</.test(body) || (body !== '' && /html/i.test(contentType))

/** Event Grid's form of an error. */
const isError = (said: unknown) => isRecord(said) && Object.hasOwn(said, 'error')

/** Decides what follows from a failure (pure): `split` halves a joint request and fails a single call. */
export function decideRetry(answer: FailedRequest): 'retry' | 'split' | 'give up' {
  if (answer.kind === 'unfinished') return 'retry'
  if (answer.kind !== 'answered') return answer.permanent ? 'give up' : 'retry'
  // A proxy has a bound of its own, and may take the halves.
  if (answer.status === 413 || (answer.status === 400 && !answer.isForeign)) return 'split'
  return answer.status === 408 || answer.status === 429 || answer.status >= 500 ? 'retry' : 'give up'
}
