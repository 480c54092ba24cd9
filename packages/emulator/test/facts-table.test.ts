import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..', '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const page = read('packages/emulator/docs/emulator-facts.md')
const ledger = read('packages/emulator/test/facts.md')

/** The cells of the rows of a text's tables, without their heads. */
const rowsOf = (text: string, head: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith(head))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

let file = ''
const [, tables = ''] = /\n(## .*)$/s.exec(ledger) ?? []
const facts = rowsOf(tables, '| id').map(([id = '', fact = '', known = '', test = '']) => {
  // A row that names no file is of the one above.
  const [, given = '', name = '', row] = /^(?:`([\w/-]+)` )?› (.+?)(?: › (.+))?$/.exec(test) ?? []
  if (given !== '') file = given
  return { id, fact, known, file, name, row }
})
const [, absent = ''] = /\n## What is not there\n(.*?)\n## /s.exec(page) ?? []
const unsupported = rowsOf(absent, '| Azure').map(([, other = '']) => ({ other }))

/** Whether a text stands in a source file as a string of its own. */
function holds(source: string, text: string): boolean {
  return ["'", '"', '`'].some((quote) =>
    source.includes(quote + text.replaceAll("'", quote === "'" ? "\\'" : "'") + quote),
  )
}

/** The names of the tests in a source file. */
function testsOf(source: string): Set<string> {
  const names = source.matchAll(
    /(?:\bit\(|\)\(|\bit\.each\([^\n]*\)\()\s*(?:'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`\n]*)`)/g,
  )
  return new Set([...names].map(([, single, double, back]) => (single ?? double ?? back ?? '').replaceAll("\\'", "'")))
}

/** Whether a test's name is this text, or begins with it at the end of a word. */
const begins = (name: string, text: string) =>
  name === text || (name.startsWith(text) && /^[\s,:;]/.test(name.slice(text.length)))

describe('the table of facts', () => {
  it('has each fact once', () => {
    expect(facts.length).toBeGreaterThan(200)
    expect(new Set(facts.map(({ fact }) => fact)).size).toBe(facts.length)
    expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length)
  })

  it.each(facts)('says of $id how it is known', ({ id, fact, known }) => {
    expect(id).toMatch(/^[a-z][a-z\d]*(-[a-z\d]+)*$/)
    expect(known).toMatch(/^(recorded: \S|documented|reported|SDK|assumed|own)/)
    expect(known.includes('assumed')).toBe(/\bassumed\b/.test(fact))
  })

  it('has at most twelve facts that are not supported, each with its reason', () => {
    expect(unsupported.length).toBeGreaterThan(0)
    expect(unsupported.length).toBeLessThanOrEqual(12)
    for (const { other } of unsupported) expect(other).toMatch(/^\w.{20,}$/)
  })

  it.each(facts)('names a test that is there: $fact', ({ file, name, row }) => {
    expect(name).not.toBe('')
    const source = read(`packages/emulator/test/${file}.test.ts`)
    const named = [...testsOf(source)].filter((one) => begins(one, name))
    expect(named.includes(name) ? [name] : named).toHaveLength(1)
    if (row !== undefined) expect(holds(source, row), row).toBe(true)
  })
})

describe('what test authors read', () => {
  const members = ['emulator-view.ts', 'event-grid-emulator.ts'].flatMap((file) => {
    const lines = read(`packages/emulator/src/${file}`).split('\n')
    const begin = lines.findIndex((line) => line.startsWith('export class'))
    return lines.slice(begin).flatMap((line, at) => {
      const [, name = ''] = /^ {2}(?:static |async |readonly |get )*(\[?[A-Za-z.]+\]?)(?:[(:?]| =)/.exec(line) ?? []
      const isMember =
        name && !['constructor', 'private', 'protected'].includes(name) && !/private |protected /.test(line)
      return isMember ? [{ name, above: lines[begin + at - 1] }] : []
    })
  })

  it.each(members)('$name has a doc comment', ({ above }) => {
    expect(above).toMatch(/\*\/$/)
  })

  it('finds the members', () =>
    expect(members.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['start', 'ca', 'idle', 'pending', '[Symbol.asyncDispose]']),
    ))
})
