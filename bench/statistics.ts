/** The middle of some numbers; NaN of none. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  const [low = Number.NaN, high = Number.NaN] = [sorted[sorted.length % 2 ? middle : middle - 1], sorted[middle]]
  return (low + high) / 2
}

/** One number of ours over one of a peer's, round by round: neighbours in time share the machine's mood. */
export function ratios(ours: readonly number[], peer: readonly number[]): number[] {
  return ours.slice(0, peer.length).map((value, round) => value / (peer[round] ?? Number.NaN))
}
