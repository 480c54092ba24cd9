/** The error of a create whose events the topic did not take: refused, unreachable, or without a token. */
import { explainTopicRefusal, type TopicRefusalContext } from '../../azure/refusals/topic-refusal.ts'
import { BindingError, type PublishErrorCode } from '../../core/errors.ts'
import type { FailedRequest } from './topic-answer.ts'

/** What an explanation names beside the answer. */
export interface RejectionContext extends TopicRefusalContext {
  /** Ids of the call's events that were not published, as far as is known. */
  readonly ids: readonly string[]
  readonly published: readonly string[]
  readonly attempts: number
}

interface Explanation {
  readonly code: PublishErrorCode
  readonly what: string
  readonly fix: string
}

/**
 * The error of a call whose events Event Grid did not take (pure). `details`: `status`, `requestId`, `attempts`, `ids` of the events
 * not published, `published` for those that were. The SDK's own error is no `cause`, since it holds the request with its key.
 */
export function explainRejection(failure: FailedRequest, context: RejectionContext): BindingError {
  const { code, what, fix } = explain(failure, context)
  const { ids, published, attempts } = context
  const partly =
    published.length === 0 ? '' : `; ${published.length} of its ${published.length + ids.length} events were published`
  const status = 'status' in failure ? failure.status : undefined
  const requestId = 'requestId' in failure ? failure.requestId : undefined
  const answered = { ...(status !== undefined && { status }), ...(requestId !== undefined && { requestId }) }
  return new BindingError(code, { what: what + partly, fix, details: { ...answered, attempts, ids, published } })
}

function explain(failure: FailedRequest, context: RejectionContext): Explanation {
  const { host } = new URL(context.output.topicEndpoint)
  switch (failure.kind) {
    case 'no-token':
      return {
        code: failure.permanent ? 'CREDENTIALS_REJECTED' : 'PUBLISH_UNAVAILABLE',
        what: `the topic at ${host} can't be published to: ${failure.reason}${after(context)}`,
        fix: failure.fix ?? 'check the credential fields and that the Entra authority can be reached',
      }
    case 'unreachable':
      return {
        code: 'PUBLISH_UNAVAILABLE',
        what: `the topic at ${host} can't be reached: ${failure.reason}${after(context)}`,
        fix:
          failure.fix ??
          'check topicEndpoint and the network, then publish again; the topic may have accepted the events already',
      }
    case 'unfinished':
      return {
        code: 'PUBLISH_UNAVAILABLE',
        what: `the topic at ${host} began to answer ${failure.status}, and the answer did not end: ${failure.reason}${after(context)}`,
        fix:
          'the events may have been accepted: look for them, then publish again what is missing, and check that no proxy ' +
          'answers in the place of topicEndpoint',
      }
    case 'answered':
      return explainStatus(failure, context)
  }
}

function explainStatus(answer: Extract<FailedRequest, { kind: 'answered' }>, context: RejectionContext): Explanation {
  const { status, message } = answer
  const { host } = new URL(context.output.topicEndpoint)
  const { code, fix } = explainTopicRefusal(answer, context)
  const said = message === '' ? '' : `: ${message}`
  const more = code === 'PUBLISH_UNAVAILABLE' ? after(context) : status < 400 ? `, ${usualAnswer(status)}` : ''
  return { code, what: `the topic at ${host} answered ${status}${said}${more}`, fix }
}

const usualAnswer = (status: number) =>
  status === 200 ? 'which is not an answer of Event Grid' : 'where Event Grid answers 200'

const after = ({ attempts }: RejectionContext) => (attempts > 1 ? ` (after ${attempts} attempts)` : '')
