import type { LogFields, Logger } from '../core/logger.ts'
import type { Terminal } from './terminal.ts'

/** A logger that writes to a terminal, each line with a name before it; what is for debugging is left out. */
export function terminalLogger(terminal: Terminal, name: string): Logger {
  const at = (level: string) => (message: string, fields?: LogFields) => {
    const [first = '', ...more] = message.split('\n')
    terminal.line(`${name}: ${level}${first}${textOf(fields)}`)
    for (const line of more) terminal.line(`${name}: ${level}${line}`)
  }
  return { debug() {}, info: at(''), warn: at('warning: '), error: at('error: ') }
}

function textOf(fields: LogFields = {}): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : ` (${given.map(([name, value]) => `${name}: ${value}`).join(', ')})`
}
