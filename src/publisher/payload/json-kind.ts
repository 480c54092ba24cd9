/** What kind of JSON a value is, in words, and which characters no text may have. */

/** The kind of a JSON value in a word, for a message that must not show the value. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return Object.hasOwn(value, 'rawJSON') ? 'a number' : 'an object'
  return `a ${typeof value}`
}

/** Is a text free of control characters, lone surrogates and noncharacters? CloudEvents 1.0.2, section 3.1. */
export function isPlainText(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u.test(text)
}
