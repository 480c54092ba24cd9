import { expect, it } from 'vitest'
import { judge, scoreOf } from './judge.ts'
import { shortReport } from './report.ts'

const source = 'a\nif (one &&\n  two) go()\n'
const place = { start: { line: 2, column: 5 }, end: { line: 3, column: 6 } }
const mutant = (status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'CompileError', replacement: string) => ({
  ...{ id: '1', mutatorName: 'x', fileName: 'src/a.ts', location: place, status, replacement },
  ...{ coveredBy: ['t.test.ts#notices', 't.test.ts#too'], killedBy: ['t.test.ts#notices'] },
})
const entry = (code: string, replacement: string) => ({ file: 'src/a.ts', code, replacement, reason: 'equivalent' })

const verdict = judge({
  sources: { 'src/a.ts': source },
  meant: [entry('one && two', 'one'), entry('one && two', 'true'), entry('gone', 'true')],
  mutants: [
    mutant('Survived', 'one'),
    mutant('Killed', 'true'),
    mutant('Timeout', 'loop'),
    mutant('Survived', 'two'),
    mutant('NoCoverage', 'false'),
    mutant('CompileError', 'nonsense'),
  ],
})

it('tells survivors that are meant from the others, and leaves them out of the score', () => {
  expect(verdict.mutants.map(({ replacement, fate }) => [replacement, fate])).toEqual([
    ['one', 'meant'],
    ['true', 'killed'],
    ['loop', 'killed'],
    ['two', 'survived'],
    ['false', 'no test'],
  ])
  expect(scoreOf(verdict.mutants)).toBe(50)
})

it('names entries of the list whose code is gone, or that a test notices now', () => {
  expect(verdict.stale.map(({ code, replacement }) => [code, replacement])).toEqual([
    ['gone', 'true'],
    ['one && two', 'true'],
  ])
})

it('reports where, what became what, and which tests ran', () => {
  expect(shortReport(verdict)).toContain(
    'src/a.ts:2 survived\n- one && two\n+ two\n  t.test.ts#notices; t.test.ts#too\n',
  )
})
