/**
 * The name that was probably meant: the one that takes the fewest changes of a letter, two of them and a
 * third of it at most; case is free.
 */
export function closestName(written: string, names: readonly string[]): string | undefined {
  // What is much longer than any name is no slip of the pen, and would take long to compare.
  if (written.length > 100) return undefined
  let closest: string | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const name of names) {
    const changes = changesBetween(written.toLowerCase(), name.toLowerCase())
    if (changes < fewest && changes <= Math.max(2, name.length / 3) && changes < name.length) {
      fewest = changes
      closest = name
    }
  }
  return closest
}

/** Letters to add, leave out, replace, or swap with their neighbour. */
function changesBetween(one: string, other: string): number {
  const table: number[][] = [Array.from({ length: other.length + 1 }, (_, index) => index)]
  const at = (row: number, column: number) => table[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= one.length; row++) {
    table[row] = [row]
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      table[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (same ? 0 : 1),
          swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return at(one.length, other.length)
}
