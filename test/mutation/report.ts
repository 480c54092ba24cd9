// The verdict for a person: each mutant with its place, what became what, and the tests that ran; the score of each folder.
import { dirname } from 'node:path'
import { type Judged, scoreOf, type Verdict } from './judge.ts'

/** Whatever a person has to look at. */
export function shortReport({ mutants, stale }: Verdict): string {
  const open = mutants.filter(({ fate }) => fate === 'survived' || fate === 'no test')
  const entries = stale.map(
    ({ file, code, replacement }) => `meant.yaml: no longer survives: ${file} ${line(code)} -> ${line(replacement)}`,
  )
  return [...open.map(describe), ...entries, table(mutants)].join('\n')
}

export function fullReport({ mutants }: Verdict): string {
  const order: readonly Judged['fate'][] = ['survived', 'no test', 'meant', 'killed']
  const parts = order.map((fate) => {
    const some = mutants.filter((mutant) => mutant.fate === fate)
    return `## ${fate}: ${some.length}\n\n\`\`\`diff\n${some.map(describe).join('\n')}\n\`\`\`\n`
  })
  return ['# Mutants', table(mutants), ...parts].join('\n\n')
}

function describe({ file, line: at, code, replacement, fate, tests }: Judged): string {
  const change =
    fate === 'killed' ? `  ${line(code)} -> ${line(replacement)}` : `- ${line(code)}\n+ ${line(replacement)}`
  return `${file}:${at} ${fate}\n${change}\n  ${ran(tests)}`
}

function ran(tests: readonly string[]): string {
  if (tests.length < 3) return tests.length === 0 ? 'no test ran' : tests.join('; ')
  const files = Map.groupBy(tests, (test) => test.replace(/#.*/s, ''))
  return `tests: ${[...files].map(([file, { length }]) => `${length} of ${file}`).join(', ')}`
}

/** A long block is shown by its beginning and its end. */
function line(code: string): string {
  const text = code.replaceAll(/\s+/g, ' ')
  return text.length <= 160 ? text : `${text.slice(0, 110)} … ${text.slice(-40)}`
}

function table(mutants: readonly Judged[]): string {
  const folders = Map.groupBy(mutants, ({ file }) => dirname(file))
  const rows = [...folders].map(([folder, some]) => {
    const count = (fate: Judged['fate']) => some.filter((mutant) => mutant.fate === fate).length
    const counts = (['killed', 'survived', 'no test', 'meant'] as const).map((fate) => `${count(fate)}`)
    return `| ${[folder, `${scoreOf(some).toFixed(1)} %`, ...counts].join(' | ')} |`
  })
  return ['| folder | score | killed | survived | no test | meant |', '|---|---|---|---|---|---|', ...rows].join('\n')
}
