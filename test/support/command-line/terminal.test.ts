import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogWriter } from '../../../src/sidecar/cli/log-writer.ts'
import { createTerminal } from '../../../src/support/command-line/terminal.ts'

/** The terminal in which the tests run may be dumb, or without colours, or that of CI. */
beforeEach(() => void vi.stubEnv('TERM', 'xterm').stubEnv('NO_COLOR', '').stubEnv('CI', ''))
afterEach(() => void vi.unstubAllEnvs())

function capture(stream: { readonly isTTY?: boolean; readonly columns?: number }) {
  const written: string[] = []
  const terminal = createTerminal({ ...stream, write: (text) => void written.push(text) })
  return { terminal, written }
}

it('writes lines, and no live line, where there is no terminal', () => {
  const { terminal, written } = capture({})
  terminal.update('1 event')
  terminal.line('one')
  terminal.finish()
  expect(written).toEqual(['one\n'])
})

it.each([
  { name: 'paints on a terminal', env: {}, painted: true, live: true },
  { name: 'does not paint with NO_COLOR', env: { NO_COLOR: '1' }, painted: false, live: true },
  { name: 'writes no control codes to a dumb terminal', env: { TERM: 'dumb' }, painted: false, live: false },
])('$name', ({ env, painted, live }) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const { terminal, written } = capture({ isTTY: true })
  terminal.parts([{ text: 'bad', tone: 'bad' }])
  expect(written).toEqual([painted ? '\x1b[31mbad\x1b[0m\n' : 'bad\n'])
  terminal.update('1 event')
  expect(written.length - 1).toBe(live ? 1 : 0)
})

it('keeps the live line below the others on a terminal', () => {
  const { terminal, written } = capture({ isTTY: true })
  terminal.update('1 event')
  terminal.line('one')
  terminal.finish()
  terminal.line('two')
  expect(written).toEqual(['\r\x1b[K1 event', '\r\x1b[Kone\n1 event', '\r\x1b[K', 'two\n'])
})

it.each([
  { name: 'cuts the live line so that it does not wrap', columns: 6, shown: '12 ev' },
  { name: 'takes a width of 0 for an unknown one', columns: 0, shown: '12 events' },
])('$name', ({ columns, shown }) => {
  const { terminal, written } = capture({ isTTY: true, columns })
  terminal.update('12 events')
  expect(written).toEqual([`\r\x1b[K${shown}`])
})

it('lets nobody move the cursor or begin a line', () => {
  const { terminal, written } = capture({})
  terminal.line('an \x1b[2Jerror\r\nwith a \u009bline')
  expect(written).toEqual(['an  [2Jerror  with a  line\n'])
})

it('paints parts of a line only where that is wanted', () => {
  const parts = [
    { text: 'bad\x1b[2J', tone: 'bad' },
    { text: ' plain', tone: 'plain' },
  ] as const
  const lines = [false, true].map((colour) => {
    const written: string[] = []
    createTerminal({ write: (text) => written.push(text) }, colour).parts(parts)
    return written.join('')
  })
  expect(lines).toEqual(['bad [2J plain\n', '\x1b[31mbad [2J\x1b[0m plain\n'])
})

it.each([
  { name: 'on a terminal', stream: { isTTY: true }, is: /^<2m>\d\d:\d\d:\d\d<0m> <31m>error no<0m> a=1\n$/ },
  { name: 'on a dumb one', stream: { isTTY: true }, env: 'dumb', is: /^\d\d:\d\d:\d\d error no a=1\n$/ },
  { name: 'in a file', stream: {}, is: /^\d{4}-\d\d-\d\dT[\d:.]+Z error no a=1\n$/ },
])('logs text $name by one clock', ({ stream, env, is }) => {
  if (env) vi.stubEnv('TERM', env)
  const written: string[] = []
  const out = { ...stream, write: (line: string) => written.push(line) }
  createLogWriter({ level: 'info', format: 'text', out }).error('no', { a: 1 })
  expect(written.join('').replaceAll(new RegExp(`${String.fromCharCode(27)}\\[(\\d+m)`, 'g'), '<$1>')).toMatch(is)
  createLogWriter({ level: 'info', format: 'json', out }).warn('no')
  expect(JSON.parse(written[1] ?? '')).toMatchObject({ time: expect.stringMatching(/^\d{4}-.*Z$/), level: 'warn' })
})

const az = 'az role assignment create --assignee 1 --scope /subscriptions/1'

it.each<[name: string, text: string, shown: readonly string[], head?: string]>([
  ['below its beginning', '  one two three four', ['  one two', '    three', '    four']],
  ['in the column of the last part', 'one two three', ['✓ id one two', '     three'], '✓ id '],
  ['in half of a narrow terminal', 'one two', ['✓ machine one', '      two'], '✓ machine '],
  ['before a word that is too long', 'see https://a.example/b now', ['see', '  https://a.example/b', '  now']],
  ['and keeps a command', az, [az]],
  ['and keeps an indented command', `  ${az}`, [`  ${az}`]],
  ['and keeps a command after a colon', `assign it: ${az}`, ['assign it:', `  ${az}`]],
  ['and keeps a command in a value', `no role fix="${az}"`, ['no role', `  fix="${az}"`]],
  ['and keeps this program with its command', 'or by eventgrid-binding run', ['or by', '  eventgrid-binding run']],
  ['but not what the program says', 'eventgrid-binding run: no', ['eventgrid-binding run:', '  no']],
])('breaks prose at spaces %s', (_name, text, shown, head) => {
  const { terminal, written } = capture({ isTTY: true, columns: 13 })
  if (head === undefined) terminal.line(text)
  else terminal.parts([head, text].map((text) => ({ text, tone: 'plain' })))
  expect(written.join('').split('\n').slice(0, -1)).toEqual(shown)
})

it.each<[name: string, stream: object, env?: string, write?: 'line' | 'data']>([
  ['data', { isTTY: true, columns: 13 }, '', 'data'],
  ['in a pipe', { columns: 13 }],
  ['where the width is not known', { isTTY: true, columns: 0 }],
  ['in CI', { isTTY: true, columns: 13 }, 'true'],
])('breaks nothing: %s', (_name, stream, env = '', write = 'line') => {
  vi.stubEnv('CI', env)
  const { terminal, written } = capture(stream)
  terminal[write]('one two three four')
  expect(written).toEqual(['one two three four\n'])
})

it('breaks the log at spaces, and indents what follows', () => {
  vi.stubEnv('NO_COLOR', '1')
  const written: string[] = []
  const out = { isTTY: true, columns: 30, write: (line: string) => written.push(line) }
  createLogWriter({ level: 'info', format: 'text', out }).info(`assign the role, and wait:\n${az}`, {
    component: 'orders',
  })
  expect(written.join('').replace(/^[\d:]{8}/, '12:00:00')).toBe(
    `12:00:00 info  assign the\n  role, and wait:\n  ${az}\n  component=orders\n`,
  )
})
