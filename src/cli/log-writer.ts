import type { LogFields, Logger } from '../core/logger.ts'
import { printable } from '../support/text.ts'

/** From the least to the most important. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number]

/**
 * `text` is for people, `json` for what collects logs: one object a line with `time`,
 * `level`, `message` and the fields.
 */
export const logFormats = ['text', 'json'] as const
/** One of {@link logFormats}. */
export type LogFormat = (typeof logFormats)[number]

/** What {@link createLogWriter} needs. */
export interface LogWriterOptions {
  readonly level: LogLevel
  readonly format: LogFormat
  /** Takes whole lines. */
  readonly write: (line: string) => void
  /** On every line. */
  readonly fields?: LogFields
  /** @default the present */
  readonly now?: () => Date
}

/** A logger that writes a line for each message of its level or above. */
export function createLogWriter({ level, format, write, fields: common, now = () => new Date() }: LogWriterOptions) {
  const lineOf = format === 'json' ? jsonLine : textLine
  const at =
    (lineLevel: LogLevel): Logger[LogLevel] =>
    (message, fields) => {
      if (logLevels.indexOf(lineLevel) < logLevels.indexOf(level)) return
      write(lineOf(now(), lineLevel, message, { ...common, ...fields }))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } satisfies Logger
}

function jsonLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  return `${JSON.stringify({ time: time.toISOString(), level, message, ...fields })}\n`
}

function textLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  const shown = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${/^[\w@:./-]+$/.test(String(value)) ? value : JSON.stringify(value)}`],
  )
  return `${[time.toISOString(), level.padEnd(5), indented(message), ...shown].join(' ')}\n`
}

/**
 * Further lines of a message are indented, so that each line without is a message; other control
 * characters would move the cursor.
 */
function indented(text: string): string {
  return text.split(/\r?\n/).map(printable).join('\n  ')
}
