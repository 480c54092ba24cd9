/** `--log-level` and `--log-format` say how loggers write to stderr. */
import { type Logger, withTrace } from '../../../core/logger.ts'
import { type OptionTexts, readChoice, text } from '../../../support/command-line/parse-options.ts'
import { createLogWriter, type LogOptions, logFormats, logLevels } from '../log-writer.ts'

export const logOptions = {
  'log-level': text('LEVEL', `${logLevels.join(', ')} (default info)`),
  'log-format': text('FORMAT', `${logFormats.join(' or ')}, on stderr (default text)`),
}

export function readLogOptions(values: OptionTexts<typeof logOptions>): LogOptions {
  return {
    level: readChoice(logLevels, 'log-level', values['log-level'] ?? 'info'),
    format: readChoice(logFormats, 'log-format', values['log-format'] ?? 'text'),
  }
}

/** Makes loggers that write to stderr: for the lines of one component, or of the process where no name is given. */
export function createLoggers(options: LogOptions): (component?: string) => Logger {
  const { stderr: out } = process
  return (component) =>
    withTrace(createLogWriter({ ...options, out, ...(component !== undefined && { fields: { component } }) }))
}
