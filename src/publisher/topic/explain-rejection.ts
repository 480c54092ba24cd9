// Error code, message and `az` fix when the topic refuses, takes the other schema, or is unreachable.
import { emulatorFixes, fixFor, roleFix } from '../../azure/emulator-fix.ts'
import { BindingError, type PublishErrorCode } from '../../core/errors.ts'
import { isNamespaceTopic } from '../../metadata/fields/parse-endpoint.ts'
import type { EventSchema, OutputMetadata } from '../../metadata/typed/metadata.ts'
import { shellWord } from '../../support/text/text.ts'
import type { FailedRequest } from './topic-answer.ts'
import { topicName } from './topic-name.ts'

/** What an explanation names beside the answer. */
export interface RejectionContext {
  readonly output: Pick<OutputMetadata, 'topicEndpoint' | 'authentication' | 'topicSchema'>
  /** The schema of the events that were sent; absent where there were none. */
  readonly sent?: EventSchema
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
  const { status, requestId } = failure.kind === 'answered' ? failure : {}
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
          'check topicEndpoint and the network, then publish again; the events may have been published all the same',
      }
    case 'answered':
      return explainStatus(failure, context)
  }
}

function explainStatus(answer: Extract<FailedRequest, { kind: 'answered' }>, context: RejectionContext): Explanation {
  const { status, message } = answer
  const { topicEndpoint, topicSchema, authentication } = context.output
  const { host } = new URL(topicEndpoint)
  const what = `the topic at ${host} answered ${status}${message === '' ? '' : `: ${message}`}`
  const explained = (code: PublishErrorCode, fix: string): Explanation => ({ code, what, fix })
  const remedies = remediesFor(topicEndpoint)
  const withKey = authentication.kind === 'accessKey'
  if (status === 401 && withKey) return explained('CREDENTIALS_REJECTED', remedies.accessKey())
  // A namespace topic has no 413.
  if (status === 413 || (status === 403 && /too large|maximum size/i.test(message)))
    return explained('PAYLOAD_TOO_LARGE', 'publish fewer or smaller events in one call')
  if (status === 401 || status === 403) {
    const fix = withKey ? firewallFix : `${firewallFix}; ${remedies.role(clientOf(authentication))}`
    return explained('PERMISSION_DENIED', fix)
  }
  if (status === 404) return explained('PUBLISH_REJECTED', remedies.topic())
  if (status === 410) {
    const fix = 'the namespace has no such topic: check the name before :publish in topicEndpoint'
    return explained('PUBLISH_REJECTED', fix)
  }
  if (status === 400) {
    const wrongSchema = context.sent && wrongSchemaFix(message, context.sent, topicSchema)
    const fix = wrongSchema ?? 'correct the event, and let topicSchema be the input schema of the topic'
    return explained('PUBLISH_REJECTED', fix)
  }
  if (status === 408 || status === 429 || status >= 500) {
    const fix = status === 429 ? 'publish more slowly, or spread the events over more topics' : 'publish again later'
    return { code: 'PUBLISH_UNAVAILABLE', what: `${what}${after(context)}`, fix }
  }
  return {
    code: 'PUBLISH_REJECTED',
    what: `${what}${status < 300 ? ', where Event Grid answers 200' : ''}`,
    fix: 'check that topicEndpoint is the endpoint of an Event Grid topic and that no proxy answers in its place',
  }
}

const firewallFix = "let the topic's network settings admit this machine"

/** With lines to paste. What the endpoint does not tell, `az` looks up by the name in it. */
function remediesFor(topicEndpoint: string) {
  const url = new URL(topicEndpoint)
  const isNamespace = isNamespaceTopic(topicEndpoint)
  const resource = isNamespace ? 'namespace' : 'topic'
  const name = (isNamespace ? undefined : topicName(url)) ?? url.hostname.split('.')[0] ?? ''
  const lookUp = (field: string) =>
    `"$(az resource list --name ${shellWord(name)} --resource-type Microsoft.EventGrid/${resource}s --query '[0].${field}' --output tsv)"`
  const fix = (emulator: string, azure: string) => fixFor(topicEndpoint, emulator, azure)
  const keys = isNamespace ? 'namespace list-key' : 'topic key list'
  return {
    accessKey: () =>
      fix(
        emulatorFixes.key('accessKey'),
        `set accessKey to a key of this ${resource}:\n` +
          `az eventgrid ${keys} --name ${shellWord(name)} --resource-group ${lookUp('resourceGroup')}`,
      ),
    role: (clientId: string | undefined) => roleFix(topicEndpoint, 'EventGrid Data Sender', clientId, lookUp('id')),
    topic: () =>
      fix(
        emulatorFixes.topic,
        `set topicEndpoint to the topic's own:\naz eventgrid topic list --query "[?name=='${name}'].endpoint" --output tsv`,
      ),
  }
}

const clientOf = (authentication: OutputMetadata['authentication']) =>
  authentication.kind === 'entra' && 'clientId' in authentication.credential
    ? authentication.credential.clientId
    : undefined

const after = ({ attempts }: RejectionContext) => (attempts > 1 ? ` (after ${attempts} attempts)` : '')

/** What Event Grid calls the schemas in its answer to a publisher. */
const schemaByName: ReadonlyMap<string | undefined, EventSchema> = new Map([
  ['CloudEventV10', 'CloudEventSchemaV1_0'],
  ['EventGridEvent', 'EventGridSchema'],
])

const mismatchOf: Readonly<Record<EventSchema, string>> = {
  CloudEventSchemaV1_0: 'this topic takes CloudEvents, and an Event Grid event was sent',
  EventGridSchema: 'this topic takes Event Grid events, and a CloudEvent was sent',
}

const shapeOf: Readonly<Record<EventSchema, string>> = {
  CloudEventSchemaV1_0: '{ specversion, id, source, type, data }',
  EventGridSchema: '{ id, subject, eventType, eventTime, data, dataVersion }',
}

/** What to do where a topic refused events for their schema (pure); `undefined` where its answer names no other than the one sent. */
function wrongSchemaFix(
  message: string,
  sent: EventSchema,
  topicSchema: OutputMetadata['topicSchema'],
): string | undefined {
  const taken = schemaByName.get(/'(\w+)' schema/.exec(message)?.[1])
  if (taken === undefined || taken === sent) return undefined
  // With `auto` data becomes a CloudEvent.
  const isSet = topicSchema === taken || (topicSchema === 'auto' && taken === 'CloudEventSchemaV1_0')
  return `${mismatchOf[taken]}: ${isSet ? '' : `set topicSchema to ${taken}, and `}publish data alone or ${shapeOf[taken]}`
}
