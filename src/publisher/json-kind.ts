/** What a JSON value is, in a word for a message: the value itself may be private. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return Object.hasOwn(value, 'rawJSON') ? 'a number' : 'an object'
  return `a ${typeof value}`
}

/** Has a text nothing that an attribute must not hold: control characters, halves of surrogate pairs, noncharacters? CloudEvents 1.0.2, section 3.1. */
export function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(text)
}
