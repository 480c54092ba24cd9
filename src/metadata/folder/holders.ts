// Duplicate names across files: which file wins; "is defined in … too".

interface Holder<T> {
  readonly name: string
  readonly file: string
  readonly held: T
}

/** What owns each name. */
export type Holders<T> = ReadonlyMap<string, Holder<T>>

/**
 * The owner of each name. The previous owner goes first, so that a copy of a file does not replace what is in use; then
 * the order of the claims decides. Every other claim to the name is a fault.
 *
 * @param kind the word for what is held, in a fault
 */
export function findHolders<T>(
  kind: string,
  claims: readonly Holder<T>[],
  before: Holders<T> | undefined,
  faults: string[],
): Holders<T> {
  const isPrevious = ({ name, file }: Holder<T>) => before?.get(name)?.file === file
  const holders = new Map<string, Holder<T>>()
  for (const claim of [...claims.filter(isPrevious), ...claims.filter((one) => !isPrevious(one))]) {
    const { name, file } = claim
    const owner = holders.get(name)
    if (owner) faults.push(`${file}: ${kind} ${JSON.stringify(name)} is defined in ${owner.file} too, which is used`)
    else holders.set(name, claim)
  }
  return holders
}
