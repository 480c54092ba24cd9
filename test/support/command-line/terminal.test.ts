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
  {
    name: 'on a terminal',
    stream: { isTTY: true },
    is: /^<2m>\d\d:\d\d:\d\d<0m> <31m>error no<0m> a=1\n$/,
  },
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

it.each([
  { name: 'below its beginning', text: '  one two three four', shown: ['  one two', '    three', '    four'] },
  {
    name: 'in the column of the last part',
    head: '✓ id ',
    text: 'one two three',
    shown: ['✓ id one two', '     three'],
  },
  { name: 'in half of a narrow terminal', head: '✓ machine ', text: 'one two', shown: ['✓ machine one', '      two'] },
  {
    name: 'before a word that is too long',
    text: 'see https://a.example/b now',
    shown: ['see', '  https://a.example/b', '  now'],
  },
  { name: 'and keeps a command', text: az, shown: [az] },
  { name: 'and keeps an indented command', text: `  ${az}`, shown: [`  ${az}`] },
  { name: 'and keeps a command after a colon', text: `assign it: ${az}`, shown: ['assign it:', `  ${az}`] },
  { name: 'and keeps a command in a value', text: `no role fix="${az}"`, shown: ['no role', `  fix="${az}"`] },
  {
    name: 'and keeps this program with its command',
    text: 'or by eventgrid-binding run',
    shown: ['or by', '  eventgrid-binding run'],
  },
  {
    name: 'but not what the program says',
    text: 'eventgrid-binding run: no',
    shown: ['eventgrid-binding run:', '  no'],
  },
])('breaks prose at spaces $name', ({ head, text, shown }) => {
  const { terminal, written } = capture({ isTTY: true, columns: 13 })
  if (head === undefined) terminal.line(text)
  else terminal.parts([head, text].map((text) => ({ text, tone: 'plain' })))
  expect(written.join('').split('\n').slice(0, -1)).toEqual(shown)
})

it.each([
  { name: 'data', stream: { isTTY: true, columns: 13 }, write: 'data' },
  { name: 'in a pipe', stream: { columns: 13 } },
  { name: 'where the width is not known', stream: { isTTY: true, columns: 0 } },
  { name: 'in CI', stream: { isTTY: true, columns: 13 }, env: 'true' },
] as const)(
  'breaks nothing: $name',
  ({
    stream,
    env = '',
    write = 'line',
  }: {
    readonly stream: object
    readonly env?: string
    readonly write?: 'line' | 'data'
  }) => {
    vi.stubEnv('CI', env)
    const { terminal, written } = capture(stream)
    terminal[write]('one two three four')
    expect(written).toEqual(['one two three four\n'])
  },
)

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
