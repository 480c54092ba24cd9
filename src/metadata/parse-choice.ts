import { didYouMean } from '../support/nearest-name.ts'
import { BrokenRule } from './broken-rule.ts'

/**
 * One of a few words, compared without regard to letter case; gives the word as we spell it.
 *
 * @throws BrokenRule that names them all, and the nearest
 */
export function parseChoice<const Word extends string>(text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word.toLowerCase() === text.toLowerCase())
  if (found !== undefined) return found
  throw new BrokenRule(`must be ${words.length > 1 ? 'one of ' : ''}${words.join(', ')}`, didYouMean(text, words))
}
