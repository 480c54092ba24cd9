/** The interface `Logger`, loggers that never throw or that tell the trace, and a log whose repeated lines come once in 30 s. */
import { trace } from '@opentelemetry/api'
import { mustHave } from '../support/process/option-checks.ts'
import type { CancelTimer, Clock } from '../support/time/clock.ts'
import { dropErrors } from './telemetry.ts'

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

export type QuietLog = ReturnType<typeof createQuietLog>

export interface QuietLogOptions {
  readonly logger: Logger
  readonly now: () => number
  /** With it, lines that were left out are counted in a line of their own at the end of that time. @default none */
  readonly clock?: Pick<Clock, 'setTimer'>
}

/** A function is called only where the line is written. */
export type QuietFields = LogFields | (() => LogFields)

const maxSubjects = 16

/** One line for each message, or subject, in this time. The next line of the message says how many were left out. */
const intervalMs = 30_000

/** Makes a log that writes a line at once, then counts the same line for a while, so that no sender can flood it. */
export function createQuietLog({ logger, now, clock }: QuietLogOptions) {
  const lastAt = new Map<string, number>()
  const leftOut = new Map<string, { count: number; write: () => void; cancel: CancelTimer | undefined }>()
  const subjects = new Set<string>()
  let closed = false

  /** What lines are bounded by: the message, or it with its subject. */
  function keyOf(message: string, about: string | undefined, at: number): string {
    if (about === undefined) return message
    const key = `${message} ${about}`
    if (subjects.has(key)) return key
    for (const old of subjects) {
      if (at - (lastAt.get(old) ?? 0) < intervalMs) continue
      subjects.delete(old)
      lastAt.delete(old)
    }
    if (subjects.size >= maxSubjects) return message
    subjects.add(key)
    return key
  }

  /** Writes a line, with the number of those like it that were left out before. */
  function writeNow(level: 'warn' | 'info', message: string, fields: QuietFields): void {
    const before = leftOut.get(message)
    before?.cancel?.()
    leftOut.delete(message)
    const written = typeof fields === 'function' ? fields() : fields
    logger[level](message, before ? { ...written, leftOut: before.count } : written)
  }

  const write = (level: 'warn' | 'info', message: string, fields: QuietFields, about?: string) => {
    const at = now()
    const key = keyOf(message, about, at)
    const before = lastAt.get(key)
    if (before === undefined || at - before >= intervalMs) {
      lastAt.set(key, at)
      writeNow(level, message, fields)
      return
    }
    const like = leftOut.get(message)
    if (like) {
      like.count++
      return
    }
    const writeCount = () => writeNow(level, message, {})
    const cancel = closed ? undefined : clock?.setTimer(intervalMs, writeCount)
    leftOut.set(message, { count: 1, write: writeCount, cancel })
  }
  return {
    /**
     * `message` is one of a fixed set of sentences; what varies goes into `fields`. With `about`, a printable text, each subject has its
     * own line. At most 16 subjects at a time: a sender who invents subjects can flood neither log nor memory. The others share one line.
     */
    warn: (message: string, fields: QuietFields = {}, about?: string) => write('warn', message, fields, about),
    /** The same at level info, for what any scanner or probe may cause. */
    info: (message: string, fields: QuietFields = {}, about?: string) => write('info', message, fields, about),
    /** Every line, at level debug. */
    debug: (message: string, fields: () => LogFields) => logger.debug(message, fields()),
    /**
     * Writes now how many lines were left out, and ends the timers. No timer is set afterwards, because it would keep the process alive.
     * Later lines are still written, one in 30 s; the next line of the message says how many were left out.
     */
    close() {
      closed = true
      for (const { write } of [...leftOut.values()]) write()
    },
  }
}
