/** JSON: where values stand in the bytes of a text, how deep it nests, a lenient reading of it, and what an object is. */

/** Where a value is in a text: bytes from `start` up to `end`. */
export interface Slice {
  readonly start: number
  readonly end: number
}

/** What a JSON text holds at its top level. `other`: neither object nor array. */
export type TopLevel =
  | { readonly kind: 'object' | 'array'; readonly slices: readonly Slice[] }
  | { readonly kind: 'tooMany' }
  | { readonly kind: 'other' }

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Finds the object, or the items of the array, of a JSON text without parsing it: one pass over the bytes, no recursion. Only bytes
 * below 0x80 have a meaning here, so UTF-8 needs no decoding. For a text that is not JSON the answer has no meaning, so the caller
 * parses the text too. Each loop of this file goes forward: so the function ends on any bytes.
 */
export function sliceTopLevel(bytes: Uint8Array, maxItems: number): TopLevel {
  const first = skipSpace(bytes, 0, bytes.length)
  if (bytes[first] === openBracket) return sliceItems(bytes, first, maxItems)
  if (bytes[first] !== openBrace) return { kind: 'other' }
  return { kind: 'object', slices: [{ start: first, end: skipSpaceBack(bytes, first, bytes.length) }] }
}

/**
 * Finds the value of `member` in each item of the array `list` of the object that a JSON text is, in one pass. `undefined` where the
 * text has another form, or an item lacks the member.
 */
export function sliceMemberOfItems(bytes: Uint8Array, list: string, member: string): readonly Slice[] | undefined {
  let slices: (Slice | undefined)[] | undefined
  const readItem = (start: number) => {
    let found: Slice | undefined
    const end = passMembers(bytes, start, (key, valueStart) => {
      const valueEnd = endOfValue(bytes, valueStart)
      if (isKey(bytes, key, member)) found = { start: valueStart, end: skipSpaceBack(bytes, valueStart, valueEnd) }
      return valueEnd
    })
    slices?.push(found)
    return end ?? endOfValue(bytes, start)
  }
  const end = passMembers(bytes, skipSpace(bytes, 0, bytes.length), (key, start) => {
    if (!isKey(bytes, key, list)) return endOfValue(bytes, start)
    slices = bytes[start] === openBracket ? [] : undefined
    return slices ? passItems(bytes, start, readItem) : endOfValue(bytes, start)
  })
  return end !== undefined && slices?.every((slice) => slice !== undefined) ? slices : undefined
}

/** The text of each member of the object that a JSON text is. The last of two with one name counts. Empty for any other JSON text. */
export function memberTexts(json: Uint8Array | string): ReadonlyMap<string, string> {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json
  return new Map([...(sliceMembers(bytes) ?? [])].map(([name, slice]) => [name, textOf(bytes, slice)]))
}

function textOf(bytes: Uint8Array, { start, end }: Slice): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString()
}

/** The values of the members of an object; `undefined` if there is no whole object. */
function sliceMembers(bytes: Uint8Array): ReadonlyMap<string, Slice> | undefined {
  const members = new Map<string, Slice>()
  const end = passMembers(bytes, skipSpace(bytes, 0, bytes.length), (key, start) => {
    const valueEnd = endOfValue(bytes, start)
    members.set(String(readJson(textOf(bytes, key))), { start, end: skipSpaceBack(bytes, start, valueEnd) })
    return valueEnd
  })
  return end === undefined ? undefined : members
}

/** Finds where a value ends that begins at `start`: the index of the comma or bracket behind it. */
type PassValue = (start: number) => number

/**
 * Passes over the object that is opened at `open`. `passValue` gets where the key of each member stands.
 *
 * @returns index of what follows the object and white space; `undefined` if there is no whole object
 */
function passMembers(
  bytes: Uint8Array,
  open: number,
  passValue: (key: Slice, start: number) => number,
): number | undefined {
  if (bytes[open] !== openBrace) return undefined
  let at = skipSpace(bytes, open + 1, bytes.length)
  while (bytes[at] === quote) {
    const keyEnd = endOfString(bytes, at) + 1
    const behindKey = skipSpace(bytes, keyEnd, bytes.length)
    if (bytes[behindKey] !== colon) return undefined
    const end = passValue({ start: at, end: keyEnd }, skipSpace(bytes, behindKey + 1, bytes.length))
    at = bytes[end] === comma ? skipSpace(bytes, end + 1, bytes.length) : end
  }
  return bytes[at] === closeBrace ? skipSpace(bytes, at + 1, bytes.length) : undefined
}

/** Whether a key is this text of ASCII. Keys are hardly ever written with escapes: only those are parsed. */
function isKey(bytes: Uint8Array, key: Slice, text: string): boolean {
  const start = key.start + 1
  for (let at = 0; at < text.length; at++) {
    if (bytes[start + at] === backslash) return readJson(textOf(bytes, key)) === text
    if (bytes[start + at] !== text.charCodeAt(at)) return false
  }
  return bytes[start + text.length] === quote
}

/** The value of a JSON text; `undefined` for any other text. */
export function readJson(text: string | null | undefined): unknown {
  // The usual answer of a topic. An error takes time to make.
  if (!text) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Index of the comma or bracket behind a value. */
function endOfValue(bytes: Uint8Array, start: number): number {
  let depth = 0
  let at = start
  for (; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === openBrace || byte === openBracket) depth++
    else if (depth === 0 && (byte === comma || byte === closeBrace || byte === closeBracket)) break
    else if (byte === closeBrace || byte === closeBracket) depth--
  }
  return at
}

/** Whether a JSON text nests deeper than so many brackets. Brackets within strings do not count. */
export function nestsDeeper(bytes: Uint8Array, levels: number): boolean {
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === openBrace || byte === openBracket) {
      depth++
      if (depth > levels) return true
    } else if (byte === closeBrace || byte === closeBracket) depth--
  }
  return false
}

function sliceItems(bytes: Uint8Array, open: number, maxItems: number): TopLevel {
  const slices: Slice[] = []
  let hasMore = false
  passItems(bytes, open, (start) => {
    hasMore = slices.length === maxItems
    if (hasMore) return start
    const end = endOfValue(bytes, start)
    if (end > start) slices.push({ start, end: skipSpaceBack(bytes, start, end) })
    return end
  })
  return hasMore ? { kind: 'tooMany' } : { kind: 'array', slices }
}

/** Passes over the array that is opened at `open`, up to an item that `passItem` does not pass. Gives the index behind, and white space. */
function passItems(bytes: Uint8Array, open: number, passItem: PassValue): number {
  let at = skipSpace(bytes, open + 1, bytes.length)
  while (at < bytes.length && bytes[at] !== closeBracket) {
    const end = passItem(at)
    const isLast = end === at || bytes[end] !== comma
    at = isLast ? end : skipSpace(bytes, end + 1, bytes.length)
    if (isLast) break
  }
  return bytes[at] === closeBracket ? skipSpace(bytes, at + 1, bytes.length) : at
}

/** Index of the quote that closes the string opened at `open`, or the end of the text. */
function endOfString(bytes: Uint8Array, open: number): number {
  const { length } = bytes
  let at = open + 1
  while (at < length) {
    const byte = bytes[at]
    if (byte === quote) break
    at += byte === backslash ? 2 : 1
  }
  return at
}

function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isSpace(bytes[at])) at++
  return at
}

function skipSpaceBack(bytes: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start && isSpace(bytes[at - 1])) at--
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Deepest nesting that is parsed: far below what exhausts the stack of JSON.stringify. */
const maxDepth = 1_000

/**
 * `JSON.parse`, where the text does not nest too deep.
 *
 * @param reviver as in `JSON.parse`
 * @throws SyntaxError when the text is no JSON; RangeError when it nests deeper than {@link maxDepth}
 */
export function parseJson(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  // Each level takes two characters at least.
  if (text.length > 2 * maxDepth && nestsDeeper(Buffer.from(text), maxDepth)) {
    throw new RangeError(`nested deeper than ${maxDepth} levels`)
  }
  return JSON.parse(text, reviver)
}

/** An object whose own keys are plain data: a mapping of JSON or YAML. */
export type UnknownRecord = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
