/** Writes an event subscription, and waits until it is provisioned, as far as the deadline and Event Grid's own waiting allow. */
import { LroEngine, type LroResponse } from '@azure/core-lro'
import type { PipelineResponse } from '@azure/core-rest-pipeline'
import { ArmFailureError, readFailure, readOperationFailure } from '../../azure/read-failure.ts'
import { readRetryAfter } from '../../azure/retry-after.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { readJson } from '../../support/text/json-text.ts'
import { type SubscriptionPlace, subscriptionIdOf } from '../decide/subscription-place.ts'
import type { Arm, ArmRequest } from './arm-client.ts'
import { type CallLimits, pauseWithin, untilAnswered } from './call-limits.ts'
import { unreadable } from './read-list.ts'

/** A PUT holds the whole event subscription, a PATCH the top-level fields to replace. Holds secrets. */
export interface SubscriptionWrite {
  readonly method: 'PUT' | 'PATCH'
  readonly properties: Readonly<Record<string, unknown>>
}

/** Longest pause between two polls, unless ARM asks for another one. */
const pollIntervalMs = 2_000

/** Longest pause between two polls, whatever ARM asks for. */
const maxPollMs = 60_000

/** Most operations end within so many polls. After them the event subscription itself is read as well. */
const pollsBeforeReading = 2

/**
 * Starts the write and polls its operation until it ends. The SDK's own loop has no deadline, and polls for ever while Event Grid waits for
 * manual validation.
 */
export async function writeSubscription(
  arm: Arm,
  place: SubscriptionPlace,
  { method, properties }: SubscriptionWrite,
  limits: CallLimits,
): Promise<void> {
  const { clock } = arm
  const path = subscriptionIdOf(place)
  const isWrapped = method === 'PUT' || place.kind === 'namespaceTopic'
  const body = isWrapped ? { properties } : properties
  let last: PipelineResponse | undefined
  async function send(request: ArmRequest, within = limits): Promise<LroResponse> {
    last = await arm.send(request, within)
    const { status: statusCode, headers, bodyAsText } = last
    const answer = readJson(bodyAsText)
    if (bodyAsText && !isRecord(answer))
      throw unreadable('it is no JSON object; a proxy may have answered instead of ARM')
    return { flatResponse: answer, rawResponse: { statusCode, headers: headers.toJSON(), body: answer } }
  }
  const operation = new LroEngine({
    requestMethod: method,
    requestPath: path,
    sendInitialRequest: () => untilAnswered(limits, clock, (within) => send({ method, path, body }, within)),
    sendPollRequest: (url) => send({ path: url }),
  })
  try {
    // The first poll sends the request itself.
    for (let polls = 0; ; polls++) {
      await operation.poll()
      if (operation.isDone()) return
      // The operation itself only says that it is under way, for minutes.
      const awaits = awaitsManualAction(readJson(last?.bodyAsText))
      if (awaits || (polls >= pollsBeforeReading && awaitsManualAction(await arm.ask({ path }, limits)))) {
        throw new ArmFailureError({ kind: 'manual', message: 'Event Grid waits for manual validation' })
      }
      const message = 'Azure accepted the change of the event subscription and did not complete it in time'
      await pauseWithin(limits, { clock, ms: decidePollPause(last, polls, clock.now()), message })
    }
  } catch (error) {
    throw writeFailure(error, last, clock.now())
  }
}

function awaitsManualAction(resource: unknown): boolean {
  const properties = isRecord(resource) ? resource.properties : undefined
  return isRecord(properties) && properties.provisioningState === 'AwaitingManualAction'
}

function decidePollPause(answer: PipelineResponse | undefined, polls: number, now: number): number {
  const asked = answer && readRetryAfter((name) => answer.headers.get(name), now)
  if (asked !== undefined) return Math.min(asked, maxPollMs)
  return Math.min(pollIntervalMs, (pollIntervalMs / 10) * 2 ** polls)
}

/** @param last the last answer that was no refusal; there is one where ARM accepted the write */
function writeFailure(error: unknown, last: PipelineResponse | undefined, now: number): unknown {
  const failure = readFailure(error, now)
  const reported = failure.kind === 'operation' ? readOperationFailure(last?.bodyAsText) : undefined
  if (reported) return new ArmFailureError(reported)
  // A status that can't be read, or is gone, says nothing about the scope or the role.
  if (last && failure.kind === 'answer') return new ArmFailureError({ ...failure, kind: 'lost' })
  return error
}
