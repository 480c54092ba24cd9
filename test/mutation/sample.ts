// A part of the lines of a room, chosen by chance: a large room has thousands of mutants, and its score is known well enough from hundreds.
import { createHash } from 'node:crypto'

/** Longer than most statements: a mutant counts where all of it is inside of one stretch. */
const stretchLines = 12

/** One stretch of lines in `oneIn`, as Stryker wants them: `file:first-last`. The same `seed` chooses the same ones. */
export function sampleOf(
  sources: Readonly<Record<string, string>>,
  { oneIn, seed }: { readonly oneIn: number; readonly seed: string },
): readonly string[] {
  return Object.entries(sources).flatMap(([file, source]) => {
    const stretches = Math.ceil(source.split('\n').length / stretchLines)
    return Array.from({ length: stretches }, (_, index) => index * stretchLines + 1)
      .filter((first) => createHash('sha256').update(`${seed}:${file}:${first}`).digest().readUInt32LE() % oneIn === 0)
      .map((first) => `${file}:${first}-${first + stretchLines - 1}`)
  })
}
