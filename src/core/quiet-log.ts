import { oneLine } from '../support/text.ts'
import type { LogFields, Logger } from './logger.ts'

/** Writes a line at once, then counts the same line for a while, so that no sender can flood the log. */
export interface QuietLog {
  /**
   * `message` is one of a fixed set of sentences; what varies goes into `fields`. With `about`, a printable text, each subject has its own
   * line. At most 16 subjects at a time: a sender who invents subjects can flood neither log nor memory. The others share one line.
   */
  warn(message: string, fields?: LogFields, about?: string): void
  /** The same at level info, for what any scanner or probe may cause. */
  info(message: string, fields?: LogFields, about?: string): void
}

export interface QuietLogOptions {
  readonly logger: Logger
  /** Milliseconds. */
  readonly now: () => number
  /** One line for each message, or subject, in this time. The next line of the message says how many were left out. @default 30_000 */
  readonly intervalMs?: number
}

/** Subjects that have their own line at a time. */
const maxSubjects = 16

export function createQuietLog({ logger, now, intervalMs = 30_000 }: QuietLogOptions): QuietLog {
  const lastAt = new Map<string, number>()
  /** Lines left out since the last written one, by message. */
  const leftOut = new Map<string, number>()
  const subjects = new Set<string>()

  /** Lines with the same key are limited together: the message, or the message and its subject. */
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

  const write = (level: 'warn' | 'info', message: string, fields: LogFields, about?: string) => {
    const at = now()
    const key = keyOf(message, about, at)
    const before = lastAt.get(key)
    const count = leftOut.get(message) ?? 0
    if (before !== undefined && at - before < intervalMs) {
      leftOut.set(message, count + 1)
      return
    }
    lastAt.set(key, at)
    leftOut.delete(message)
    logger[level](message, count > 0 ? { ...fields, leftOut: count } : fields)
  }
  return {
    warn: (message, fields = {}, about) => write('warn', message, fields, about),
    info: (message, fields = {}, about) => write('info', message, fields, about),
  }
}

/** A sender's text for a log line: one printable line, so that it cannot forge another. */
export function printable(text: string, maxLength = 120): string {
  return oneLine(text, maxLength)
}
