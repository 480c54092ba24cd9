/** Waits until a write is provisioned, as far as the deadline and Event Grid's own waiting allow. */
import { ArmFailureError, readFailure, readOperationFailure } from '../../azure/read-failure.ts'
import { readRetryAfter } from '../../azure/retry-after.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { readJson } from '../../support/text/json-text.ts'
import type { SteadyClock } from '../../support/time/clock.ts'
import { type CallLimits, pauseWithin } from './call-limits.ts'
import type { OnResponse, Poller, RawResponse } from './subscription-calls.ts'

interface CompleteWriteOptions {
  readonly limits: CallLimits
  readonly clock: SteadyClock
  /** Reads the event subscription itself. */
  readonly readState: () => Promise<unknown>
}

/** Longest pause between two polls, unless ARM asks for another one. */
const pollIntervalMs = 2_000

/** Longest pause between two polls, whatever ARM asks for. */
const maxPollMs = 60_000

/** Most operations end within so many polls. After them the event subscription itself is read as well. */
const pollsBeforeReading = 2

/**
 * Starts a write and polls its operation until it ends. The SDK's own loop has no deadline, and polls for ever while Event Grid waits for
 * manual validation.
 */
export async function completeWrite(
  begin: (onResponse: OnResponse) => Promise<Poller>,
  { limits, clock, readState }: CompleteWriteOptions,
): Promise<void> {
  let last: RawResponse | undefined
  let accepted = false
  const onResponse = (response: RawResponse) => {
    last = response
    accepted ||= response.status < 400
  }
  try {
    const poller = await begin(onResponse)
    for (let polls = 0; !poller.isDone(); polls++) {
      if (await needsManualValidation(last, polls, readState)) {
        throw new ArmFailureError({ kind: 'manual', message: 'Event Grid waits for manual validation' })
      }
      const message = 'Azure accepted the change of the event subscription and did not complete it in time'
      await pauseWithin(limits, { clock, ms: decidePollPause(last, polls, clock.now()), message })
      await poller.poll()
    }
  } catch (error) {
    throw writeFailure(error, { last, accepted, now: clock.now() })
  }
}

/** The operation itself only says that it is under way, for minutes. */
async function needsManualValidation(
  answer: RawResponse | undefined,
  polls: number,
  readState: () => Promise<unknown>,
): Promise<boolean> {
  if (awaitsManualAction(readJson(answer?.bodyAsText))) return true
  return polls >= pollsBeforeReading && awaitsManualAction(await readState())
}

function awaitsManualAction(resource: unknown): boolean {
  const properties = isRecord(resource) ? resource.properties : undefined
  return isRecord(properties) && properties.provisioningState === 'AwaitingManualAction'
}

function decidePollPause(answer: RawResponse | undefined, polls: number, now: number): number {
  const asked = answer && readRetryAfter((name) => answer.headers.get(name), now)
  if (asked !== undefined) return Math.min(asked, maxPollMs)
  return Math.min(pollIntervalMs, (pollIntervalMs / 10) * 2 ** polls)
}

function writeFailure(
  error: unknown,
  { last, accepted, now }: { readonly last: RawResponse | undefined; readonly accepted: boolean; readonly now: number },
): unknown {
  const failure = readFailure(error, now)
  const reported = failure.kind === 'operation' ? readOperationFailure(last?.bodyAsText) : undefined
  if (reported) return new ArmFailureError(reported)
  // ARM accepted the write. A status that can't be read, or is gone, says nothing about the scope or the role.
  if (accepted && failure.kind === 'answer') return new ArmFailureError({ ...failure, kind: 'lost' })
  return error
}
