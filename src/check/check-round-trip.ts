import { randomUUID } from 'node:crypto'
import { silentLogger } from '../core/logger.ts'
import { createPublisher } from '../publisher/publisher.ts'
import { isRecord } from '../support/is-record.ts'
import { armFinding } from './arm-finding.ts'
import { refusals } from './filter-event.ts'
import { type Finding, ok, warning } from './finding.ts'
import type { PortHolder } from './own-listener.ts'
import type { Check } from './run-checks.ts'
import type { InputWorld, OutputWorld } from './world.ts'

export const roundTripType = 'eventgrid-binding.check'

export function roundTripCheck(input: InputWorld, output: OutputWorld): Check {
  return {
    id: 'round-trip/event',
    needs: ['endpoint/handshake', 'endpoint/path', 'azure/subscription', 'topic/credential'],
    limitMs: 60_000,
    async run(signal) {
      const holder = await input.portHolder()
      if (holder.kind !== 'check') {
        // Otherwise an application would get the event.
        return warning('not tried: a running binding has handshakePort, and its application would get the event', {
          remedy: 'stop it and run check --round-trip again',
        })
      }
      return (await whyNot(input, output, signal)) ?? goRound(holder, output, signal)
    },
  }
}

/** Why an event would not come back. */
async function whyNot(world: InputWorld, { output }: OutputWorld, signal: AbortSignal): Promise<Finding | undefined> {
  const { scope } = world.input
  if (scope.kind !== 'topic') return warning(`not tried: ${scope.id} is not the topic of topicEndpoint`)
  try {
    const topic = await world.readArm(scope.id, '2022-06-15', signal)
    const properties = isRecord(topic) && isRecord(topic.properties) ? topic.properties : {}
    if (!isSameEndpoint(properties.endpoint, output.topicEndpoint)) {
      return warning(`not tried: ${scope.id} is not the topic of topicEndpoint`)
    }
    const existing = await world.existing()
    if (!existing)
      return warning('not tried: the event subscription does not exist yet', {
        remedy: 'start the binding once: init creates it',
      })
    const refused = refusals(sample('', output.topicEndpoint), existing.subscription.filter ?? {})
    if (refused.length > 0) return warning(`not tried: the filters would refuse the event: ${refused.join('; ')}`)
    return undefined
  } catch (error) {
    return armFinding(error, 'round-trip/event', world.explainedBy())
  }
}

const sample = (id: string, source: string) => ({
  specversion: '1.0',
  id,
  source,
  type: roundTripType,
  subject: 'check',
})

function isSameEndpoint(endpoint: unknown, ours: string): boolean {
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) return false
  const [one, other] = [new URL(endpoint), new URL(ours)]
  return one.host === other.host && (one.pathname === other.pathname || other.pathname === '/')
}

async function goRound(
  holder: Extract<PortHolder, { readonly kind: 'check' }>,
  { output, surroundings, credential }: OutputWorld,
  signal: AbortSignal,
): Promise<Finding> {
  const id = randomUUID()
  const { promise: arrived, resolve } = Promise.withResolvers<number>()
  // Other deliveries must not be acknowledged here: they come again.
  holder.read(({ cloudEvent }) => {
    if (cloudEvent.id !== id) throw new Error('only the event of check is taken')
    resolve(performance.now())
  })
  const publisher = createPublisher({
    output,
    endpoints: surroundings.endpoints,
    logger: silentLogger,
    credential: credential(),
  })
  const { promise: over, reject } = Promise.withResolvers<never>()
  const end = () => reject(new DOMException('it did not come', 'AbortError'))
  signal.addEventListener('abort', end, { once: true })
  try {
    const started = performance.now()
    const metadata = { id, type: roundTripType, subject: 'check' }
    await publisher.publish({ check: id }, { metadata, signal })
    const taken = performance.now()
    const came = await Promise.race([arrived, over])
    return ok(
      `published in ${Math.round(taken - started)} ms, delivered ${Math.round(Math.max(came - taken, 0))} ms later`,
    )
  } finally {
    signal.removeEventListener('abort', end)
    holder.read(undefined)
    await publisher.close()
  }
}
