import type { AccessToken, GetTokenOptions } from '@azure/core-auth'
import { onTestFinished } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { azureEnvironments } from '../../src/metadata/fields/addresses.ts'
import type { OutputMetadata } from '../../src/metadata/typed/metadata.ts'
import { createPublisher, type PublisherLimits } from '../../src/publisher/publisher.ts'
import type { SteadyClock } from '../../src/support/time/clock.ts'
import { captureLog } from '../support/captured-log.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { refusal } from '../support/refusal.ts'
import { type Answer, startHeldTopic, startTopic, type TopicRequest } from './scripted-topic.ts'

export const accessKey = 'bWFya2VkLWFjY2Vzcy1rZXk='

export interface OpenOptions {
  readonly topicSchema?: OutputMetadata['topicSchema']
  readonly limits?: Partial<PublisherLimits>
  readonly clock?: SteadyClock
  readonly output?: Partial<OutputMetadata>
  /** Without `renew` it has one token only. */
  readonly credential?: {
    getToken(scope: unknown, options?: GetTokenOptions): Promise<AccessToken>
    renew?(refused: string): boolean
  }
  readonly ca?: string
}

/** A publisher that is closed with the test, and its log. */
export function openPublisher(topicEndpoint: string, options: OpenOptions = {}) {
  const log = captureLog()
  const publisher = createPublisher({
    output: {
      topicEndpoint,
      authentication: { kind: 'accessKey', accessKey: new Secret(accessKey) },
      environment: azureEnvironments.AzurePublicCloud,
      topicSchema: options.topicSchema ?? 'auto',
      publishTimeoutMs: 60_000,
      ...options.output,
    },
    endpoints: options.ca === undefined ? {} : { ca: options.ca },
    logger: log,
    random: () => 0.5,
    ...(options.credential && { credential: { renew: () => false, ...options.credential } }),
    ...(options.limits && { limits: options.limits }),
    ...(options.clock && { clock: options.clock }),
  })
  onTestFinished(() => publisher.close())
  return { publisher, log }
}

/** A topic that answers so, and a publisher to it. */
export async function openTopic(answerTo?: (request: TopicRequest) => Answer, options: OpenOptions = {}) {
  const topic = await startTopic(answerTo)
  return { topic, ...openPublisher(topic.endpoint, options) }
}

/** The same for a topic that holds its first answer until `open`. */
export async function openHeldTopic(rest?: Parameters<typeof startHeldTopic>[0], options: OpenOptions = {}) {
  const held = await startHeldTopic(rest)
  return { ...held, ...openPublisher(held.topic.endpoint, options) }
}

/** The same on a clock that stands still. */
export async function openTimedTopic(answerTo: (request: TopicRequest) => Answer, limits?: Partial<PublisherLimits>) {
  const time = createManualClock()
  return { time, ...(await openTopic(answerTo, { clock: time.clock, ...(limits && { limits }) })) }
}

/** Lets the pauses between attempts pass until a call has failed; gives its error. */
export async function failureInTime(time: ReturnType<typeof createManualClock>, call: Promise<unknown>) {
  let failed = false
  const failure = refusal(call).finally(() => {
    failed = true
  })
  while (!failed) {
    const pauseMs = await Promise.race([time.waits((delayMs) => delayMs <= 10_000), failure])
    if (typeof pauseMs === 'number') time.advance(pauseMs)
  }
  return failure
}
