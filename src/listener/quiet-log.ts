import type { LogFields, Logger } from '../logger.ts'

/** Writes a line now and counts the same line for a while after, so that no sender can flood the log. */
export interface QuietLog {
  /**
   * `message` is one of a fixed set of sentences; what varies goes into `fields`. With `about`, a printable text, each subject has a line of its
   * own: 16 of them at a time, so that a sender who invents subjects can't flood the log or the memory; the others share one line.
   */
  warn(message: string, fields?: LogFields, about?: string): void
  /** The same for what any scanner or probe may cause, and nobody need look after. */
  info(message: string, fields?: LogFields, about?: string): void
}

export interface QuietLogOptions {
  readonly logger: Logger
  /** Milliseconds. */
  readonly now: () => number
  /** One line for each message in this time; the next line tells how many were left out. @default 30_000 */
  readonly intervalMs?: number
}

/** Subjects with a line of their own at a time. */
const mostSubjects = 16

export function createQuietLog({ logger, now, intervalMs = 30_000 }: QuietLogOptions): QuietLog {
  const seen = new Map<string, { lastAt: number; leftOut: number }>()
  const subjects = new Map<string, number>()

  /** What lines are counted by. */
  function keyOf(message: string, about: string | undefined, at: number): string {
    if (about === undefined) return message
    const key = `${message} ${about}`
    if (!subjects.has(key)) {
      for (const [old, lastAt] of subjects) {
        if (at - lastAt < intervalMs) continue
        subjects.delete(old)
        seen.delete(old)
      }
      if (subjects.size >= mostSubjects) return message
    }
    return key
  }

  const write = (level: 'warn' | 'info', message: string, fields: LogFields, about?: string) => {
    const at = now()
    const key = keyOf(message, about, at)
    const before = seen.get(key)
    if (before && at - before.lastAt < intervalMs) {
      before.leftOut++
      return
    }
    seen.set(key, { lastAt: at, leftOut: 0 })
    if (key !== message) subjects.set(key, at)
    logger[level](message, before && before.leftOut > 0 ? { ...fields, leftOut: before.leftOut } : fields)
  }
  return {
    warn: (message, fields = {}, about) => write('warn', message, fields, about),
    info: (message, fields = {}, about) => write('info', message, fields, about),
  }
}

/** A sender's text for a log line: printable ASCII only, so that it can't forge a line, and at most `length` characters. */
export function printable(text: string, length = 120): string {
  const safe = text.slice(0, length).replace(/[^\x20-\x7e]/g, '?')
  return text.length > length ? `${safe}...` : safe
}
