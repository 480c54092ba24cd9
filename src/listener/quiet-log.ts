import type { LogFields, Logger } from '../logger.ts'

/** Writes a line now and counts the same line for a while after, so that no sender can flood the log. */
export interface QuietLog {
  /** `message` is one of a fixed set of sentences; what varies goes into `fields`. */
  warn(message: string, fields?: LogFields): void
  /** The same for what any scanner or probe may cause, and nobody need look after. */
  info(message: string, fields?: LogFields): void
}

export interface QuietLogOptions {
  readonly logger: Logger
  /** Milliseconds. */
  readonly now: () => number
  /** One line for each message in this time; the next line tells how many were left out. @default 30_000 */
  readonly intervalMs?: number
}

export function createQuietLog({ logger, now, intervalMs = 30_000 }: QuietLogOptions): QuietLog {
  const seen = new Map<string, { lastAt: number; leftOut: number }>()
  const write = (level: 'warn' | 'info', message: string, fields: LogFields) => {
    const at = now()
    const before = seen.get(message)
    if (before && at - before.lastAt < intervalMs) {
      before.leftOut++
      return
    }
    seen.set(message, { lastAt: at, leftOut: 0 })
    logger[level](message, before && before.leftOut > 0 ? { ...fields, leftOut: before.leftOut } : fields)
  }
  return {
    warn: (message, fields = {}) => write('warn', message, fields),
    info: (message, fields = {}) => write('info', message, fields),
  }
}

/** A sender's text for a log line: printable ASCII only, so that it can't forge a line, and at most `length` characters. */
export function printable(text: string, length = 120): string {
  const safe = text.slice(0, length).replace(/[^\x20-\x7e]/g, '?')
  return text.length > length ? `${safe}...` : safe
}
