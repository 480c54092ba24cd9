/** The interface `Logger`, loggers that never throw or that tell the trace, and a log that joins lines that repeat. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { trace } from '@opentelemetry/api'
import { mustHave } from '../support/process/option-checks.ts'
import { type CancelTimer, type Clock, createClock } from '../support/time/clock.ts'
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

/** @throws TypeError for a value without the methods of a logger, and for a logger of pino, whose methods take the fields first */
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
  /** @default the machine's, whose timer keeps no process alive */
  readonly clock?: Pick<Clock, 'setTimer'>
}

/** Fields, or a function that gives them. The function is called only where a line is written. */
export type QuietFields = LogFields | (() => LogFields)

type Level = 'error' | 'warn' | 'info'

/** Lines that repeat the last written line. */
interface Repeated {
  readonly write: (fields: LogFields) => void
  readonly cancel: CancelTimer
  leftOut: number
  last: QuietFields
  /** The first {@link maxIds} different values of their field `id`. */
  readonly ids: Set<unknown>
}

/** Time in which lines like one that was written are joined. */
const intervalMs = 30_000

/** Ids that a joined line shows. */
const maxIds = 20

/** Messages and subjects that are known at a time. */
const maxKnown = 32

const unrefClock = createClock({ keepsAlive: false })

/**
 * Makes a log that no sender can flood. The first line of a message is written at once. Repetitions within 30 s are joined to one line at
 * the end of that time. This line has the fields of the last repetition and `leftOut`, the number of repetitions. In place of `id` it has
 * `ids`, with up to twenty different ids.
 */
export function createQuietLog({ logger, clock = unrefClock }: QuietLogOptions) {
  const known = new Map<string, Repeated>()
  // Without this snapshot the timer would run in the context of one delivery, and the joined line would have the trace of that delivery.
  const inOwnContext = AsyncLocalStorage.snapshot()
  let closed = false

  function write(level: Level, message: string, fields: QuietFields, subject = ''): void {
    const own = `${message}\n${subject}`
    const key = known.has(own) || known.size < maxKnown ? own : message
    const like = known.get(key)
    if (like) {
      addId(like, fields)
      like.leftOut++
      like.last = fields
    } else begin(key, (shown) => logger[level](message, shown), fields)
  }

  function begin(key: string, line: Repeated['write'], fields: QuietFields): void {
    line(valuesOf(fields))
    // No timer may outlive its owner. What comes afterwards is of the last handler calls, so it is bounded.
    if (closed) return
    const cancel = inOwnContext(() => clock.setTimer(intervalMs, () => end(key)))
    known.set(key, { write: line, cancel, leftOut: 0, last: fields, ids: new Set() })
  }

  /** Writes the joined line, if there is one, and then joins the lines that follow. */
  function end(key: string): void {
    const like = known.get(key)
    known.delete(key)
    if (like && like.leftOut > 0) begin(key, like.write, joined(like))
  }

  return {
    /**
     * `message` is one of a fixed set of sentences; what varies goes into `fields`. Each `subject` of a message has lines of its own, up
     * to {@link maxKnown} at a time: a sender who invents subjects can flood neither log nor memory.
     */
    warn: (message: string, fields: QuietFields = {}, subject?: string) => write('warn', message, fields, subject),
    /** The same at level error, for what is a fault of our code or the host's. */
    error: (message: string, fields: QuietFields = {}, subject?: string) => write('error', message, fields, subject),
    /** The same at level info, for what any scanner or probe may cause. */
    info: (message: string, fields: QuietFields = {}, subject?: string) => write('info', message, fields, subject),
    /** Every line, at level debug. */
    debug: (message: string, fields: () => LogFields) => logger.debug(message, fields()),
    /** Writes now what waits to be joined, and ends the timers. Later lines are written one by one. */
    close(): void {
      closed = true
      for (const [key, { cancel }] of known) {
        cancel()
        end(key)
      }
    },
  }
}

/** Reads the fields only where their id is shown. */
function addId({ leftOut, ids }: Repeated, fields: QuietFields): void {
  const mayHaveId = leftOut === 0 || ids.size > 0
  if (!mayHaveId || ids.size >= maxIds) return
  const { id } = valuesOf(fields)
  if (id !== undefined) ids.add(id)
}

function joined({ last, leftOut, ids }: Repeated): LogFields {
  const { id: _one, ...fields } = valuesOf(last)
  return { ...(ids.size > 0 && { ids: [...ids].join(', ') }), ...fields, leftOut }
}

const valuesOf = (fields: QuietFields): LogFields => (typeof fields === 'function' ? fields() : fields)
