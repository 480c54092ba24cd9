/** A CloudEvent of a megabyte as JSON, whose data is nothing but brackets: parsed it takes about 28 times as much. */
export function bracketEvent(id: string): string {
  const levels = 524_000
  const data = '['.repeat(levels) + ']'.repeat(levels)
  return `{"specversion":"1.0","id":"${id}","source":"/shop","type":"Shop.Order.Placed","data":${data}}`
}
