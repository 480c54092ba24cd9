/** The facts table of the emulator: each row's id, claim, and how it is known. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export const factsFile = resolve(import.meta.dirname, '../../../packages/emulator/test/facts.md')

export interface Fact {
  readonly id: string
  readonly claim: string
  /** `recorded: WHERE`, `documented`, `reported`, `SDK`, `assumed` or `own`, and what is added to it. */
  readonly known: string
}

/** The text with each row of its facts changed; what stands before the first section has a table of its own. */
export function mapFacts(text: string, change: (fact: Fact) => Fact): string {
  const start = text.indexOf('\n## ')
  const rows = text.slice(start).split('\n')
  const changed = rows.map((line) => {
    if (!line.startsWith('| ') || line.startsWith('| id ')) return line
    const [id = '', claim = '', known = '', ...rest] = line.slice(2).split(' | ')
    const fact = change({ id, claim, known })
    return `| ${[fact.id, fact.claim, fact.known, ...rest].join(' | ')}`
  })
  return text.slice(0, start) + changed.join('\n')
}

export function factsOf(text: string): readonly Fact[] {
  const facts: Fact[] = []
  mapFacts(text, (fact) => {
    facts.push(fact)
    return fact
  })
  return facts
}

export const readFacts = (): readonly Fact[] => factsOf(readFileSync(factsFile, 'utf8'))
