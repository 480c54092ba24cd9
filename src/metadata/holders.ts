export interface Holder<T> {
  readonly file: string
  readonly held: T
}

/**
 * The owner of each name. The previous owner goes first, so that a copy of a file does not replace what is in use; then
 * the order of the files decides. Every other claim to the name is a fault.
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
      faults.push(`${file}: ${kind} ${JSON.stringify(name)} is defined in ${first.file} too, which is used`)
  }
  return new Map([...holders].map(([name, [first]]) => [name, first]))
}

interface HolderOptions<T> {
  /** The word for it in a fault. */
  readonly kind: string
  readonly nameOf: (held: T) => string
  readonly heldBefore: (name: string, file: string) => boolean
}
