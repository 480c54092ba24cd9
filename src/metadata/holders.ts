/** What stands under a name, and the file that it stands in. */
export interface Holder<T> {
  readonly file: string
  readonly held: T
}

/**
 * Who holds each name: first the file that did so before, for what is in use is not replaced by a copy of it; then the others, in the order of the files. Each
 * of those is a fault.
 */
export function findHolders<T>(
  byFile: ReadonlyMap<string, readonly T[]>,
  { kind, nameOf, heldBefore }: HolderOptions<T>,
  faults: string[],
): ReadonlyMap<string, Holder<T>> {
  const holders = new Map<string, readonly [Holder<T>, ...Holder<T>[]]>()
  for (const [file, all] of byFile) {
    for (const held of all) {
      const name = nameOf(held)
      const others = holders.get(name)
      const one = { file, held }
      if (others === undefined) holders.set(name, [one])
      else holders.set(name, heldBefore(name, file) ? [one, ...others] : [...others, one])
    }
  }
  for (const [name, [first, ...copies]] of holders) {
    for (const { file } of copies)
      faults.push(`${file}: ${kind} ${JSON.stringify(name)} stands in ${first.file} too, and that one counts`)
  }
  return new Map([...holders].map(([name, [first]]) => [name, first]))
}

interface HolderOptions<T> {
  /** What it is called in a fault. */
  readonly kind: string
  readonly nameOf: (held: T) => string
  readonly heldBefore: (name: string, file: string) => boolean
}
