/** The suggestion for a mistyped name, or the names that are known. */

/**
 * The name that was probably meant, by the number of edits: letters to add, remove or replace. Case does not count.
 *
 * @param options.maxEdits the most edits. @default a third of the name's length, at least two
 */
export function nearestName(written: string, names: readonly string[], { maxEdits = Number.POSITIVE_INFINITY } = {}) {
  // A text much longer than any name is no typo, and would take long to compare.
  if (written.length > 100) return undefined
  let nearest: string | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const name of names) {
    const most = Math.min(maxEdits, Math.max(2, name.length / 3))
    // There are as many edits at least as the lengths differ by. A name of a megabyte would take long to compare.
    if (Math.abs(written.length - name.length) > most) continue
    const edits = countEdits(written.toLowerCase(), name.toLowerCase())
    const isNear = edits <= most && edits < name.length
    if (!isNear || edits >= fewest) continue
    fewest = edits
    nearest = name
  }
  return nearest
}

/** The question about an unknown name; `undefined` where no known name is near. */
export function didYouMean(written: string, known: readonly string[]): string | undefined {
  const nearest = nearestName(written, known)
  return nearest && `did you mean ${nearest}?`
}

const maxListed = 50

/** For an error about an unknown name: the name that was probably meant, else the known ones. */
export function suggestName(written: string, known: readonly string[]): string {
  const question = didYouMean(written, known)
  if (question !== undefined) return question
  if (known.length === 0) return 'there are none'
  const more = known.length > maxListed ? ` and ${known.length - maxListed} more` : ''
  return `there are ${known.slice(0, maxListed).join(', ')}${more}`
}

/** Levenshtein's distance. */
function countEdits(from: string, to: string): number {
  const table: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => table[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= from.length; row++) {
    table[row] = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = from[row - 1] === to[column - 1] ? 0 : 1
      table[row]?.push(Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + replaced))
    }
  }
  return at(from.length, to.length)
}
