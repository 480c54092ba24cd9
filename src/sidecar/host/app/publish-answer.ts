/** Publishes what the application returns over gRPC, in the order that daprd has. */
import type { QuietLog } from '../../../core/logger.ts'
import { messageOf } from '../../../support/process/error-code.ts'
import { readJson } from '../../../support/text/json-text.ts'
import { oneLine } from '../../../support/text/text.ts'
import { inBackground } from '../../../support/work/work.ts'
import { invokePayload } from '../../shared/invoke.ts'
import type { CallOutput } from '../api/call-output.ts'
import type { EventAnswer } from './app-channel.ts'

const maxText = 300

/**
 * Publishes the data of an answer by the components that it names. In sequence the first failure ends it; in parallel nobody waits. The
 * event counts as handled in any case, so a failure is only logged. Once `signal` aborts nothing more is sent.
 */
export function createAnswerPublisher({ callOutput, log }: { callOutput: CallOutput; log: QuietLog }) {
  return async ({ to, data, isParallel }: EventAnswer, signal: AbortSignal): Promise<void> => {
    const payload = payloadOf(data)
    /** False where it failed. */
    async function publish(name: string): Promise<boolean> {
      try {
        await callOutput({ name, operation: 'create', data: payload, metadata: {}, ...(!isParallel && { signal }) })
        return true
      } catch (error) {
        const [shown, reason] = [oneLine(name, maxText), oneLine(messageOf(error), maxText)]
        log.warn('what the application returned for an event could not be published', { to: shown, reason }, shown)
        return false
      }
    }
    for (const name of to) {
      if (isParallel) inBackground(publish(name), () => {})
      else if (signal.aborted || !(await publish(name))) return
    }
  }
}

/** daprd publishes the JSON that the data are, and `null` for all else. */
function payloadOf(data: Buffer): unknown {
  const text = data.toString()
  return readJson(text) === undefined ? null : invokePayload(Buffer.from(text))
}
