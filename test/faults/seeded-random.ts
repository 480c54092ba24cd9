import { createHash } from 'node:crypto'

/** Numbers from 0 to just under 1, the same ones for the same seed. */
export function seededRandom(seed: number): () => number {
  let count = 0
  return () => createHash('sha1').update(`${seed}/${count++}`).digest().readUInt32BE() / 2 ** 32
}
