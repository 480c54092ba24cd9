/** Each message is a line on stderr: text, in colours and local time on a terminal, or JSON, as `--log-level` and `--log-format` say. */
import { type LogFields, type Logger, loggerBy, withTrace } from '../../core/logger.ts'
import { type OptionTexts, readChoice, text } from '../../support/command-line/options.ts'
import { outputOf } from '../../support/command-line/output.ts'
import { hanging, type OutputStream, painter, wrapFor } from '../../support/command-line/terminal.ts'
import { printable } from '../../support/text/text.ts'
import { durationWords } from '../../support/time/clock.ts'

const logLevels = ['debug', 'info', 'warn', 'error'] as const
type LogLevel = (typeof logLevels)[number]

/**
 * `text` is for people: durations are in words. `json` is for programs: one object a line with `time`, `level` and
 * `msg`, as in daprd's log, and the fields; durations are in milliseconds.
 */
const logFormats = ['text', 'json'] as const

export const logOptions = {
  'log-level': text('LEVEL', `${logLevels.join(', ')} (default info)`),
  'log-format': text('FORMAT', `${logFormats.join(' or ')}, on stderr (default text)`),
}

type LogOptions = ReturnType<typeof readLogOptions>

export const readLogOptions = (values: OptionTexts<typeof logOptions>) => ({
  level: readChoice(logLevels, 'log-level', values['log-level'] ?? 'info'),
  format: readChoice(logFormats, 'log-format', values['log-format'] ?? 'text'),
})

/** Makes loggers that write to stderr: for the lines of one component, or of the process where no name is given. */
export function createLoggers(options: LogOptions): (component?: string) => Logger {
  const out = outputOf(2)
  return (component) =>
    withTrace(createLogWriter({ ...options, out, ...(component !== undefined && { fields: { component } }) }))
}

interface LogWriterOptions extends LogOptions {
  /** Takes whole lines. */
  readonly out: OutputStream
  readonly fields?: LogFields
}

export function createLogWriter({ level, format, out, fields: common }: LogWriterOptions) {
  const lineOf = format === 'json' ? jsonLine : textLineFor(out)
  return loggerBy((lineLevel, message, fields) => {
    if (logLevels.indexOf(lineLevel) < logLevels.indexOf(level)) return
    out.write(lineOf(new Date(), lineLevel, message, { ...common, ...fields }))
  })
}

function jsonLine(time: Date, level: LogLevel, msg: string, fields: LogFields): string {
  return `${JSON.stringify({ ...fields, time: time.toISOString(), level, msg })}\n`
}

const tones = { debug: 'faint', info: 'plain', warn: 'warning', error: 'bad' } as const

function textLineFor(out: OutputStream) {
  const paint = painter(out)
  /** Wraps each line of a text. @param column where the first line begins, because the time stands before it */
  const wrapLines = (text: string, column: number) =>
    text
      .split('\n')
      .map((line, at) => wrapFor(out, line, { column: at === 0 ? column : 0, indent: hanging }))
      .join('\n')
  return (time: Date, level: LogLevel, msg: string, fields: LogFields): string => {
    // A person reads the time beside a clock on the wall; a file is read anywhere.
    const shownTime = out.isTTY ? time.toTimeString().slice(0, 8) : time.toISOString()
    const said = wrapLines(`${level.padEnd(5)} ${indented(msg)}`, shownTime.length + 1)
    const last = said.slice(said.lastIndexOf('\n') + 1)
    const more = fieldWords(fields).map((word) => ` ${word}`)
    const column = last.length + (last === said ? shownTime.length + 1 : 0)
    return `${paint(shownTime, 'faint')} ${paint(said, tones[level])}${wrapFor(out, more.join(''), { column, indent: hanging })}\n`
  }
}

function fieldWords(fields: LogFields): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return []
    const isDuration = typeof value === 'number' && /.Ms$/.test(name)
    return isDuration ? `${name.slice(0, -2)}=${quoted(durationWords(value))}` : `${name}=${quoted(String(value))}`
  })
}

const quoted = (value: string) => (/^[\w@:./-]+$/.test(value) ? value : JSON.stringify(value))

/** Further lines of a message are indented, so that each line without is a message. */
const indented = (text: string) =>
  text
    .split(/\r?\n/)
    .map(printable)
    .join(`\n${' '.repeat(hanging)}`)
