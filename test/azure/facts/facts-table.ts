/** The facts table of the emulator: each row's id, claim, and how it is known. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export const factsFile = resolve(import.meta.dirname, '../../emulator/facts.md')

export interface Fact {
  readonly id: string
  readonly claim: string
  /** `recorded: WHERE`, `documented`, `reported`, `SDK`, `assumed` or `own`, and what is added to it. */
  readonly known: string
}

export function factsOf(text: string): readonly Fact[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| id '))
    .map((line) => {
      const [id = '', claim = '', known = ''] = line.slice(2).split(' | ')
      return { id, claim, known }
    })
}

export const readFacts = (): readonly Fact[] => factsOf(readFileSync(factsFile, 'utf8'))
