/** The checks `topic/credential` and `round-trip/event`: does the topic take key or token, and does a published event come back? */

import { randomUUID } from 'node:crypto'
import { silentLogger } from '../../../core/logger.ts'
import { eventGridApiVersion } from '../../../core/versions.ts'
import { canonicalRecord, propertiesIn } from '../../../provision/values.ts'
import { createPublisher } from '../../../publisher/publisher.ts'
import { explainRejection } from '../../../publisher/rejection.ts'
import { createTopicClient } from '../../../publisher/topic.ts'
import { systemClock } from '../../../support/time/clock.ts'
import { isOwnAnswer, type PortHolder } from '../context/own-listener.ts'
import type { InputContext, OutputContext } from '../context/side-context.ts'
import { armFinding, type Finding, failedBy, ok, warning } from '../finding.ts'

/** Posts an empty list, so no event is published. */
export async function askTopic(
  { output, surroundings, credential }: OutputContext,
  signal: AbortSignal,
): Promise<Finding> {
  const { authentication, topicSchema } = output
  const { endpoints } = surroundings
  const client = createTopicClient({ output, credential: credential(), endpoints, clock: systemClock })
  const proof = authentication.kind === 'accessKey' ? 'accessKey' : 'token'
  try {
    const schema = topicSchema === 'auto' ? 'CloudEventSchemaV1_0' : topicSchema
    signal.addEventListener('abort', client.close, { once: true })
    const answer = await client.send(schema, [], output.publishTimeoutMs)
    // 400 and 413 are about the empty list: the credential was checked before.
    const isAboutList = answer.kind === 'answered' && [400, 413].includes(answer.status) && !answer.isForeign
    if (answer.kind === 'accepted' || isAboutList) return ok(`the topic takes the ${proof}`)
    const finding = failedBy(explainRejection(answer, { output, ids: [], published: [], attempts: 1 }))
    return answer.kind === 'no-token' ? { ...finding, belongsTo: 'azure/credential' } : finding
  } finally {
    client.close()
  }
}

/** The type and the subject of the event, whose id is new each time. */
const [type, subject] = ['eventgrid-binding.check', 'check']

export async function tryRoundTrip(input: InputContext, output: OutputContext, signal: AbortSignal): Promise<Finding> {
  const holder = await input.portHolder()
  if (holder.kind !== 'check') {
    // Otherwise an application would get the event.
    return warning('not tried: a running binding has handshakePort, and its application would get the event', {
      remedy: 'stop it and run check --round-trip again',
    })
  }
  const answers = await input.endpointAnswers().catch(() => undefined)
  if (!answers || !isOwnAnswer(holder, answers.health)) {
    return warning(
      'not tried: the endpoint does not lead to this machine, and an application elsewhere would get the event',
    )
  }
  return (await whyNot(input, output, signal)) ?? goRound(holder, output, signal)
}

/** Why an event would not come back. */
async function whyNot(
  context: InputContext,
  { output }: OutputContext,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const { scope } = context.input
  const { topicEndpoint: source } = output
  const otherTopic = warning(`not tried: ${scope.id} is not the topic of topicEndpoint`)
  if (scope.kind !== 'topic') return otherTopic
  try {
    const { endpoint } = propertiesIn(await context.readArm(scope.id, eventGridApiVersion, signal))
    if (!isSameEndpoint(endpoint, source)) return otherTopic
    const existing = await context.existing()
    if (!existing) {
      const remedy = 'start the binding once: init creates it'
      return warning('not tried: the event subscription does not exist yet', { remedy })
    }
    const hasFilters = Object.keys(canonicalRecord(existing.filter ?? {})).length > 0
    return hasFilters
      ? warning('not tried: the event subscription has filters, which the event may not pass')
      : undefined
  } catch (error) {
    return armFinding(error, context.explainedBy())
  }
}

function isSameEndpoint(endpoint: unknown, ours: string): boolean {
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return false
  const [one, other] = [new URL(endpoint), new URL(ours)]
  return one.host === other.host && (one.pathname === other.pathname || other.pathname === '/')
}

async function goRound(
  holder: Extract<PortHolder, { readonly kind: 'check' }>,
  { output, surroundings, credential }: OutputContext,
  signal: AbortSignal,
): Promise<Finding> {
  const id = randomUUID()
  const { promise: arrived, resolve, reject } = Promise.withResolvers<number>()
  // Other deliveries must not be acknowledged here: they come again.
  holder.read(({ cloudEvent }) => {
    if (cloudEvent.id !== id) throw new Error('only the event of check is taken')
    resolve(performance.now())
  })
  const { endpoints } = surroundings
  const publisher = createPublisher({ output, endpoints, logger: silentLogger, credential: credential() })
  try {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    const started = performance.now()
    const publishing = publisher.publish({ check: id }, { metadata: { id, type, subject }, signal })
    const [taken, came] = await Promise.all([publishing.then(() => performance.now()), arrived])
    const [out, back] = [taken - started, Math.max(came - taken, 0)]
    return ok(`published in ${Math.round(out)} ms, delivered ${Math.round(back)} ms later`)
  } finally {
    holder.read(undefined)
    await publisher.close()
  }
}
