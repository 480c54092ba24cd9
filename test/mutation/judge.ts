// What became of each mutant: noticed by a test, survived, reached by no test, or meant to survive; and which entries of the list are stale.
import type { Stryker } from '@stryker-mutator/core'

type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number]

/** A survivor that is meant: an entry of meant.yaml. */
export interface Meant {
  readonly file: string
  /** The code that is replaced, and what replaces it. Blanks do not matter. */
  readonly code: string
  readonly replacement: string
  /** Why no test can notice: it is equivalent, or cannot occur. */
  readonly reason: string
}

export interface Judged {
  readonly file: string
  readonly line: number
  readonly code: string
  readonly replacement: string
  readonly fate: 'killed' | 'survived' | 'no test' | 'meant'
  /** The tests that ran, as `file#name`; of a killed mutant the one that noticed. */
  readonly tests: readonly string[]
}

export interface Verdict {
  readonly mutants: readonly Judged[]
  /** Entries of the list whose code is gone, or that a test notices now. */
  readonly stale: readonly Meant[]
}

const fates: Partial<Record<MutantResult['status'], Judged['fate']>> = {
  Killed: 'killed',
  Timeout: 'killed',
  Survived: 'survived',
  NoCoverage: 'no test',
}

export function judge(run: {
  readonly mutants: readonly MutantResult[]
  readonly meant: readonly Meant[]
  readonly sources: Readonly<Record<string, string>>
}): Verdict {
  const stale = new Set(run.meant.filter(({ file, code }) => !squeeze(run.sources[file] ?? '').includes(squeeze(code))))
  const mutants = run.mutants.flatMap((mutant): readonly Judged[] => {
    const fate = fates[mutant.status]
    // What does not even load says nothing of the tests.
    if (!fate) return []
    const { fileName: file, replacement = '' } = mutant
    const code = textAt(run.sources[file] ?? '', mutant.location)
    const entry = run.meant.find(
      (one) =>
        one.file === file && squeeze(one.code) === squeeze(code) && squeeze(one.replacement) === squeeze(replacement),
    )
    if (entry && fate === 'killed') stale.add(entry)
    const tests = (fate === 'killed' ? mutant.killedBy : mutant.coveredBy) ?? []
    const isMeant = entry && fate !== 'killed'
    return [{ file, line: mutant.location.start.line, code, replacement, fate: isMeant ? 'meant' : fate, tests }]
  })
  return { mutants, stale: [...stale] }
}

/** Per cent of the mutants that a test notices, without those that are meant to survive. */
export function scoreOf(mutants: readonly Judged[]): number {
  const counted = mutants.filter(({ fate }) => fate !== 'meant')
  return (100 * counted.filter(({ fate }) => fate === 'killed').length) / Math.max(1, counted.length)
}

const squeeze = (code: string) => code.replaceAll(/\s+/g, ' ').trim()

function textAt(source: string, { start, end }: MutantResult['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line)
  lines.push((lines.pop() ?? '').slice(0, end.column - 1))
  return [lines[0]?.slice(start.column - 1) ?? '', ...lines.slice(1)].join('\n')
}
