/**
 * Where the parts of something parsed from YAML stand, kept beside the object and not in it, so that neither JSON nor
 * `console.log` shows it. A copy of the object has none.
 */
const positions = new WeakMap<object, ReadonlyMap<string, string>>()

/** Notes where the named parts of an object stand, each as `file:line:column`. */
export function notePositions(of: object, places: ReadonlyMap<string, string>): void {
  positions.set(of, places)
}

/** Has a copy of an object know what the object knows. */
export function carryPositions(from: object, to: object): void {
  const places = positions.get(from)
  if (places) positions.set(to, places)
}

/** Where a part of an object stands; `undefined` where that is not known. */
export function positionOf(of: object, part: string): string | undefined {
  return positions.get(of)?.get(part)
}
