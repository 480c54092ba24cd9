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
 * Finds the object, or the items of the array, of a JSON text without parsing it: one pass over the bytes, no
 * recursion. Only bytes below 0x80
 * have a meaning to it, so UTF-8 needs no decoding. For a text that is not JSON the answer has no meaning, so the caller parses it too.
 */
export function sliceTopLevel(bytes: Uint8Array, maxItems: number): TopLevel {
  const first = skipSpace(bytes, 0, bytes.length)
  if (bytes[first] === openBracket) return sliceArray(bytes, first, maxItems)
  if (bytes[first] !== openBrace) return { kind: 'other' }
  return { kind: 'object', slices: [{ start: first, end: skipSpaceBack(bytes, first, bytes.length) }] }
}

/**
 * Finds the value of a member of the object that a JSON text is; `undefined` where the text is no object, or has no such
 * member. Of a name that appears twice the last value counts, as with `JSON.parse`.
 */
export function sliceMember(bytes: Uint8Array, name: string): Slice | undefined {
  const open = skipSpace(bytes, 0, bytes.length)
  if (bytes[open] !== openBrace) return undefined
  let found: Slice | undefined
  let at = open + 1
  while (at < bytes.length) {
    const key = bytes.indexOf(quote, at)
    if (key < 0) break
    const keyEnd = endOfString(bytes, key) + 1
    const start = skipSpace(bytes, bytes.indexOf(colon, keyEnd) + 1, bytes.length)
    const end = endOfValue(bytes, start)
    if (readJson(Buffer.from(bytes.subarray(key, keyEnd)).toString()) === name)
      found = { start, end: skipSpaceBack(bytes, start, end) }
    if (bytes[end] !== comma) break
    at = end + 1
  }
  return found
}

/** The value of a JSON text; `undefined` for any other text. */
export function readJson(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
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

function sliceArray(bytes: Uint8Array, open: number, maxItems: number): TopLevel {
  const slices: Slice[] = []
  let depth = 0
  let start = open + 1
  for (let at = open + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === openBrace || byte === openBracket) depth++
    else if (depth > 0) {
      if (byte === closeBrace || byte === closeBracket) depth--
    } else if (byte === comma || byte === closeBracket) {
      const from = skipSpace(bytes, start, at)
      if (from < at) {
        if (slices.length === maxItems) return { kind: 'tooMany' }
        slices.push({ start: from, end: skipSpaceBack(bytes, from, at) })
      }
      if (byte === closeBracket) break
      start = at + 1
    }
  }
  return { kind: 'array', slices }
}

/** Index of the quote that closes the string opened at `open`, or the end of the text. */
function endOfString(bytes: Uint8Array, open: number): number {
  let at = open + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
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
