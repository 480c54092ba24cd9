import type { LogFields, Logger } from '../../src/core/logger.ts'

/** One line that a logger was given. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: LogFields | undefined
}

/** A logger that keeps its lines. */
export interface CapturedLog extends Logger {
  readonly lines: readonly LogLine[]
  /** Every line as one text, fields and all. */
  text(): string
}

/** A logger whose lines a test can read. */
export function captureLog(): CapturedLog {
  const lines: LogLine[] = []
  const at = (level: LogLine['level']) => (message: string, fields?: LogFields) =>
    void lines.push({ level, message, fields })
  return {
    lines,
    text: () => lines.map((line) => `${line.level} ${line.message} ${JSON.stringify(line.fields ?? {})}`).join('\n'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  }
}
