import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const guide = read('docs/emulator.md')
const page = read('docs/emulator-facts.md')

/** The text of a section, its subsections included. */
function section(title: string): string {
  const from = page.indexOf(`\n## ${title}\n`)
  if (from < 0) throw new Error(`docs/emulator-facts.md has no section ${title}`)
  const to = page.indexOf('\n## ', from + 1)
  return page.slice(from, to < 0 ? undefined : to)
}

const rows = section('Each fact, and the test that shows it')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| fact'))
  .map((line) => {
    const [fact = '', there = '', test = ''] = line.split('|').slice(1, -1)
    return { fact: fact.trim(), there: there.trim(), test: test.trim() }
  })
const unsupported = rows.filter(({ there }) => there !== 'yes')

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

describe('the table of facts', () => {
  it('has a row for each fact', () => {
    expect(rows.length).toBeGreaterThan(200)
    expect(new Set(rows.map(({ fact }) => fact)).size).toBe(rows.length)
  })

  it('has at most ten facts that are not supported, each with its reason', () => {
    expect(unsupported.length).toBeLessThanOrEqual(10)
    for (const { there, test } of unsupported) {
      expect(there).toMatch(/^not supported: \w.{20,}$/)
      expect(test).toBe('')
    }
  })

  it.each(rows.filter(({ there }) => there === 'yes'))('names a test that is there: $fact', ({ test }) => {
    const [, file, name = '', row] = /^`([\w/-]+)` › (.+?)(?: › (.+))?$/.exec(test) ?? []
    const source = read(`test/emulator/${file}.test.ts`)
    expect([...testsOf(source)]).toContain(name)
    if (row !== undefined) expect(holds(source, row), row).toBe(true)
  })
})

describe('the section for test authors', () => {
  const text = section('Members of EventGridEmulator')

  it.each(['handler.test.ts', 'emulator-with-vitest.test.ts', 'emulator-with-node-test.ts'])(
    'shows %s as it is',
    (file) => {
      expect(guide).toContain(`\`\`\`ts\n${read(`examples/unit-test/${file}`).trimEnd()}\n\`\`\`\n`)
    },
  )

  const source = read('src/emulator/event-grid-emulator.ts').split('\n')
  const members = source.flatMap((line, at) => {
    const [, name = ''] = /^ {2}(?:static |async |readonly |get )*(\[?[A-Za-z.]+\]?)(?:[(:?]| =)/.exec(line) ?? []
    const inClass = source.slice(0, at).some((before) => before.startsWith('export class'))
    return inClass && name && !['constructor', 'private'].includes(name) && !line.includes('private ')
      ? [{ name, above: source[at - 1] }]
      : []
  })

  it.each(members)('has a row for $name, which has a doc comment', ({ name, above }) => {
    expect(above).toMatch(/\*\/$/)
    expect(text).toMatch(
      new RegExp(`^\\| .*\`(EventGridEmulator\\.)?${name.replace(/[[\].]/g, '\\$&')}(\\(.*?\\))?\``, 'm'),
    )
  })

  it('finds the members', () =>
    expect(members.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['start', 'ca', 'idle', 'pending', '[Symbol.asyncDispose]']),
    ))
})
