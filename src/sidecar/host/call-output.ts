/** Calls of output bindings by their names, with Dapr's words where one fails: by the API, and with what the application returns. */
import type { ComponentAnswer } from '../../binding/binding-component.ts'
import { shownMessage } from '../../core/errors.ts'
import type { QuietLog } from '../../core/logger.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { readJson } from '../../support/text/json-text.ts'
import { oneLine } from '../../support/text/text.ts'
import { inBackground } from '../../support/work/work.ts'
import { invokePayload } from '../shared/invoke.ts'
import type { EventAnswer } from './app/app-channel.ts'
import type { ComponentSet } from './component-set.ts'

export interface OutputCall {
  readonly name: string
  readonly operation: string | null | undefined
  readonly data: unknown
  readonly metadata: Readonly<Record<string, string>>
  /** Ends the call. */
  readonly signal?: AbortSignal
}

/** A call that failed, with Dapr's message. */
export class OutputCallError extends Error {
  override readonly name = 'OutputCallError'
}

/** Runs an operation of an output binding. @throws OutputCallError for every failure */
export type CallOutput = (call: OutputCall) => Promise<ComponentAnswer>

const maxName = 120
const maxNames = 2_000

/** Calls to the running components. Dapr's answer about an unknown name does not tell the known ones: the log does. */
export function createCallOutput(options: { readonly running: ComponentSet; readonly log: QuietLog }): CallOutput {
  const { running, log } = options
  function logUnknown(name: string): void {
    const names = running.components().map(({ loaded }) => loaded.component.name)
    const called = oneLine(name, maxName)
    log.warn('a call names an unknown component', { called, known: oneLine(names.join(', '), maxNames) }, called)
  }

  return async ({ name, operation, data, ...call }) => {
    const refusal = (why: string, cause?: unknown) =>
      new OutputCallError(`error invoking output binding ${name}: ${why}`, { cause })
    if (!operation) throw refusal('operation field is missing from request')
    const component = running.find(name)
    if (!component) {
      logUnknown(name)
      throw refusal(`couldn't find output binding ${name}`)
    }
    const operations = component.operations()
    if (!operations.includes(operation)) {
      const supported = `supported operations:${operations.join(' ')}`
      throw refusal(`binding ${name} does not support operation ${operation}. ${supported}`)
    }
    try {
      return await component.invoke(operation, data, call)
    } catch (error) {
      throw refusal(shownMessage(error), error)
    }
  }
}

const maxText = 300

/**
 * Publishes the data of an answer by the components that it names. In sequence the first failure ends it; in parallel nobody waits. The
 * event counts as handled in any case, so a failure is only logged. Once `signal` aborts nothing more is sent.
 */
export function createAnswerPublisher({ callOutput, log }: { callOutput: CallOutput; log: QuietLog }) {
  return async ({ to, data, isParallel }: EventAnswer, signal: AbortSignal): Promise<void> => {
    const payload = payloadOf(data)
    /** False where a publish failed. */
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
