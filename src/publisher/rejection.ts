/** A topic that did not take events: how the request failed, and what follows: another attempt, halves, or the error of each `create`. */
import { isRestError } from '@azure/core-rest-pipeline'
import { NoTokenError } from '../azure/refusals/entra-refusal.ts'
import { certificateRemedy, explainNoAnswer } from '../azure/refusals/remedies.ts'
import { explainTopicRefusal, type TopicRefusalContext } from '../azure/refusals/topic-refusal.ts'
import { BindingError, type PublishErrorCode } from '../core/errors.ts'

/** How a request ended whose events were not accepted. Its texts hold no query, no key and no control characters. */
export type FailedRequest =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** Event Grid's message, shortened; empty for an answer without a message. */
      readonly message: string
      readonly requestId: string | undefined
      readonly retryAfterMs: number | undefined
      /** Nothing shows that the answer is Event Grid's: it may come from a proxy or another server. */
      readonly isForeign: boolean
    }
  /** No answer, or a part only: the connection failed or timed out. The events may have been published. */
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
      /** The remedy, where the credential named one. */
      readonly fix: string | undefined
      readonly permanent: boolean
      readonly retryAfterMs: number | undefined
    }

/** How a request to the topic ended. */
export type TopicAnswer = { readonly kind: 'accepted'; readonly requestId: string | undefined } | FailedRequest

/** Decides what follows from a failure (pure): `split` halves a joint request and fails a single call. */
export function decideRetry(answer: FailedRequest): 'retry' | 'split' | 'give up' {
  if (answer.kind !== 'answered') return answer.permanent ? 'give up' : 'retry'
  // A proxy has a bound of its own, and may take the halves.
  if (answer.status === 413 || (answer.status === 400 && !answer.isForeign)) return 'split'
  return answer.status === 408 || answer.status === 429 || answer.status >= 500 ? 'retry' : 'give up'
}

/** What an explanation names beside the answer. */
export interface RejectionContext extends TopicRefusalContext {
  /** Ids of the call's events that were not published, as far as is known. */
  readonly ids: readonly string[]
  readonly published: readonly string[]
  readonly attempts: number
}

/** Stands in an error, behind the remedy. */
export const inDoubt = '; the topic may have accepted a request that it did not answer'

/**
 * The error of a call whose events Event Grid did not take (pure). `details`: `status`, `requestId`, `attempts`, `ids` of the events
 * that were not published, `published` with the ids of the others. The SDK's own error is no `cause`: it holds the request with its key.
 */
export function explainRejection(failure: FailedRequest, context: RejectionContext): BindingError {
  const { ids, published, attempts, output } = context
  const { host } = new URL(output.topicEndpoint)
  const { code, what, fix } = explain(failure, context)
  const partly =
    published.length === 0 ? '' : `; ${published.length} of its ${published.length + ids.length} events were published`
  const status = 'status' in failure ? failure.status : undefined
  const requestId = 'requestId' in failure ? failure.requestId : undefined
  const answered = { ...(status !== undefined && { status }), ...(requestId !== undefined && { requestId }) }
  const details = { ...answered, attempts, ids, published }
  return new BindingError(code, { what: `the topic at ${host} ${what}${partly}`, fix, details })
}

interface Explanation {
  readonly code: PublishErrorCode
  /** Of the topic. */
  readonly what: string
  readonly fix: string
}

function explain(failure: FailedRequest, context: RejectionContext): Explanation {
  const after = context.attempts > 1 ? ` (after ${context.attempts} attempts)` : ''
  switch (failure.kind) {
    case 'no-token':
      return {
        code: failure.permanent ? 'CREDENTIALS_REJECTED' : 'PUBLISH_UNAVAILABLE',
        what: `can't be published to: ${failure.reason}${after}`,
        fix: failure.fix ?? 'check the credential fields and that the Entra authority can be reached',
      }
    case 'unreachable':
      return {
        code: 'PUBLISH_UNAVAILABLE',
        what: `can't be reached: ${failure.reason}${after}`,
        fix:
          failure.fix ??
          `check topicEndpoint and the network, then publish again${context.attempts > 0 ? inDoubt : ''}`,
      }
    case 'answered': {
      const { status, message } = failure
      const { code, fix } = explainTopicRefusal(failure, context)
      const said = message === '' ? '' : `: ${message}`
      const more = code === 'PUBLISH_UNAVAILABLE' ? after : usualAnswer(status)
      return { code, what: `answered ${status}${said}${more}`, fix }
    }
  }
}

/** What Event Grid answers in place of something that is no error. */
function usualAnswer(status: number): string {
  if (status >= 400) return ''
  return status === 200 ? ', which is not an answer of Event Grid' : ', where Event Grid answers 200'
}

/** Reads why a request has no answer: the credential failed, or the connection. */
export function readNoAnswer(error: unknown, url: string, clean: (text: string) => string): FailedRequest {
  if (error instanceof NoTokenError) {
    const { message: reason, fix, retryAfterMs } = error
    return { kind: 'no-token', reason, fix, permanent: fix !== undefined, retryAfterMs }
  }
  if (error instanceof BindingError) {
    return { kind: 'no-token', reason: error.what, fix: error.fix, permanent: true, retryAfterMs: undefined }
  }
  const { code, reason, fix } = explainNoAnswer(error, url, clean)
  const noSuchHost = code === 'ENOTFOUND'
  return {
    kind: 'unreachable',
    reason,
    fix: noSuchHost ? noSuchHostRemedy : fix,
    permanent: !isRestError(error) || certificateRemedy(code, url) !== undefined,
    noSuchHost,
  }
}

/** A request without an answer. */
export const unanswered = (reason: string): FailedRequest => ({ kind: 'unreachable', reason, permanent: false })

/** The time of a request was over before there was a token: nothing was sent. */
export const tokenTooLate: FailedRequest = {
  kind: 'no-token',
  reason: 'no token came in time',
  fix: undefined,
  permanent: false,
  retryAfterMs: undefined,
}

/** A proxy of the environment is looked up in place of the topic. */
const noSuchHostRemedy = 'check the host name of topicEndpoint, and that of a proxy (HTTPS_PROXY)'
