import { BindingError, type BindingErrorCode } from '../core/errors.ts'
import type { TopicAnswer } from './topic-answer.ts'

/** What an explanation may name beside the answer. Nothing secret. */
export interface RejectionContext {
  /** Host of the topic. */
  readonly host: string
  readonly authentication: 'accessKey' | 'entra'
  /** Client id of the credential, where one is known. */
  readonly clientId: string | undefined
  /** Ids of the call's events that were not published, as far as is known. */
  readonly ids: readonly string[]
  /** Ids of the call's events that were published before. */
  readonly published: readonly string[]
  /** Attempts made. */
  readonly attempts: number
}

type Failure = Exclude<TopicAnswer, { kind: 'accepted' }>

interface Explanation {
  readonly code: BindingErrorCode
  readonly what: string
  readonly fix: string
}

/**
 * The error of a call whose events Event Grid did not take (pure). `details`: `status`, `requestId`, `attempts`, `ids` of the events
 * not published, `published` for those that were. The SDK's own error is no `cause`, since it holds the request with its key.
 */
export function explainRejection(failure: Failure, context: RejectionContext): BindingError {
  const { code, what, fix } = explain(failure, context)
  const { ids, published, attempts } = context
  const partly =
    published.length === 0 ? '' : `; ${published.length} of its ${published.length + ids.length} events were published`
  return new BindingError(code, {
    what: what + partly,
    fix,
    details: {
      ...(failure.kind === 'answered' && { status: failure.status }),
      ...(failure.kind === 'answered' && failure.requestId !== undefined && { requestId: failure.requestId }),
      attempts,
      ids,
      published,
    },
  })
}

function explain(failure: Failure, context: RejectionContext): Explanation {
  switch (failure.kind) {
    case 'no-token':
      return {
        code: failure.permanent ? 'CREDENTIALS_REJECTED' : 'PUBLISH_UNAVAILABLE',
        what: `the topic at ${context.host} can't be published to: ${failure.reason}${after(context)}`,
        fix: failure.fix ?? 'check the credential fields and that the Entra authority can be reached',
      }
    case 'unreachable':
      return {
        code: 'PUBLISH_UNAVAILABLE',
        what: `the topic at ${context.host} can't be reached: ${failure.reason}${after(context)}`,
        fix:
          failure.fix ??
          'check topicEndpoint and the network, then publish again; the events may have been published all the same',
      }
    case 'answered':
      return explainStatus(failure, context)
  }
}

function explainStatus(answer: Extract<Failure, { kind: 'answered' }>, context: RejectionContext): Explanation {
  const { status, message } = answer
  const said = `the topic at ${context.host} answered ${status}${message === '' ? '' : `: ${message}`}`
  const withKey = context.authentication === 'accessKey'
  if (status === 401 && withKey) {
    return {
      code: 'CREDENTIALS_REJECTED',
      what: said,
      fix:
        `set accessKey to a key of this topic: az eventgrid topic key list --resource-group ` +
        `<resourceGroup> --name ${topicName(context.host)}`,
    }
  }
  // A namespace topic has no 413.
  if (status === 413 || (status === 403 && /too large|maximum size/i.test(message)))
    return { code: 'PAYLOAD_TOO_LARGE', what: said, fix: 'publish fewer or smaller events in one call' }
  if (status === 401 || status === 403) {
    return {
      code: 'PERMISSION_DENIED',
      what: said,
      fix: withKey ? firewallFix : `${roleFix(context.clientId)}; ${firewallFix}`,
    }
  }
  if (status === 404) {
    return {
      code: 'PUBLISH_REJECTED',
      what: said,
      fix:
        `set topicEndpoint to the topic's own: az eventgrid topic show --resource-group ` +
        `<resourceGroup> --name ${topicName(context.host)} --query endpoint`,
    }
  }
  if (status === 410) {
    const fix = 'the namespace has no such topic: check the name before :publish in topicEndpoint'
    return { code: 'PUBLISH_REJECTED', what: said, fix }
  }
  if (status === 400) {
    return {
      code: 'PUBLISH_REJECTED',
      what: said,
      fix: 'correct the event, and let topicSchema be the input schema of the topic',
    }
  }
  if (status === 408 || status === 429 || status >= 500) {
    return {
      code: 'PUBLISH_UNAVAILABLE',
      what: `${said}${after(context)}`,
      fix: status === 429 ? 'publish more slowly, or spread the events over more topics' : 'publish again later',
    }
  }
  return {
    code: 'PUBLISH_REJECTED',
    what: `${said}${status < 300 ? ', where Event Grid answers 200' : ''}`,
    fix: 'check that topicEndpoint is the endpoint of an Event Grid topic and that no proxy answers in its place',
  }
}

const firewallFix = "let the topic's network settings admit this machine"

const roleFix = (clientId: string | undefined) =>
  `az role assignment create --assignee ${clientId ?? '<clientId>'} --role "EventGrid Data Sender" --scope <resource id of the topic>`

/** A topic's host begins with its name. */
const topicName = (host: string) => (host.includes('.eventgrid.') ? (host.split('.')[0] ?? '<topic>') : '<topic>')

const after = ({ attempts }: RejectionContext) => (attempts > 1 ? ` (after ${attempts} attempts)` : '')
