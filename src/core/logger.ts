/** The interface `Logger`, and what makes one of it that never throws, tells the trace, or says nothing. */
import { trace } from '@opentelemetry/api'
import { mustHave } from '../support/process/option-checks.ts'
import { dropErrors } from '../support/work/drop-errors.ts'

/** The fields of a log line. Never a secret: a logger writes them unchanged. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Where the binding's log lines go; `console` fits. A line never holds a secret.
 * Passed in by the host: there is no global logger, and without one the binding is silent.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const checkMethods = mustHave('debug', 'info', 'warn', 'error')

/** @throws TypeError for a value that is no logger, and for one of pino's, whose methods take the fields first */
export function checkLogger(name: string, logger: unknown): void {
  checkMethods(name, logger)
  if (typeof logger !== 'object' || logger === null || !('child' in logger && 'bindings' in logger)) return
  throw new TypeError(`${name} takes the fields first, as pino does: give objectFirst(logger)`)
}

/** A logger all of whose levels write by one function. */
export const loggerBy = (
  write: (level: keyof Logger, message: string, fields: LogFields | undefined) => void,
): Logger => ({
  debug: (message, fields) => write('debug', message, fields),
  info: (message, fields) => write('info', message, fields),
  warn: (message, fields) => write('warn', message, fields),
  error: (message, fields) => write('error', message, fields),
})

/**
 * A host's logger whose errors are ignored: a line that can't be written must neither end the process nor fail an event.
 * A line without fields has no second argument: `console` would write `undefined`.
 */
export function unfailing(logger: Logger): Logger {
  return loggerBy((level, message, fields) => {
    // An async function is a logger for the compiler, too.
    dropErrors((): unknown => (fields === undefined ? logger[level](message) : logger[level](message, fields)))
  })
}

/** A logger that takes the fields before the message: pino's, bunyan's, Fastify's `log`. */
export interface ObjectFirstLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * Adapts a logger that takes the fields first: pino, bunyan, Fastify's `log`.
 *
 * ```ts
 * const binding = new Binding({ logger: objectFirst(pino()) })
 * ```
 *
 * @throws TypeError where a method is missing
 */
export function objectFirst(logger: ObjectFirstLogger): Logger {
  checkMethods('the logger of objectFirst', logger)
  // What the logger gives is handed on: it may be a promise that rejects.
  return loggerBy((level, message, fields) => logger[level](fields ?? {}, message))
}

/** A logger that adds `traceId` and `spanId` of the active span to each line. */
export function withTrace(logger: Logger): Logger {
  return loggerBy((level, message, fields) => {
    const { traceId, spanId } = dropErrors(() => trace.getActiveSpan()?.spanContext()) ?? {}
    logger[level](message, traceId === undefined ? fields : { ...fields, traceId, spanId })
  })
}

/** Writes nothing. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
