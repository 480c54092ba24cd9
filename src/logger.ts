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

/** The logger of a host that wants none. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
