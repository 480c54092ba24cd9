/**
 * Does a parsed JSON value nest deeper than so many objects and arrays? An object of plain values is 1 level. It looks at values and not at
 * the text: strings, most of an event, cost nothing then, and a plain value costs no call.
 */
export function nestsDeeper(value: unknown, levels: number): boolean {
  return isContainer(value) && deeper(value, levels)
}

type Container = Readonly<Record<string, unknown>> | readonly unknown[]

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

function deeper(container: Container, levels: number): boolean {
  if (levels === 0) return true
  if (isArray(container)) {
    for (const member of container) if (isContainer(member) && deeper(member, levels - 1)) return true
    return false
  }
  // Object.values would make an array of each object.
  for (const key in container) {
    const member = container[key]
    if (isContainer(member) && deeper(member, levels - 1)) return true
  }
  return false
}

/** `Array.isArray` does not see that the other kind of container is no readonly array. */
const isArray: (container: Container) => container is readonly unknown[] = Array.isArray
