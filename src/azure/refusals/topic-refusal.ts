/** What an answer of a topic that did not take events means, and what to do about it. */
import type { PublishErrorCode } from '../../core/errors.ts'
import { isNamespaceTopic, topicName } from '../../metadata/fields/addresses.ts'
import type { EventSchema, OutputMetadata } from '../../metadata/typed/metadata.ts'
import { isLoopback } from '../../support/net/hosts.ts'
import { shellWord } from '../../support/text/text.ts'
import { roleRemedy } from './remedies.ts'

export interface TopicRefusal {
  readonly status: number
  /** Event Grid's message; empty for an answer without a message. */
  readonly message: string
  /** Nothing shows that the answer is Event Grid's. */
  readonly isForeign: boolean
}

export interface TopicRefusalContext {
  readonly output: Pick<OutputMetadata, 'topicEndpoint' | 'authentication'>
  /** The schema of the events that were sent; absent where there were none. */
  readonly sent?: EventSchema
}

interface Meaning {
  readonly code: PublishErrorCode
  readonly fix: string
}

/** Decides what an answer means by which no events were taken (pure). */
export function explainTopicRefusal(
  { status, message, isForeign }: TopicRefusal,
  { output, sent }: TopicRefusalContext,
): Meaning {
  const { topicEndpoint, authentication } = output
  const withKey = authentication.kind === 'accessKey'
  const remedies = remediesFor(topicEndpoint, authentication)
  // A namespace topic has no 413.
  if (status === 413 || (status === 403 && /too large|maximum size/i.test(message))) {
    const other = isForeign ? '; it looks like the answer of a proxy, which may have a bound of its own' : ''
    return { code: 'PAYLOAD_TOO_LARGE', fix: `publish fewer or smaller events in one call${other}` }
  }
  if (status === 401 && withKey) {
    if (/local ?auth/i.test(message)) return { code: 'CREDENTIALS_REJECTED', fix: noKeysFix }
    if (sent === 'EventGridSchema' && /\btopic\b/i.test(message))
      return { code: 'PUBLISH_REJECTED', fix: eventTopicFix }
    return { code: 'CREDENTIALS_REJECTED', fix: remedies.accessKey }
  }
  if (status === 401 || status === 403) {
    const fix = withKey ? firewallFix : `${firewallFix}; ${remedies.role}`
    return { code: 'PERMISSION_DENIED', fix }
  }
  // Event Grid documents 410 for a missing topic of a namespace, and was seen to answer 404.
  if (status === 404 || status === 410) return { code: 'PUBLISH_REJECTED', fix: remedies.topic }
  if (status === 400 && !isForeign) {
    return { code: 'PUBLISH_REJECTED', fix: 'correct the event, and let topicSchema be the input schema of the topic' }
  }
  if (status === 429) {
    return { code: 'PUBLISH_UNAVAILABLE', fix: 'publish more slowly, or spread the events over more topics' }
  }
  if (status === 408 || status >= 500) return { code: 'PUBLISH_UNAVAILABLE', fix: 'publish again later' }
  return {
    code: 'PUBLISH_REJECTED',
    fix: 'check that topicEndpoint is the endpoint of an Event Grid topic and that no proxy answers in its place',
  }
}

const firewallFix = "let the topic's network settings admit this machine"

const noKeysFix =
  'it takes no keys: set topicAuthentication to entra, and give the client the role EventGrid Data Sender; ' +
  'or let the topic take keys again (disableLocalAuth: false)'

const eventTopicFix =
  'leave topic out of the event (source, in the metadata of a call), or let it be the resource id of this topic; ' +
  'for a domain it is the name of the domain topic'

/** The remedies for a topic endpoint, with commands to paste. What the endpoint does not tell, the commands look up. */
function remediesFor(topicEndpoint: string, authentication: OutputMetadata['authentication']) {
  const url = new URL(topicEndpoint)
  const isNamespace = isNamespaceTopic(topicEndpoint)
  const resource = isNamespace ? 'namespace' : 'topic'
  const name = shellWord((isNamespace ? namespaceName(url) : topicName(url)) ?? `<${resource}>`)
  const lookUp = (field: string) =>
    `"$(az resource list --name ${name} --resource-type Microsoft.EventGrid/${resource}s --query '[0].${field}' --output tsv)"`
  const keys = isNamespace ? 'namespace list-key' : 'topic key list'
  if (isLoopback(url.hostname) && !/\/topics\//.test(url.pathname)) {
    const whole = `its whole address: of an emulator that is ${url.origin}/topics/<topic>/api/events, as it prints at its start`
    const toTopic = `set topicEndpoint to ${whole}`
    return {
      accessKey: `set accessKey to a key of this topic, and topicEndpoint to ${whole}`,
      role: toTopic,
      topic: toTopic,
    }
  }
  const missing = isNamespace
    ? 'the namespace has no such topic: check the name before :publish in topicEndpoint'
    : `set topicEndpoint to the topic's own; that of a namespace topic is https://${url.host}/topics/<topic>:publish:\n` +
      `az eventgrid topic list --query "[?name=='${name}'].endpoint" --output tsv`
  return {
    accessKey:
      `set accessKey to a key of this ${resource}:\n` +
      `az eventgrid ${keys} --name ${name} --resource-group ${lookUp('resourceGroup')}`,
    role: roleRemedy('EventGrid Data Sender', clientOf(authentication), lookUp('id')),
    topic: missing,
  }
}

/** The first label of a host of Azure; `undefined` for other hosts. */
const namespaceName = ({ hostname }: URL) => topicName(new URL(`https://${hostname}/`))

const clientOf = (authentication: OutputMetadata['authentication']) =>
  authentication.kind === 'entra' && 'clientId' in authentication.credential
    ? authentication.credential.clientId
    : undefined
