/** What follows where the topic did not take events: another attempt, halves, or the error of each `create`. */
import { explainTopicRefusal, type TopicRefusalContext } from '../azure/refusals/topic-refusal.ts'
import { BindingError, type PublishErrorCode } from '../core/errors.ts'
import type { FailedRequest } from './topic.ts'

/** Decides what follows from a failure (pure): `split` halves a joint request and fails a single call. */
export function decideRetry(answer: FailedRequest): 'retry' | 'split' | 'give up' {
  if (answer.kind === 'unfinished') return 'retry'
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

/**
 * The error of a call whose events Event Grid did not take (pure). `details`: `status`, `requestId`, `attempts`, `ids` of the events
 * not published, `published` for those that were. The SDK's own error is no `cause`, since it holds the request with its key.
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
          `check topicEndpoint and the network, then publish again${failure.notSent ? '' : '; the topic may have accepted the events already'}`,
      }
    case 'unfinished':
      return {
        code: 'PUBLISH_UNAVAILABLE',
        what: `began to answer ${failure.status}, and the answer did not end: ${failure.reason}${after}`,
        fix:
          'the events may have been accepted: look for them, then publish again what is missing, and check that no proxy ' +
          'answers in the place of topicEndpoint',
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
