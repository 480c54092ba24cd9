/** What an answer of the topic is worth: which is believed, what a failure says, and which are retried, split or given up. */
import { isRestError, type PipelineResponse } from '@azure/core-rest-pipeline'
import { certificateRemedy, silenceRemedy } from '../../azure/connection-fault.ts'
import { NoTokenError } from '../../azure/refusals/entra-refusal.ts'
import { readRequestId, readRetryAfter } from '../../azure/retry-after.ts'
import { BindingError } from '../../core/errors.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { readJson } from '../../support/text/json-text.ts'
import { cut } from '../../support/text/text.ts'

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
      /** Nothing of it shows that it is Event Grid's: it may be of a proxy or another server. */
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

/** What is known of an answer before its end. */
export interface BegunAnswer {
  /** `undefined` before it has begun, and when it has ended. */
  status: number | undefined
}

/** How a request ended whose events were not accepted. */
export type FailedRequest = Exclude<TopicAnswer, { kind: 'accepted' }>

/** Characters of a page that an error shows. */
const maxShownPage = 200

/**
 * What an answer means. Event Grid accepts with 200 and an empty body, a namespace with `{}`. Any other text is believed with Event Grid's
 * id of the request alone; a page and an error are not, for the login page of Entra has such an id too.
 *
 * @param error with which the SDK has refused it
 */
export function readAnswer(
  { status, headers, bodyAsText }: PipelineResponse,
  error: unknown,
  clean: (text: string) => string,
  now: number,
): TopicAnswer {
  const body = bodyAsText ?? ''
  const id = headers.get('x-ms-request-id')
  const requestId = readRequestId(id)
  const said = readJson(body)
  const saysNothing = body === '' || (isRecord(said) && Object.keys(said).length === 0)
  const isPage = /^\s*</.test(body) || (body !== '' && /html/i.test(headers.get('content-type') ?? ''))
  // Event Grid's form of an error.
  const isError = isRecord(said) && Object.hasOwn(said, 'error')
  const isBelieved = saysNothing || (Boolean(id) && !isPage && !isError)
  if (status === 200 && isBelieved) return { kind: 'accepted', requestId }
  const message =
    status === 200 ? cut(clean(body), maxShownPage) : error instanceof Error ? clean(messageIn(error)) : ''
  const retryAfterMs = readRetryAfter((name) => headers.get(name), now)
  const isForeign = isPage || (!id && !isError)
  return { kind: 'answered', status, message, requestId, retryAfterMs, isForeign }
}

/** @param status that of an answer that began, and did not end */
export function readNoAnswer(
  error: unknown,
  status: number | undefined,
  url: string,
  clean: (text: string) => string,
): TopicAnswer {
  const noToken = readTokenFailure(error)
  if (noToken) return noToken
  const code = isRestError(error) ? error.code : undefined
  const said = error instanceof Error ? clean(error.message) || error.name : 'unknown'
  const reason = code && !said.includes(code) ? `${code} ${said}` : said
  if (status !== undefined) return unanswered(status, reason)
  const noSuchHost = code === 'ENOTFOUND'
  const lasting = certificateRemedy(code, url)
  return {
    kind: 'unreachable',
    reason,
    fix: noSuchHost ? noSuchHostRemedy : (lasting ?? silenceRemedy(code, url)),
    permanent: !isRestError(error) || lasting !== undefined,
    noSuchHost,
  }
}

/** @param status that of an answer that began */
export const unanswered = (status: number | undefined, reason: string): TopicAnswer =>
  status === undefined ? { kind: 'unreachable', reason, permanent: false } : { kind: 'unfinished', status, reason }

/** A proxy of the environment is looked up in place of the topic. */
const noSuchHostRemedy = 'check the host name of topicEndpoint, and that of a proxy (HTTPS_PROXY)'

/** Event Grid's message in an error of the SDK; the body itself where it is no JSON. */
function messageIn(error: Error): string {
  return isRestError(error) && error.code === 'PARSE_ERROR' ? (error.response?.bodyAsText ?? '') : error.message
}

/** The failure of a credential: Entra refused the client, or could not be asked. */
function readTokenFailure(error: unknown): TopicAnswer | undefined {
  if (error instanceof NoTokenError) {
    const { message: reason, fix, retryAfterMs } = error
    return { kind: 'no-token', reason, fix, permanent: fix !== undefined, retryAfterMs }
  }
  if (error instanceof BindingError) {
    return { kind: 'no-token', reason: error.what, fix: error.fix, permanent: true, retryAfterMs: undefined }
  }
  return undefined
}

/** Decides what follows from a failure (pure): `split` halves a joint request and fails a single call. */
export function decideRetry(answer: FailedRequest): 'retry' | 'split' | 'give up' {
  if (answer.kind === 'unfinished') return 'retry'
  if (answer.kind !== 'answered') return answer.permanent ? 'give up' : 'retry'
  // A proxy has a bound of its own, and may take the halves.
  if (answer.status === 413 || (answer.status === 400 && !answer.isForeign)) return 'split'
  return answer.status === 408 || answer.status === 429 || answer.status >= 500 ? 'retry' : 'give up'
}
