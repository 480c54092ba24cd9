/** Facts that go with a log line. Never a secret: a logger writes them as they are. */
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

/** A host's logger, whose failures are its own: a line that can't be written must not end a process or cost an event its place. */
export function unfailing(logger: Logger): Logger {
  const guarded = (level: keyof Logger) => (message: string, fields?: LogFields) => {
    try {
      logger[level](message, fields)
    } catch {}
  }
  return { debug: guarded('debug'), info: guarded('info'), warn: guarded('warn'), error: guarded('error') }
}

/** A logger without warnings that somebody else says already. */
export function withoutWarnings(logger: Logger, known: readonly string[]): Logger {
  return { ...logger, warn: (message, fields) => known.includes(message) || logger.warn(message, fields) }
}

/** The logger of a host that wants none. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
