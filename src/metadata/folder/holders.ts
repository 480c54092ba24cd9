/** Which file a name belongs to where several files have it. */
import type { MetadataIssue } from '../../core/errors.ts'
import type { FilePlace } from '../../core/file-place.ts'

interface Holder<T> {
  readonly name: string
  readonly file: string
  readonly item: T
}

export type Holders<T> = ReadonlyMap<string, Holder<T>>

/**
 * The owner of each name. The previous owner goes first, so that a copy of a file does not replace what is in use; then
 * the order of the claims decides. `doubled`: every other claim to a name, with the file of its owner.
 */
export function findHolders<T>(claims: readonly Holder<T>[], before: Holders<T> | undefined) {
  const isPrevious = ({ name, file }: Holder<T>) => before?.get(name)?.file === file
  const holders = new Map<string, Holder<T>>()
  const doubled: (Holder<T> & { readonly owner: string })[] = []
  for (const claim of [...claims.filter(isPrevious), ...claims.filter((one) => !isPrevious(one))]) {
    const owner = holders.get(claim.name)
    if (owner) doubled.push({ ...claim, owner: owner.file })
    else holders.set(claim.name, claim)
  }
  return { holders, doubled }
}

/** @param kind the word for what has the name */
export const doubledName = (kind: string, name: string, owner: string, at: FilePlace): MetadataIssue => ({
  kind: 'doubledName',
  rule: `${kind} ${JSON.stringify(name)} is defined in ${owner} too, which is used`,
  at,
})
