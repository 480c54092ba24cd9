/**
 * The name that somebody probably meant: few edits away, case aside.
 *
 * @param options.mostEdits how many at most. @default a third of the name's length, two at least
 */
export function nearestName(
  written: string,
  names: readonly string[],
  { mostEdits = Number.POSITIVE_INFINITY }: { readonly mostEdits?: number } = {},
): string | undefined {
  if (written.length > 64) return undefined
  const scored = names
    .map((name) => ({ name, edits: countEdits(written.toLowerCase(), name.toLowerCase()) }))
    .filter(
      ({ name, edits }) =>
        edits <= Math.min(mostEdits, Math.max(2, Math.floor(name.length / 3))) && edits < name.length,
    )
    .sort((one, other) => one.edits - other.edits)
  return scored[0]?.name
}

/** Levenshtein's distance, one row at a time. */
function countEdits(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const swap = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(swap, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    above = current
  }
  return above[to.length] ?? 0
}
